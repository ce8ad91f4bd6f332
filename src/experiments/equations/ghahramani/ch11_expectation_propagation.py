"""Equations of Ghahramani 11.5, expectation propagation."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.approximation import clutter
from bythebook.models.approximation.clutter import Clutter
from bythebook.models.types import Floats


@equation(
    "70",
    section="11.5",
    latex=r"\min_{\tilde{f}_i(\theta)} \text{KL} \left( f_i(\theta) \prod_{j \neq i}"
    r" \tilde{f}_j(\theta)  \parallel  \tilde{f}_i(\theta) \prod_{j \neq i} \tilde{f}_j(\theta)"
    r" \right)",
    within=1e-5,
)
def terms_in_context(rng: Generator) -> Sides:
    """At convergence each term is the best one in the context of the other approximate terms.

    Terms of the clutter problem. The divergence of each is minimised by a search, with quadrature
    and without moments, over the mean and the log variance of a Gaussian.
    """
    while True:
        of = Clutter(*rng.uniform([0.1, 3, 5], [0.5, 12, 30]))
        x = rng.normal(2, 1.2, int(rng.integers(2, 6)))
        run = clutter.propagate(x[None, :, None], of, 200)
        precision, shift = run.sites.precision[0], run.sites.shift[0, :, 0]
        if run.change[-1] <= 1e-12 and (precision.sum() - precision).min() > 0.2:
            break
    total, sum_of_shifts = 1 / of.b + precision.sum(), shift.sum()
    theta = np.linspace(-25, 25, 1501)
    found = []
    for n, x_n in enumerate(x):
        wide = 1 / (total - precision[n])
        term = (1 - of.w) * norm(theta, 1).pdf(x_n) + of.w * norm(0, np.sqrt(of.a)).pdf(x_n)
        p = term * norm(wide * (sum_of_shifts - shift[n]), np.sqrt(wide)).pdf(theta)
        p /= p.sum()

        def divergence(at: Floats, p: Floats = p) -> float:
            return float(p @ ((theta - at[0]) ** 2 / np.exp(at[1]) + at[1]))  # up to a constant

        start = np.array([sum_of_shifts / total + 0.3, 0.2 - np.log(total)])
        best = minimize(
            divergence, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-15}
        )
        found.append((best.x[0], np.exp(best.x[1])))
    q = np.array([run.course.mean[-1, 0, 0], run.course.variance[-1, 0]])
    return Sides(truth=np.array(found), printed=np.tile(q, (len(x), 1)))
