"""Networks with one hidden layer fitted to functions, by several methods (notes 2.4.1, 2.4.2)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.optimize import minimize_scalar

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks import descents
from bythebook.models.networks import neural_network as networks
from bythebook.models.types import Floats

TARGETS: dict[str, Callable[[Floats], Floats]] = {
    "square": np.square,
    "sine": lambda x: np.sin(np.pi * x),
    "modulus": np.abs,
    "step": lambda x: np.heaviside(x, 0.5),
}
METHODS = ("gradient", *descents.SCIPY)
DISTANCES = (0.02, 0.01)  # from a minimum
DIRECTIONS = 200
STEPS = 400  # of Levenberg and Marquardt's method


@dataclass
class NetworkFit(Study):
    """Network fits of functions on -1 .. 1 from several starts; evaluations by each method.

    Inputs are multiplied by 3, so that they fill the bend of tanh.
    """

    headline = {"fit_error": "max(fit_error)"}
    more_quantities = True
    quantities = {
        "fit_error": quantity("root mean squared error of a fit", "target"),
    }

    targets: list[str] = knob(["sine"], "functions", choices=list(TARGETS), distinct=True)
    points: int = knob(50, "equally spaced", at_least=5, at_most=1000)
    noise: float = knob(0.0, "standard deviation", at_least=0)
    hidden: int = knob(3, "tanh units", at_least=1, at_most=50)
    decay: float = knob(1e-6, "of the weights; without it minima are flat valleys", above=0)
    starts: int = knob(10, "random starts", at_least=2, at_most=200)
    methods: list[str] = knob([], "to compare", choices=METHODS, may_be_empty=True, distinct=True)
    budget: int = knob(3000, "evaluations of the gradient", at_least=10, at_most=100_000)

    @property
    def sizes(self) -> tuple[int, int, int]:
        return (1, self.hidden, 1)

    def run(self, rng: Generator) -> Outcome:
        x = np.linspace(-1, 1, self.points)
        target, place = axis("target", self.targets), axis("x", x)
        unit = axis("unit", self.hidden)
        t = np.array([TARGETS[name](x) for name in self.targets])
        t += self.noise * rng.standard_normal(t.shape)
        start = networks.random_start(self.sizes, self.starts, rng)
        fits = [
            networks.fit_networks(
                start, self.sizes, 3 * x[:, None], row, decay=self.decay, max_iter=STEPS
            )
            for row in t
        ]
        best = np.array([fit.theta[fit.objective.argmin()] for fit in fits])
        f = networks.predict(best, self.sizes, 3 * x[:, None])[..., 0]
        first, last = networks.layers(best, self.sizes)
        hidden = np.tanh(3 * x[:, None] * first.W[:, None, :, 0] + first.b[:, None])
        combined = np.einsum("tnu,tu->tn", hidden, last.W[:, 0]) + last.b
        return Outcome(
            data=over(t, target, place),
            fit=over(f, target, place),
            hidden_output=over(hidden.transpose(0, 2, 1), target, unit, place),
            basis_gap=target.of(np.abs(combined - f).max(1)),
            fit_error=target.of(np.sqrt(((f - t) ** 2).mean(1))),
            fixed_error=target.of([self._fixed(start, 3 * x[:, None], row) for row in t]),
            **(self._methods(3 * x[:, None], t[0], start, fits[0], rng) if self.methods else {}),
        )

    def _fixed(self, start: Floats, x: Floats, t: Floats) -> float:
        """Root mean square error of least squares on the hidden units of the starts, the best."""
        first = networks.layers(start, self.sizes)[0]
        found = []
        for W, b in zip(first.W, first.b, strict=True):
            Phi = np.column_stack([np.tanh(x * W[:, 0] + b), np.ones(len(x))])
            w = np.linalg.lstsq(Phi, t, rcond=None)[0]
            found.append(np.sqrt(((Phi @ w - t) ** 2).mean()))
        return float(min(found))

    def _methods(
        self, x: Floats, t: Floats, start: Floats, fit: networks.Trained, rng: Generator
    ) -> dict[str, Quantity]:
        """Evaluations of each method on the first function."""
        column = t[:, None]
        courses: dict[str, Floats] = {}
        for name in self.methods:
            if name == "gradient":
                courses[name] = descents.descent_courses(start, self.sizes, x, column, self.budget)
            else:
                rows = [
                    descents.scipy_course(name, row, self.sizes, x, column, self.budget)
                    for row in start
                ]
                courses[name] = np.array(rows)[None]
        method, begin = axis("method", self.methods), axis("start", self.starts)
        flat = fit.converged
        distinct = np.unique(np.round(fit.theta[flat], 3), axis=0)
        shown = np.unique(np.geomspace(1, self.budget, 60).astype(int)) - 1
        middle = [np.nanmedian(np.nanmin(c, axis=0)[:, shown], axis=0) for c in courses.values()]
        return {
            "median_error": over(middle, method, axis("evaluation", shown + 1)),
            "distinct_ends": Quantity(len(distinct)),
            "flat_ends": Quantity(int(flat.sum())),
            **self._near_a_minimum(x, column, fit, rng),
            **self._likelihood(x, t, fit, rng),
            "descent_rank": begin.of([self._steepest(x, column, row, rng) for row in start]),
        }

    def _steepest(self, x: Floats, t: Floats, theta: Floats, rng: Generator) -> float:
        """Largest excess of a descent over that along the negative gradient, by differences."""
        g = networks.error_and_gradient(theta, self.sizes, x, t)[1]
        ways = np.vstack([-g / np.linalg.norm(g), descents.unit_vectors(1000, len(g), rng)])
        step = 1e-5
        up, down = (
            networks.error_and_gradient(theta + sign * step * ways, self.sizes, x, t)[0]
            for sign in (1, -1)
        )
        slope = (up - down) / (2 * step)
        return float(max(slope[0] - slope[1:].min(), 0.0))

    def _near_a_minimum(
        self, x: Floats, t: Floats, fit: networks.Trained, rng: Generator
    ) -> dict[str, Quantity]:
        theta = fit.theta[fit.objective.argmin()]

        def objective(at: Floats) -> tuple[Floats, Floats]:
            error, gradient = networks.error_and_gradient(at, self.sizes, x, t)
            return error + self.decay / 2 * (at**2).sum(-1), gradient + self.decay * at

        H = descents.hessian(lambda at: objective(at)[1], theta)
        ways = descents.unit_vectors(DIRECTIONS, len(theta), rng)
        base = objective(theta)[0]
        left = []
        for distance in DISTANCES:
            error = objective(theta + distance * ways)[0]
            form = 0.5 * distance**2 * np.einsum("np,pq,nq->n", ways, H, ways)
            left.append(np.sqrt(((error - base - form) ** 2).mean()))
        idle = theta.copy()  # outputs of a network with one unit less are its own targets
        networks.layers(idle, self.sizes)[1].W[0, -1] = 0.0
        J = networks.output_jacobian(idle, self.sizes, x)[1]
        values = [np.linalg.eigvalsh(J.T @ J).min(), np.linalg.eigvalsh(H).min()]
        return {
            "quadratic_error": axis("distance", DISTANCES).of(left),
            "least_eigenvalue": axis("minimum", ["dead unit", "best fit"]).of(values),
        }

    def _likelihood(
        self, x: Floats, t: Floats, fit: networks.Trained, rng: Generator
    ) -> dict[str, Quantity]:
        """(2.107) against summed log densities, (2.109) by a search, (2.111) as printed."""
        y = networks.predict(fit.theta, self.sizes, x)[..., 0]
        betas = np.array([0.5, 2.0, 20.0])
        squares = ((y - t) ** 2).sum(1)
        N = len(t)
        stated = betas[:, None] / 2 * squares - N / 2 * np.log(betas[:, None] / (2 * np.pi))
        summed = [-stats.norm.logpdf(t, y, b**-0.5).sum(1) for b in betas]
        found = [
            np.exp(
                minimize_scalar(
                    lambda a, s=s: np.exp(a) / 2 * s - N / 2 * a,
                    bounds=(-10, 20),
                    method="bounded",
                    options={"xatol": 1e-10},
                ).x
            )
            for s in squares
        ]
        label = rng.integers(2, size=100)
        sure = rng.uniform(0.5, 1.0, 100)  # probability of the correct class, or of the other
        right = np.where(label == 1, sure, 1 - sure)
        both = [(label * np.log(p) + (1 - label) * np.log(1 - p)).sum() for p in (right, 1 - right)]
        begin = axis("start", self.starts)
        return {
            "likelihood_gap": axis("precision", betas).of(np.abs(stated / summed - 1).max(1)),
            "best_precision": begin.of(found),
            "residual_variance": begin.of(squares / N),
            "cross_entropy_as_printed": axis("side", ["right", "wrong"]).of(both),
        }
