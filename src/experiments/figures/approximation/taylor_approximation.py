"""A function and its expansions."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.approximation.taylor_approximation import TaylorApproximation

DASHES = ("--", "-.", ":", (0, (5, 1)), (0, (1, 1)))


def draw(study: TaylorApproximation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = panels()
    w, f = outcome["function"].along("w"), outcome["function"].values
    ax.plot(w, f, color="black", linewidth=2.2, label=study.function)
    for k, n in enumerate(study.orders):
        look = {"linestyle": DASHES[k % 5], "color": f"C{k % 8}", "label": f"order {n}"}
        ax.plot(w, outcome["expansion"].at(order=n).values, **look)
    reach = np.ptp(f)
    ax.set(
        xlabel=study.x_name,
        ylabel=f"{study.function}({study.x_name})",
        ylim=(f.min() - reach / 6, f.max() + reach / 12),
    )
    if study.orders:
        ax.legend(loc="upper left")
    yield "function", figure
