"""Neural networks held back by weight decay and early stopping (MLAPP 16.5.6, notes 2.4.5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from scipy import stats

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import SyntheticCurve
from models.datasets import load
from models.networks.neural_network import descend, fit_networks, per_layer, predict, random_start
from models.regression.curves import DESIGNS, expected_loss, inputs, noisy, quadrature
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class NetworkRegularisation(SyntheticCurve, Study):
    """Errors of a network by hidden units and weight decay, and over epochs (MLAPP 16.5.6)."""

    n: int = knob(25, "points in a data set", at_least=2)
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

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if self.data not in (None, "curve-fitting"):
            yield f"study.data={self.data}: its true curve is not known; allowed: curve-fitting"
        if self.data is not None and self.repetitions > 1:
            yield f"study.repetitions={self.repetitions}: study.data={self.data} is one data set"

    def run(self, rng: Generator) -> Outcome:
        if self.data is None:
            x, t = self.sample(rng, self.repetitions)
        else:
            x, t = (part[None] for part in load(self.data).xt)
        x_held = inputs(self.validation, self.low, self.high, "uniform", len(x), rng)
        t_held = noisy(self.truth(x_held), self.noise, rng)
        # Networks: every data set from every start, (sets x starts, points).
        many = [np.repeat(part, self.starts, axis=0) for part in (x, t, x_held, t_held)]
        hidden, decays = sorted(self.hidden), sorted(self.decays)
        shape = (len(hidden), len(decays), len(many[0]))
        train, held, test, done = (np.empty(shape) for _ in range(4))
        grid = self.grid()
        fits = np.empty((len(decays), len(grid)))
        for i, units in enumerate(hidden):
            sizes = (1, units, 1)
            start = random_start(sizes, len(many[0]), rng)
            for j, decay in enumerate(decays):
                penalty = per_layer(sizes, decay, decay if self.penalise_biases else 0.0)
                fit = fit_networks(
                    start,
                    sizes,
                    self._column(many[0]),
                    many[1],
                    decay=penalty,
                    max_iter=self.max_iter,
                )
                done[i, j] = fit.converged
                train[i, j] = self._mean_square(fit.theta, sizes, *many[:2])
                held[i, j] = self._mean_square(fit.theta, sizes, *many[2:])
                test[i, j] = self._test_loss(fit.theta, sizes)
                fits[j] = self._outputs(fit.theta[:1], sizes, grid)[0]  # of the largest network
        metrics, table = _decay_metrics(hidden, decays, train, held, test)
        metrics |= {
            "share_converged": float(done.mean()),
            "decay_is_a_gaussian_prior": _is_prior(rng),
        }
        arrays = {"grid": grid, "truth": self.truth(grid), "x": x[0], "t": t[0], "fits": fits}
        chosen = decays.index(float(metrics["chosen_decay"]))
        series = {
            "test_rms_chosen_decay": Series(hidden, _rms(test)[:, chosen].tolist()),
            "test_rms_smallest_decay": Series(hidden, _rms(test)[:, 0].tolist()),
        }
        tables = {"networks": table}
        if self.epochs:
            stopping, tables["epochs"] = self._early_stopping(many, rng)
            metrics |= stopping
        return Outcome(metrics, series, tables, arrays)

    def _early_stopping(
        self, many: list[Floats], rng: Generator
    ) -> tuple[dict[str, Scalar], Table]:
        """Gradient descent without penalty all data sets and starts at once."""
        sizes = (1, self.descent_hidden, 1)
        x, t, x_held, t_held = many
        path = descend(
            random_start(sizes, len(x), rng),
            sizes,
            self._column(x),
            t[..., None],
            validation=(self._column(x_held), t_held[..., None]),
            rate=self.rate,
            n_epochs=self.epochs,
        )
        stopped, final = (self._test_loss(theta, sizes) for theta in (path.stopped, path.theta))
        mean = path.validation.mean(0)
        turn = int(np.argmin(mean))
        interior = (path.epoch > 0) & (path.epoch < self.epochs)
        still = np.take_along_axis(path.train, path.epoch[:, None], axis=1)[:, 0]
        shown = np.unique(np.geomspace(1, self.epochs + 1, 120).astype(int)) - 1
        table: Table = {"epoch": shown.tolist()}
        for name, history in (("training", path.train), ("validation", path.validation)):
            rms = np.sqrt(history[:, shown])
            for part, level in (("low", 0.25), ("median", 0.5), ("high", 0.75)):
                table[f"{name}_{part}"] = np.quantile(rms, level, axis=0).tolist()
        return {
            "training_never_rises": bool(np.all(np.diff(path.train) <= 0)),
            "mean_validation_turns": bool(0 < turn < self.epochs and mean[-1] > 1.01 * mean[turn]),
            "share_validation_turns": float(interior.mean()),
            "share_training_still_falls": float((path.train[:, -1] < 0.99 * still).mean()),
            "median_stopping_epoch": float(np.median(path.epoch)),
            "stopped_test_rms": float(np.sqrt(stopped.mean())),
            "final_test_rms": float(np.sqrt(final.mean())),
            "stopping_early_helps": bool(stopped.mean() < final.mean()),
        }, table

    def _column(self, x: Floats) -> Floats:
        """Inputs uniform between low and high brought to mean 0 and variance 1, as a column."""
        unit = (x - self.low) / (self.high - self.low)
        return np.asarray(np.sqrt(12) * (unit[..., None] - 0.5))

    def _outputs(self, theta: Floats, sizes: tuple[int, ...], x: Floats) -> Floats:
        return predict(theta, sizes, self._column(x))[..., 0]

    def _mean_square(self, theta: Floats, sizes: tuple[int, ...], x: Floats, t: Floats) -> Floats:
        return np.asarray(np.mean((self._outputs(theta, sizes, x) - t) ** 2, axis=-1))

    def _test_loss(self, theta: Floats, sizes: tuple[int, ...]) -> Floats:
        nodes = quadrature(self.low, self.high)
        f = self._outputs(theta, sizes, nodes.x)
        return expected_loss(f, self.truth(nodes.x), nodes.weight, self.noise)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        stopping = {"epochs": self._draw_epochs(outcome)} if self.epochs else {}
        if stopping and len(self.hidden) == len(self.decays) == 1:
            return stopping  # nothing to compare
        return {"hidden": self._draw_hidden(outcome), "fits": self._draw_fits(outcome)} | stopping

    def _draw_hidden(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        table = {name: np.array(values) for name, values in outcome.tables["networks"].items()}
        figure, axes = panels(1, 2, sharex=True)
        for ax, name in zip(axes, ("train", "test"), strict=True):
            for i, decay in enumerate(sorted(self.decays)):
                rows = table["decay"] == decay
                label = "no decay" if decay == 0 else rf"$\lambda$ = {decay:g}"
                values = table[f"{name}_rms"][rows]
                ax.plot(table["hidden"][rows], values, marker="os^DvP"[i % 6], label=label)
            ax.set(xlabel="hidden units", xscale="log")
            ax.set_ylim(bottom=0)
        axes[0].set_ylabel("training error, RMS")
        axes[1].set_ylabel("test error, RMS")
        axes[1].axhline(self.noise, color="black", linewidth=1, linestyle=":", label="noise")
        figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return figure

    def _draw_fits(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays, decays = outcome.arrays, sorted(self.decays)
        figure, ax = panels()
        ax.plot(arrays["x"], arrays["t"], "o", color="black", markersize=4, label="data")
        ax.plot(arrays["grid"], arrays["truth"], "-", color="C2", label="true curve")
        best = decays.index(float(outcome.metrics["chosen_decay"]))
        for j, colour, dash in ((0, "C1", "-"), (best, "C0", "--")):
            label = f"{max(self.hidden)} hidden units, $\\lambda$ = {decays[j]:g}"
            ax.plot(arrays["grid"], arrays["fits"][j], dash, color=colour, label=label)
        spread = np.ptp(arrays["t"])
        ax.set(
            xlabel="x", ylabel="t", ylim=(arrays["t"].min() - spread, arrays["t"].max() + spread)
        )
        figure.legend(loc="outside lower center", ncols=2)
        return figure

    def _draw_epochs(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        table = outcome.tables["epochs"]
        epoch = np.array(table["epoch"]) + 1  # the start is epoch 0, which a log axis lacks
        figure, ax = panels()
        for i, name in enumerate(("training", "validation")):
            ax.plot(epoch, table[f"{name}_median"], color=f"C{i}", label=f"{name}, median")
            low, high = table[f"{name}_low"], table[f"{name}_high"]
            ax.fill_between(epoch, low, high, color=f"C{i}", alpha=0.2, linewidth=0)
        ax.fill_between([], [], [], color="0.5", alpha=0.3, label="quartiles over runs")
        stop = outcome.metrics["median_stopping_epoch"]
        ax.axvline(stop, color="black", linewidth=1, linestyle=":", label="median stopping epoch")
        ax.set(xlabel="epochs", ylabel="error, RMS", xscale="log")
        figure.legend(loc="outside lower center", ncols=2)
        return figure


def _rms(losses: Floats) -> Floats:
    """The median over runs, as a root mean square."""
    return np.asarray(np.sqrt(np.median(losses, axis=-1)))


def _decay_metrics(
    hidden: list[int], decays: list[float], train: Floats, held: Floats, test: Floats
) -> tuple[dict[str, Scalar], Table]:
    """Medians for every network, and the texts' statements; losses (hidden, decays, runs)."""
    rms = {"train": _rms(train), "test": _rms(test)}
    # One decay for all sizes of network, by the error on the validation sets.
    chosen = int(np.argmin(np.median(held, axis=(0, -1))))
    at = rms["test"][:, chosen]
    free = rms["test"][:, 0]
    metrics: dict[str, Scalar] = {
        "chosen_decay": decays[chosen],
        "test_spread_over_hidden": float(at.max() / at.min()),
        "test_spread_over_hidden_smallest_decay": float(free.max() / free.min()),
        "decay_helps_largest_network": bool(at[-1] < free[-1]),
        # Without decay: nearer to the data, further from new data.
        "largest_network_overfits": bool(
            free[-1] > at[-1] and rms["train"][-1, 0] < rms["train"][-1, chosen]
        ),
        "overfitting_grows_with_hidden": bool(free[-1] / at[-1] > free[0] / at[0]),
        "smallest_network_underfits": bool(
            at[0] > at.min() and rms["train"][0, chosen] > rms["train"][at.argmin(), chosen]
        ),
    }
    table: Table = {"hidden": [], "decay": [], "train_rms": [], "test_rms": []}
    for i, units in enumerate(hidden):
        for j, decay in enumerate(decays):
            row = (units, decay, rms["train"][i, j], rms["test"][i, j])
            for name, value in zip(table, row, strict=True):
                table[name].append(value)
            for name, values in rms.items():
                metrics[f"{name}_rms_hidden_{units}_decay_{decay:g}"] = values[i, j]
    return metrics, table


def _is_prior(rng: Generator, decay: float = 0.7) -> bool:
    """(2.121): the penalty is minus the log of a Gaussian density, up to a constant."""
    w = rng.standard_normal((2, 50))
    penalty = decay / 2 * (w**2).sum(-1)
    log_prior = stats.norm(0, 1 / np.sqrt(decay)).logpdf(w).sum(-1)
    return bool(abs(np.diff(penalty + log_prior)[0]) < 1e-9)
