"""Regularisation of networks by weight decay and early stopping (MLAPP 16.5.6, notes 2.4.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import CURVES, CurveOrData
from bythebook.models.networks import neural_network as networks
from bythebook.models.regression.curves import DESIGNS, likeness
from bythebook.models.types import Floats, Ints

Sets = tuple[Floats, Floats]  # inputs and targets
# Of a descent: where the validation error first rises, and where it is smallest.
MOMENTS = ["start", "first_rise", "stopped", "last"]


@dataclass
class NetworkRegularisation(CurveOrData, Study):
    """Errors of networks fitted to noisy points of a curve (MLAPP 16.5.6)."""

    headline = {"test_loss": "min(median(test_loss, over='network'))"}
    quantities = {
        "inputs": quantity("inputs of the first data set", "point"),
        "targets": quantity("targets of the first data set", "point"),
        "truth": quantity("true curve", "x"),
        "training_loss": quantity(
            "mean squared error of the points fitted to", "hidden decay network"
        ),
        "test_loss": quantity("expected squared error of new points", "hidden decay network"),
        "chosen_decay": quantity("decay with the smallest error on the validation sets"),
        "curve": quantity("output of the first network with most hidden units", "decay x"),
        "stopping_epoch": quantity("epoch of the smallest validation error", "network"),
        "descent_training_loss": quantity("mean squared training error", "moment network"),
        "descent_test_loss": quantity("expected squared error of new points", "moment network"),
        "descent_squared_weights": quantity("sum of the squared weights", "moment network"),
        "nonlinearity": quantity(
            "share of the variance of the outputs that no straight line explains", "moment network"
        ),
        "largest_training_step": quantity(
            "largest change of the training error in an epoch", "network"
        ),
        "training_path": quantity("mean squared training error", "network shown_epoch"),
        "validation_path": quantity("mean squared validation error", "network shown_epoch"),
    }
    axes = {
        "point": axis_of("point of the data"),
        "x": axis_of("input"),
        "hidden": axis_of("hidden units"),
        "decay": axis_of("weight decay"),
        "network": axis_of("data set and start"),
        "moment": axis_of("moment of the descent"),
        "shown_epoch": axis_of("epoch"),
    }

    curve: str = knob("sine", "the true curve: sin(2 pi x), or a polynomial", choices=CURVES)
    n: int = knob(25, "points in a data set", at_least=2)
    design: str = knob("uniform", "inputs equally spaced or drawn uniformly", choices=DESIGNS)
    repetitions: int = knob(1, "data sets to draw", at_least=1, at_most=1000)
    hidden: list[int] = knob([3, 10], "hidden tanh units", at_least=1, at_most=500, distinct=True)
    decays: list[float] = knob([0.0, 0.1], "lambda of lambda / 2 |w|^2", at_least=0, distinct=True)
    penalise_biases: bool = knob(False, "apply the decay to the biases as well")
    starts: int = knob(1, "random starts for each data set", at_least=1, at_most=1000)
    max_iter: int = knob(300, "Levenberg-Marquardt steps at most", at_least=1, at_most=100_000)
    validation: int = knob(25, "points in a validation set", at_least=1)
    epochs: int = knob(0, "epochs of gradient descent for early stopping; 0: none", at_least=0)
    descent_hidden: int = knob(10, "hidden units of the network that descends", at_least=1)
    rate: float = knob(0.01, "step of the descent, on the summed error", above=0)
    start_size: float = knob(1.0, "of its random weights, in units of those of the fits", above=0)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.data not in (None, "curve-fitting"):
            yield f"study.data={self.data}: its true curve is not known; allowed: curve-fitting"
        if self.data is not None and self.repetitions > 1:
            yield f"study.repetitions={self.repetitions}: study.data={self.data} is one data set"

    def run(self, rng: Generator) -> Outcome:
        x, t = self.sets(rng, self.repetitions)
        held = self.sample(rng, len(x), self.validation, "uniform")
        # Networks: every data set from every start, (sets x starts, points).
        train, held = (
            (np.repeat(x, self.starts, axis=0), np.repeat(t, self.starts, axis=0))
            for x, t in ((x, t), held)
        )
        hidden, decays, grid = sorted(self.hidden), sorted(self.decays), self.grid()
        training, validation, test = np.empty((3, len(hidden), len(decays), len(train[0])))
        fits, column = np.empty((len(decays), len(grid))), self._column(train[0])
        for i, units in enumerate(hidden):
            sizes = (1, units, 1)
            start = networks.random_start(sizes, len(train[0]), rng)
            for j, strength in enumerate(decays):
                penalty = networks.per_layer(sizes, strength, self.penalise_biases * strength)
                theta = networks.fit_networks(
                    start, sizes, column, train[1], decay=penalty, max_iter=self.max_iter
                ).theta
                training[i, j] = self._loss(theta, sizes, *train)
                validation[i, j] = self._loss(theta, sizes, *held)
                test[i, j] = self._test_loss(theta, sizes)
                fits[j] = self._outputs(theta[:1], sizes, grid)[0]  # of the largest network
        coords: dict[str, Any] = {"hidden": hidden, "decay": decays, "network": len(train[0])}
        found: dict[str, Any] = {}
        if self.epochs:
            shown = np.unique(np.geomspace(1, self.epochs + 1, 120).astype(int)) - 1
            coords |= {"moment": MOMENTS, "shown_epoch": shown}
            found = self._descent(train, held, shown, rng)
        return outcome(
            coords | {"point": x.shape[1], "x": grid},
            inputs=("point", x[0]),
            targets=("point", t[0]),
            truth=("x", self.truth(grid)),
            training_loss=("hidden decay network", training),
            test_loss=("hidden decay network", test),
            # One decay for all sizes of network, by the error on the validation sets.
            chosen_decay=decays[int(np.argmin(np.median(validation, axis=(0, -1))))],
            curve=("decay x", fits),
            **found,
        )

    def _descent(self, train: Sets, held: Sets, shown: Ints, rng: Generator) -> dict[str, Any]:
        """Gradient descent without penalty, all data sets and starts in one batch."""
        sizes = (1, self.descent_hidden, 1)
        (x, t), validation = ((self._column(x), t[..., None]) for x, t in (train, held))
        start = self.start_size * networks.random_start(sizes, len(x), rng)
        path = networks.descend(
            start, sizes, x, t, validation=validation, rate=self.rate, n_epochs=self.epochs
        )
        moments = start, path.first_rise, path.stopped, path.theta
        weight = networks.per_layer(sizes, 1.0)  # biases do not count
        found = {
            "descent_training_loss": [self._loss(at, sizes, *train) for at in moments],
            "descent_test_loss": [self._test_loss(at, sizes) for at in moments],
            "descent_squared_weights": [at**2 @ weight for at in moments],
            "nonlinearity": [self._nonlinearity(at, sizes) for at in moments],
        }
        return {
            "stopping_epoch": ("network", path.epoch),
            **{name: ("moment network", values) for name, values in found.items()},
            "largest_training_step": ("network", np.diff(path.train).max(axis=1)),
            "training_path": ("network shown_epoch", path.train[:, shown]),
            "validation_path": ("network shown_epoch", path.validation[:, shown]),
        }

    def _nonlinearity(self, theta: Floats, sizes: tuple[int, ...]) -> Floats:
        """The share of each network's variance over the inputs that no straight line explains."""
        x = self.grid()
        return np.asarray(1 - likeness(self._outputs(theta, sizes, x), x) ** 2)

    def _column(self, x: Floats) -> Floats:
        """Inputs uniform on their range brought to mean 0 and variance 1, as a column."""
        unit = (x[..., None] - self.low) / (self.high - self.low)
        return np.asarray(np.sqrt(12) * (unit - 0.5))

    def _outputs(self, theta: Floats, sizes: tuple[int, ...], x: Floats) -> Floats:
        return networks.predict(theta, sizes, self._column(x))[..., 0]

    def _loss(self, theta: Floats, sizes: tuple[int, ...], x: Floats, t: Floats) -> Floats:
        return np.asarray(np.mean((self._outputs(theta, sizes, x) - t) ** 2, axis=-1))

    def _test_loss(self, theta: Floats, sizes: tuple[int, ...]) -> Floats:
        return self.expected_loss(self._outputs(theta, sizes, self.quadrature.x))
