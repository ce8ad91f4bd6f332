"""Held-out bits against the weight, and the weight of each context; or prior means of words."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.chains.bigram_priors import METHODS, BigramPriors


def draw(study: BigramPriors, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield ("means", _means(outcome)) if study.text else ("weights", _weights(study, outcome))


def _weights(study: BigramPriors, outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    one = study.unit.removesuffix("s")
    bits = outcome["weight_bits"]
    left.plot(bits.coord("weight"), bits.values.T, color="0.6", lw=0.7)
    for k, name in enumerate(METHODS[1:]):
        held = outcome["held_bits"].sel(method=name).values.mean()
        left.axhline(held, color=f"C{k}", ls="--", label=name)
    left.set(xlabel=f"weight of single {one}s", ylabel=f"bits a {one}, held out")
    left.legend()
    count = outcome["context_count"].values
    right.semilogx(np.maximum(count, 0.5), outcome["context_weight"].values, ".")
    names, weight = outcome["context_count"].coord("context"), outcome["context_weight"].values
    for k in np.unique(count, return_index=True)[1]:  # equal counts lie in one place
        right.annotate(str(names[k]), (max(count[k], 0.5), weight[k]), fontsize=6)
    right.xaxis.set_minor_formatter(NullFormatter())
    right.set(xlabel=f"times that the {one} is left", ylabel="weight of the prior mean after it")
    return figure


def _means(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    mean = outcome["prior_mean"]
    words = [str(name) for name in mean.coord("symbol")]
    across, kinds = np.arange(len(words)), [str(name) for name in mean.coord("mean_of")]
    for k, kind in enumerate(kinds):
        ax.bar(across + 0.27 * (k - 1), mean.sel(mean_of=kind).values, 0.25, label=kind)
    ax.set_xticks(across, words)
    ax.set(ylabel="probability after a word never seen")
    shared_legend(figure, ax, 3)
    return figure
