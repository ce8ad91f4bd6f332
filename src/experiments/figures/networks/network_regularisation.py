"""Errors against hidden units for each decay, fits with and without, and errors over epochs."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.regression import fill_band, pad_ylim
from bythebook.experiments.studies.networks.network_regularisation import NetworkRegularisation


def draw(study: NetworkRegularisation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if not study.epochs or len(study.hidden) * len(study.decays) > 1:  # something to compare
        yield "hidden", _hidden(study, outcome)
        yield "fits", _fits(study, outcome)
    if study.epochs:
        yield "epochs", _epochs(outcome)


def _hidden(study: NetworkRegularisation, outcome: Outcome) -> Figure:
    figure, axes = subplots(1, 2, sharex=True)
    for ax, name in zip(axes, ("training", "test"), strict=True):
        losses = outcome[f"{name}_loss"]
        rms = np.sqrt(np.median(losses, axis=-1))
        for i, decay in enumerate(losses.coord("decay")):
            label = "no decay" if decay == 0 else rf"$\lambda$ = {decay:g}"
            ax.plot(losses.coord("hidden"), rms[:, i], marker="os^DvP"[i % 6], label=label)
        ax.set(xlabel="hidden units", ylabel=f"{name} error, RMS", xscale="log")
        ax.set_ylim(bottom=0)
    axes[1].axhline(study.noise, color="black", linewidth=1, linestyle=":", label="noise")
    shared_legend(figure, axes[1], 4)
    return figure


def _fits(study: NetworkRegularisation, outcome: Outcome) -> Figure:
    curves, t = outcome["curve"], outcome["targets"].values
    x = curves.coord("x")
    figure, ax = subplots()
    ax.plot(outcome["inputs"], t, "o", color="black", markersize=4, label="data")
    ax.plot(x, outcome["truth"], "-", color="C2", label="true curve")
    decays = (min(study.decays), outcome["chosen_decay"].item)
    for decay, colour, dash in zip(decays, ("C1", "C0"), ("-", "--"), strict=True):
        label = f"{max(study.hidden)} hidden units, $\\lambda$ = {decay:g}"
        ax.plot(x, curves.sel(decay=decay), dash, color=colour, label=label)
    ax.set(xlabel="x", ylabel="t")
    pad_ylim(ax, t, 1)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _epochs(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    for i, name in enumerate(("training", "validation")):
        losses = outcome[f"{name}_path"]
        epoch = losses.coord("shown_epoch") + 1  # the start is epoch 0, which a log axis lacks
        low, median, high = np.quantile(np.sqrt(losses), [0.25, 0.5, 0.75], axis=0)
        ax.plot(epoch, median, color=f"C{i}", label=f"{name}, median")
        fill_band(ax, epoch, low, high, color=f"C{i}")
    ax.fill_between([], [], [], color="0.5", alpha=0.3, label="quartiles over runs")
    stop = np.median(outcome["stopping_epoch"])
    ax.axvline(stop, color="black", linewidth=1, linestyle=":", label="median stopping epoch")
    ax.set(xlabel="epochs", ylabel="error, RMS", xscale="log")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
