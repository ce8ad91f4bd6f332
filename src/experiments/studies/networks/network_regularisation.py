"""Neural networks held back by weight decay and early stopping (MLAPP 16.5.6, notes 2.4.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy import stats

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.datasets import load
from models.networks.neural_network import descend, fit_networks, per_layer, predict, random_start
from models.regression.curves import DESIGNS, expected_loss, inputs, noisy, quadrature, sine
from models.types import Floats


@dataclass
class NetworkRegularisation(Study):
    """Errors of networks on noisy points of sin(2 pi x), 0 <= x <= 1 (MLAPP 16.5.6)."""

    n: int = knob(25, "points in a data set", at_least=2)
    noise: float = knob(0.3, "standard deviation of the noise", at_least=0)
    design: str = knob("uniform", "inputs equally spaced or drawn uniformly", choices=DESIGNS)
    data: str | None = knob(None, "an embedded data set in place of drawn ones", dataset=True)
    repetitions: int = knob(1, "data sets to draw", at_least=1, at_most=1000)
    hidden: list[int] = knob([3, 10], "hidden tanh units", at_least=1, at_most=500, distinct=True)
    decays: list[float] = knob(
        [0.0, 0.1], "lambda in error + lambda / 2 |w|^2", at_least=0, distinct=True
    )
    penalise_biases: bool = knob(False, "does the decay act on the biases as well?")
    starts: int = knob(1, "random starts for each data set", at_least=1, at_most=1000)
    max_iter: int = knob(300, "Levenberg-Marquardt steps at most", at_least=1, at_most=100_000)
    validation: int = knob(25, "points in a validation set", at_least=1)
    epochs: int = knob(0, "epochs of gradient descent for early stopping; 0: none", at_least=0)
    descent_hidden: int = knob(10, "hidden units of the network that descends", at_least=1)
    rate: float = knob(0.01, "step of the descent, on the summed error", above=0)

    def problems(self) -> Iterator[str]:
        if self.data not in (None, "curve-fitting"):
            yield f"study.data={self.data}: its true curve is not known; allowed: curve-fitting"
        if self.data is not None and self.repetitions > 1:
            yield f"study.repetitions={self.repetitions}: study.data={self.data} is one data set"

    def run(self, rng: Generator) -> Outcome:
        if self.data is None:
            x, t = self._sample(self.n, self.design, self.repetitions, rng)
        else:
            x, t = (part[None] for part in load(self.data).xt)
        held = self._sample(self.validation, "uniform", len(x), rng)
        # Networks: every data set from every start, (sets x starts, points).
        many = [np.repeat(part, self.starts, axis=0) for part in (x, t, *held)]
        hidden, decay = axis("hidden", sorted(self.hidden)), axis("decay", sorted(self.decays))
        network, grid = axis("network", len(many[0])), axis("x", np.linspace(0, 1, 300))
        training, validation, test = np.empty((3, len(hidden), len(decay), len(network)))
        fits = np.empty((len(decay), len(grid)))
        for i, units in enumerate(hidden.values):
            sizes = (1, int(units), 1)
            start = random_start(sizes, len(network), rng)
            for j, strength in enumerate(decay.values):
                penalty = per_layer(sizes, strength, strength if self.penalise_biases else 0.0)
                theta = fit_networks(
                    start, sizes, _column(many[0]), many[1], decay=penalty, max_iter=self.max_iter
                ).theta
                training[i, j] = _loss(theta, sizes, *many[:2])
                validation[i, j] = _loss(theta, sizes, *many[2:])
                test[i, j] = self._test_loss(theta, sizes)
                fits[j] = _outputs(theta[:1], sizes, grid.values)[0]  # of the largest network
        point, axes = axis("point", x.shape[1]), (hidden, decay, network)
        # One decay for all sizes of network, by the error on the validation sets.
        chosen = decay.values[np.argmin(np.median(validation, axis=(0, -1)))]
        return Outcome(
            training_loss=over(training, *axes),
            test_loss=over(test, *axes),
            chosen_decay=chosen,
            penalty_plus_log_prior=axis("draw", 2).of(_penalty_plus_log_prior(rng)),
            inputs=point.of(x[0]),
            targets=point.of(t[0]),
            truth=grid.of(sine(grid.values)),
            curve=over(fits, decay, grid),
            **(self._descent(many, network, rng) if self.epochs else {}),
        )

    def _descent(self, many: list[Floats], network: Axis, rng: Generator) -> dict[str, Quantity]:
        """Gradient descent without penalty, all data sets and starts at once."""
        sizes = (1, self.descent_hidden, 1)
        x, t, x_held, t_held = many
        path = descend(
            random_start(sizes, len(x), rng),
            sizes,
            _column(x),
            t[..., None],
            validation=(_column(x_held), t_held[..., None]),
            rate=self.rate,
            n_epochs=self.epochs,
        )
        shown = np.unique(np.geomspace(1, self.epochs + 1, 120).astype(int)) - 1
        epoch, moment = axis("shown_epoch", shown), axis("moment", ["stopped", "last"])
        stopped = np.take_along_axis(path.train, path.epoch[:, None], axis=1)[:, 0]
        test = [self._test_loss(theta, sizes) for theta in (path.stopped, path.theta)]
        return {
            "stopping_epoch": network.of(path.epoch),
            "descent_training_loss": over([stopped, path.train[:, -1]], moment, network),
            "descent_test_loss": over(test, moment, network),
            "largest_training_step": network.of(np.diff(path.train).max(axis=1)),
            "mean_validation_loss": axis("epoch", self.epochs + 1).of(path.validation.mean(0)),
            "training_path": over(path.train[:, shown], network, epoch),
            "validation_path": over(path.validation[:, shown], network, epoch),
        }

    def _sample(self, n: int, design: str, n_sets: int, rng: Generator) -> tuple[Floats, Floats]:
        x = inputs(n, 0.0, 1.0, design, n_sets, rng)
        return x, noisy(sine(x), self.noise, rng)

    def _test_loss(self, theta: Floats, sizes: tuple[int, ...]) -> Floats:
        nodes = quadrature(0.0, 1.0)
        f = _outputs(theta, sizes, nodes.x)
        return expected_loss(f, sine(nodes.x), nodes.weight, self.noise)


def _column(x: Floats) -> Floats:
    """Inputs uniform on the unit interval brought to mean 0 and variance 1, as a column."""
    return np.asarray(np.sqrt(12) * (x[..., None] - 0.5))


def _outputs(theta: Floats, sizes: tuple[int, ...], x: Floats) -> Floats:
    return predict(theta, sizes, _column(x))[..., 0]


def _loss(theta: Floats, sizes: tuple[int, ...], x: Floats, t: Floats) -> Floats:
    return np.asarray(np.mean((_outputs(theta, sizes, x) - t) ** 2, axis=-1))


def _penalty_plus_log_prior(rng: Generator, decay: float = 0.7) -> Floats:
    """(2.121): the penalty is minus the log of a Gaussian density but for a constant: two draws."""
    w = rng.standard_normal((2, 50))
    log_prior = stats.norm(0, 1 / np.sqrt(decay)).logpdf(w).sum(-1)
    return np.asarray(decay / 2 * (w**2).sum(-1) + log_prior)
