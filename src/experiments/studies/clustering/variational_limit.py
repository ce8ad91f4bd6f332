"""A variational mixture and that of maximum likelihood as the data set grows (PRML 10.2.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import place_problems
from bythebook.models.approximation import variational_mixture as variational
from bythebook.models.approximation.variational_mixture import Prior, VariationalMixture
from bythebook.models.clustering import gaussian_mixture as gaussian
from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.clustering.gaussian_mixture_starts import start_from_labels
from bythebook.models.clustering.gaussian_mixture_variants import fit_with_floor
from bythebook.models.clustering.mixture import posterior
from bythebook.models.types import Floats, Ints

_FLOOR = 1e-3  # the smallest variance of a component, in squared spreads: none may collapse
_GAPS = ("means", "covariances", "coefficients", "responsibilities")
_WIDTHS = ("means", "precisions", "coefficients")


@dataclass
class VariationalLimit(Study):
    """Variational against maximum-likelihood mixtures as data grow, clusters of equal size.

    Both algorithms begin with the labels that were drawn.
    """

    headline = {"last_gap": "mean(last(gap['responsibilities'], over='n'))"}
    quantities = {
        "gap": quantity("largest difference from maximum likelihood", "parameter n repetition"),
        "width": quantity(
            "largest standard deviation of a factor, relative but for means", "factor n repetition"
        ),
    }
    axes = {
        "parameter": axis_of("kind of parameter"),
        "factor": axis_of("kind of factor"),
        "n": axis_of("points in a data set"),
        "repetition": axis_of("data set"),
    }

    centres: list[list[float]] = knob([[-1.5, 0.0], [1.5, 0.0]], "of round clusters in the plane")
    spread: float = knob(1.0, "standard deviation of a cluster", above=0)
    n: list[int] = knob([50, 500, 5000], "points in a data set", at_least=4, distinct=True)
    repetitions: int = knob(8, "data sets of each size", at_least=1, at_most=1000)
    alpha0: float = knob(1.0, "of the Dirichlet prior", above=0)
    beta0: float = knob(1.0, "precision of a mean's prior, in those of its points", above=0)
    nu0: float = knob(2.0, "degrees of freedom of the Wishart prior", above=1)

    def problems(self) -> Iterator[str]:
        yield from place_problems("centres", self.centres, 2)
        if min(self.n) < 4 * len(self.centres):
            yield f"study.n={self.n}; allowed: four points for each of study.centres"

    def run(self, rng: Generator) -> Outcome:
        K, shape = len(self.centres), (len(self.n), self.repetitions)
        gaps, widths = np.empty((len(_GAPS), *shape)), np.empty((len(_WIDTHS), *shape))
        prior = Prior(self.alpha0, self.beta0, np.zeros(2), self.spread**2 * np.eye(2), self.nu0)
        for i, j in np.ndindex(shape):
            X, labels = self._data(self.n[i], rng)
            start = (labels[:, None] == np.arange(K)).astype(np.float64)[None]
            vb = variational.fit(X, start, prior, tol=1e-7, max_iter=1000).theta
            begin, floor = start_from_labels(X, labels[None], K), _FLOOR * self.spread**2
            ml = fit_with_floor(X, begin, floor, tol=1e-7, max_iter=1000).theta
            gaps[:, i, j], widths[:, i, j] = _gaps(X, vb, ml), _widths(vb)
        coords = {"parameter": list(_GAPS), "factor": list(_WIDTHS), "n": self.n}
        return outcome(
            coords | {"repetition": self.repetitions},
            gap=("parameter n repetition", gaps),
            width=("factor n repetition", widths),
        )

    def _data(self, N: int, rng: Generator) -> tuple[Floats, Ints]:
        """Points (N, 2) and their clusters (N,), as even as N allows."""
        labels = np.arange(N) % len(self.centres)
        where = np.array(self.centres)[labels]
        return where + self.spread * rng.standard_normal((N, 2)), labels


def _gaps(X: Floats, vb: VariationalMixture, ml: GaussianMixture) -> Floats:
    """The largest differences of means, covariances, coefficients and responsibilities."""
    weight = vb.alpha / vb.alpha.sum(-1, keepdims=True)
    r = posterior(variational.log_rho(X, vb))[0]
    pairs = (
        (vb.m, ml.mu),
        (variational.expected_covariance(vb), ml.Sigma),
        (weight, ml.pi),
        (r, gaussian.responsibilities(X, ml)),
    )
    return np.array([np.abs(a - b).max() for a, b in pairs])


def _widths(theta: VariationalMixture) -> Floats:
    """The largest standard deviations: of a mean, of a precision and a coefficient relatively."""
    mean = np.sqrt(np.diagonal(variational.expected_covariance(theta), axis1=-2, axis2=-1))
    total = theta.alpha.sum(-1, keepdims=True)
    mixing = np.sqrt((total - theta.alpha) / (theta.alpha * (total + 1)))
    found = mean / np.sqrt(theta.beta)[..., None], np.sqrt(2 / theta.nu), mixing
    return np.array([width.max() for width in found])
