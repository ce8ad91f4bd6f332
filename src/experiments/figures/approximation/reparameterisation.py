"""Posterior densities of a coin in several parameters, each with its own mode, over r."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.approximation.reparameterisation import MAPS, Reparameterisation


def draw(study: Reparameterisation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = subplots()
    r, log = outcome["penalised"].coord("r"), outcome["penalised"].values
    for k, name in enumerate(MAPS):
        density = log - np.log(outcome["jacobian"].sel(parameter=name).values)
        values = np.exp(density - density.max())
        ax.plot(r, values, ("-", "--", "-.", ":")[k], color=f"C{k}", label=f"density of the {name}")
        ax.plot(outcome["most_probable"].sel(parameter=name).item, 1.0, "o", color=f"C{k}", ms=5)
    ax.axvline(outcome["best_penalised"].values[0], color="0.6", lw=1, label="penalised likelihood")
    ax.set(xlabel="r", ylabel="posterior density, largest = 1")
    ax.legend(loc="upper left", fontsize="small")
    yield "modes", figure
