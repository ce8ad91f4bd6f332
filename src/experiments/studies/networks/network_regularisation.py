"""Regularisation of networks by weight decay and early stopping (MLAPP 16.5.6, notes 2.4.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import CURVES, CurveOrData
from bythebook.models.networks import neural_network as networks
from bythebook.models.regression.curves import DESIGNS, likeness
from bythebook.models.types import Floats

Sets = tuple[Floats, Floats]  # inputs and targets


@dataclass
class NetworkRegularisation(CurveOrData, Study):
    """Errors of networks fitted to noisy points of a curve (MLAPP 16.5.6)."""

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
        hidden, decay = axis("hidden", sorted(self.hidden)), axis("decay", sorted(self.decays))
        network, grid = axis("network", len(train[0])), axis("x", self.grid())
        training, validation, test = np.empty((3, len(hidden), len(decay), len(network)))
        fits, column = np.empty((len(decay), len(grid))), self._column(train[0])
        for i, units in enumerate(hidden.values):
            sizes = (1, int(units), 1)
            start = networks.random_start(sizes, len(network), rng)
            for j, strength in enumerate(decay.values):
                penalty = networks.per_layer(sizes, strength, self.penalise_biases * strength)
                theta = networks.fit_networks(
                    start, sizes, column, train[1], decay=penalty, max_iter=self.max_iter
                ).theta
                training[i, j] = self._loss(theta, sizes, *train)
                validation[i, j] = self._loss(theta, sizes, *held)
                test[i, j] = self._test_loss(theta, sizes)
                fits[j] = self._outputs(theta[:1], sizes, grid.values)[0]  # of the largest network
        # One decay for all sizes of network, by the error on the validation sets.
        chosen = decay.values[np.argmin(np.median(validation, axis=(0, -1)))]
        constant = networks.penalty_plus_log_prior(rng.standard_normal((2, 50)), 0.7)
        return Outcome(
            training_loss=over(training, hidden, decay, network),
            test_loss=over(test, hidden, decay, network),
            chosen_decay=chosen,
            penalty_plus_log_prior=axis("draw", 2).of(constant),
            curve=over(fits, decay, grid),
            **self.drawn(x[0], t[0]),
            **(self._descent(train, held, network, rng) if self.epochs else {}),
        )

    def _descent(
        self, train: Sets, held: Sets, network: Axis, rng: Generator
    ) -> dict[str, Quantity]:
        """Gradient descent without penalty, all data sets and starts in one batch."""
        sizes = (1, self.descent_hidden, 1)
        (x, t), validation = ((self._column(x), t[..., None]) for x, t in (train, held))
        start = self.start_size * networks.random_start(sizes, len(x), rng)
        path = networks.descend(
            start, sizes, x, t, validation=validation, rate=self.rate, n_epochs=self.epochs
        )
        shown = np.unique(np.geomspace(1, self.epochs + 1, 120).astype(int)) - 1
        moments = {
            "start": start,
            "first_rise": path.first_rise,  # of the validation error
            "stopped": path.stopped,  # where that is smallest
            "last": path.theta,
        }
        epoch, moment = axis("shown_epoch", shown), axis("moment", list(moments))
        weight = networks.per_layer(sizes, 1.0)  # biases do not count
        found = {
            "descent_training_loss": [self._loss(at, sizes, *train) for at in moments.values()],
            "descent_validation_loss": [self._loss(at, sizes, *held) for at in moments.values()],
            "descent_test_loss": [self._test_loss(at, sizes) for at in moments.values()],
            "descent_squared_weights": [at**2 @ weight for at in moments.values()],
            "nonlinearity": [self._nonlinearity(at, sizes) for at in moments.values()],
        }
        return {
            "stopping_epoch": network.of(path.epoch),
            **{name: over(values, moment, network) for name, values in found.items()},
            "largest_training_step": network.of(np.diff(path.train).max(axis=1)),
            "mean_validation_loss": axis("epoch", self.epochs + 1).of(path.validation.mean(0)),
            "training_path": over(path.train[:, shown], network, epoch),
            "validation_path": over(path.validation[:, shown], network, epoch),
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
