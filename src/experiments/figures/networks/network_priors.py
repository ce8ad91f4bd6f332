"""Functions drawn from the prior, a panel for each precision that falls."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.networks.network_priors import NetworkPriors


def draw(study: NetworkPriors, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(2, 3, sharex=True, sharey=True)
    sample = outcome["sample"]
    names = sample.coord("reduced").tolist()
    for ax, name in zip(axes.flat, names, strict=False):
        ax.plot(sample.coord("x"), sample.sel(reduced=name).values.T, lw=1)
        words = "as stated" if name == "default" else f"alpha_{name} / {study.factor:g}"
        ax.set(title=words, ylim=(-12, 12))
    axes.flat[-1].set_visible(False)
    for ax in axes[1]:
        ax.set_xlabel("x")
    for ax in axes[:, 0]:
        ax.set_ylabel("f(x)")
    yield "functions", figure
