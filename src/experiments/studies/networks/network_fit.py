"""Networks with one hidden layer fitted to functions, by several methods (notes 2.4.1, 2.4.2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
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
STEPS = 400  # of Levenberg and Marquardt's method


@dataclass
class NetworkFit(Study):
    """Network fits of functions on -1 .. 1 from several starts; evaluations by each method.

    Inputs are multiplied by 3, so that they fill the bend of tanh.
    """

    headline = {"fit_error": "max(fit_error)"}
    quantities = {
        "data": quantity("targets of the data", "target x"),
        "fit": quantity("output of the best fit", "target x"),
        "hidden_output": quantity("outputs of the hidden units of the best fit", "target unit x"),
        "fit_error": quantity("root mean squared error of the best fit", "target"),
        "fixed_error": quantity(
            "root mean squared error of least squares on the hidden units of the best start",
            "target",
        ),
        "end_slope": quantity(
            "largest entry of the gradient of the penalised error at the end of a fit",
            "target start",
        ),
        "distinct_minima": quantity("number of different weight vectors at minima", "target"),
        "idle_unit_eigenvalue": quantity(
            "smallest eigenvalue of the Hessian at a minimum of error 0 with an idle unit"
        ),
        "median_error": quantity(
            "error on the first function, median over the starts; of the descent by its best rate",
            "method evaluation",
        ),
    }
    axes = {
        "target": axis_of("function"),
        "x": axis_of("input"),
        "unit": axis_of("hidden unit"),
        "start": axis_of("random start"),
        "method": axis_of("optimiser"),
        "evaluation": axis_of("evaluations of the gradient"),
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
        t = np.array([TARGETS[name](x) for name in self.targets])
        t += self.noise * rng.standard_normal(t.shape)
        start, inputs = networks.random_start(self.sizes, self.starts, rng), 3 * x[:, None]
        fits = [
            networks.fit_networks(start, self.sizes, inputs, row, decay=self.decay, max_iter=STEPS)
            for row in t
        ]
        best = np.array([fit.theta[fit.objective.argmin()] for fit in fits])
        f = networks.predict(best, self.sizes, inputs)[..., 0]
        first = networks.layers(best, self.sizes)[0]
        hidden = np.tanh(inputs * first.W[:, None, :, 0] + first.b[:, None])
        minima = [np.unique(np.round(fit.theta[fit.converged], 3), axis=0) for fit in fits]
        coords: dict[str, Any] = {"target": self.targets, "x": x, "unit": self.hidden}
        found: dict[str, Any] = {}
        if self.methods:
            shown = np.unique(np.geomspace(1, self.budget, 60).astype(int))
            coords |= {"method": self.methods, "evaluation": shown}
            errors = [self._median(name, start, inputs, t[0])[shown - 1] for name in self.methods]
            found["median_error"] = ("method evaluation", errors)
        return outcome(
            {**coords, "start": self.starts},
            data=("target x", t),
            fit=("target x", f),
            hidden_output=("target unit x", hidden.transpose(0, 2, 1)),
            fit_error=("target", np.sqrt(((f - t) ** 2).mean(1))),
            fixed_error=("target", [self._fixed(start, inputs, row) for row in t]),
            end_slope=(
                "target start",
                [self._slope(fit.theta, inputs, row) for fit, row in zip(fits, t, strict=True)],
            ),
            distinct_minima=("target", [len(ends) for ends in minima]),
            idle_unit_eigenvalue=self._idle_unit_eigenvalue(best[0], inputs),
            **found,
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

    def _slope(self, theta: Floats, x: Floats, t: Floats) -> Floats:
        _, gradient = networks.error_and_gradient(theta, self.sizes, x, t[:, None])
        return np.asarray(np.abs(gradient + self.decay * theta).max(1))

    def _idle_unit_eigenvalue(self, theta: Floats, x: Floats) -> float:
        """At targets that are the outputs of the network without its last unit."""
        idle = theta.copy()
        networks.layers(idle, self.sizes)[1].W[0, -1] = 0.0
        J = networks.output_jacobian(idle, self.sizes, x)[1]
        return float(np.linalg.eigvalsh(J.T @ J).min())  # the Hessian where the error is 0

    def _median(self, name: str, start: Floats, x: Floats, t: Floats) -> Floats:
        """The error of a method after each evaluation, median over the starts, (budget,)."""
        column = t[:, None]
        if name == "gradient":
            rates = descents.descent_courses(start, self.sizes, x, column, self.budget)
            errors = np.nanmin(rates, axis=0)  # of the best rate
        else:
            rows = [
                descents.scipy_course(name, row, self.sizes, x, column, self.budget)
                for row in start
            ]
            errors = np.array(rows)
        return np.asarray(np.nanmedian(errors, axis=0))
