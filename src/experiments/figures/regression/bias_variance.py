"""The parts of the expected loss against flexibility, and fits of three models."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.regression import plot_curves
from bythebook.experiments.studies.regression.bias_variance import BiasVariance

NAMES = {
    "order": "polynomial order",
    "gaussians": "number of Gaussians",
    "ln_lambda": r"$\ln \lambda$",
}


def draw(study: BiasVariance, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield "decomposition", _parts(study, outcome)
    yield "fits", _fits(study, outcome)


def _parts(study: BiasVariance, outcome: Outcome) -> Figure:
    bias2, variance = outcome["bias2"].values, outcome["variance"].values
    total, sizes, model = bias2 + variance, outcome["bias2"].coord("n"), study.flexibility
    curves = {
        r"bias$^2$": bias2,
        "variance": variance,
        r"bias$^2$ + variance": total,
        "test loss, with noise": outcome["test_loss"].values,
    }
    wide = total.max() > 100 * total.min()
    figure, axes = subplots(1, len(sizes), squeeze=False, sharey=True)
    for row, (ax, n) in enumerate(zip(axes[0], sizes, strict=True)):
        for i, (label, values) in enumerate(curves.items()):
            mark = None if len(model) > 15 else "os^D"[i]
            ax.plot(model.values, values[row], marker=mark, label=label, color=f"C{i}")
        ax.set(xlabel=NAMES[model.name], title=f"N = {n}")
        _scale(ax, min(variance.min(), total.min()), bias2.min(), wide=wide)
    axes[0, 0].set_ylabel("squared error")
    if len(sizes) > 1:
        _narrow(figure)
    shared_legend(figure, axes[0, 0], 2 if len(sizes) == 1 else 4)
    return figure


def _scale(ax: Axes, floor: float, least: float, *, wide: bool) -> None:
    """Decades where there are many; below them a linear piece down to a bias that vanishes."""
    if not wide:
        ax.set_ylim(bottom=0)
    elif least > floor / 1000:
        ax.set(yscale="log", ylim=(min(least, floor) / 3, None))
    else:
        ax.set_yscale("symlog", linthresh=10 ** np.floor(np.log10(floor)), linscale=0.6)
        ax.set_ylim(bottom=0)


def _fits(study: BiasVariance, outcome: Outcome) -> Figure:
    fits, truth = outcome["fits"], outcome["truth"].values
    shown, x, name = fits.coord("shown"), fits.coord("x"), study.flexibility.name
    figure, axes = subplots(1, len(shown), squeeze=False, sharey=True)
    for k, (ax, place) in enumerate(zip(axes[0], shown, strict=True)):
        plot_curves(ax, x, fits.values[k], f"{len(fits.values[k])} of the fits")
        ax.plot(x, truth, "-", color="C2", label="true curve")
        ax.plot(x, outcome["mean_fit"].values[k], "--", color="C1", label="mean of all fits")
        equals = " = " if name == "ln_lambda" else " "
        ax.set(xlabel="x", title=f"{NAMES[name]}{equals}{place:g}")
    middle, spread = (truth.max() + truth.min()) / 2, np.ptp(truth)
    axes[0, 0].set(ylabel="t", ylim=(middle - 0.9 * spread, middle + 0.9 * spread))
    _narrow(figure)
    shared_legend(figure, axes[0, 0], 3)
    return figure


def _narrow(figure: Figure) -> None:
    figure.set_size_inches(*(figure.get_size_inches() * (0.7, 0.9)))
