"""Densities of a coin's r, their path along the tosses, and winning probabilities."""

from collections.abc import Callable, Iterator

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Panel, line, rule, step

R, DENSITY = "probability of a head, r", "density of r"


def stages() -> Iterator[Panel]:
    """The posterior under each prior, in a panel for each stage."""
    yield Panel(
        line("density", by="prior", label="prior {}"),
        facet="stage",
        title="after {} tosses",
        x=R,
        y=DENSITY,
        ylimits=(0, None),
        share="x",
    )


def stages_of_one() -> Iterator[Panel]:
    """The posterior under one prior, with the prior and the posterior one toss earlier."""
    yield Panel(
        line("density", label="posterior"),
        line("prior_density", label="prior"),
        line("previous_density", label="one toss earlier"),
        facet="stage",
        title="after {} tosses",
        x=R,
        y=DENSITY,
        ylimits=(0, None),
        share="x",
        columns=3,
    )


def overlay() -> Iterator[Panel]:
    """The posteriors of all stages, in a panel for each prior."""
    yield Panel(
        line("density", by="stage", label="after {} tosses"),
        facet="prior",
        title="prior {}",
        x=R,
        y=DENSITY,
        ylimits=(0, None),
        columns=3,
    )


def path() -> Iterator[Panel]:
    """Mean and variance of r over the tosses."""
    for name in ("mean", "variance"):
        yield Panel(
            line(f"posterior_{name}", by="prior", label="prior {}"),
            y=f"{name} of r",
            finish=_heads_and_tails(f"posterior_{name}"),
        )


def win() -> Iterator[Panel]:
    """Winning probabilities under each prior, averaged and at the posterior mean."""
    yield Panel(
        line("win_probability", marker="o", label="averaged over the posterior"),
        line("plugin_win_probability", marker="s", label="at the posterior mean"),
        rule(0.5, color="black", linestyle=":"),
        facet="prior",
        title="prior {}",
        x="tosses seen",
        y="probability of winning",
        ylimits=(0, 1),
    )


def tosses() -> Iterator[Panel]:
    """The heads so far, and the result of each toss; dotted lines between the customers."""
    yield Panel(
        step("heads", color="0.6"),
        x="tosses (dotted: the next customer)",
        y="heads so far",
        finish=_customers,
    )


def _heads_and_tails(name: str) -> Callable[[Axes, Outcome], None]:
    """A mark at the value after each toss, for heads or tails; none for hundreds of tosses."""

    def draw(ax: Axes, outcome: Outcome) -> None:
        toss = outcome["heads"].coord("toss")[1:]
        tail = np.diff(outcome["heads"].values) == 0
        for values in np.atleast_2d(outcome[name].values) if len(toss) <= 40 else ():
            for which, mark, colour, label in (
                (~tail, "o", "C0", "head"),
                (tail, "v", "C1", "tail"),
            ):
                ax.plot(toss[which], values[1:][which], mark, color=colour, ms=5, label=label)
                label = "_"

    return draw


def _customers(ax: Axes, outcome: Outcome) -> None:
    _heads_and_tails("heads")(ax, outcome)
    for end in np.cumsum(outcome["customer_tosses"].values)[:-1]:
        ax.axvline(end + 0.5, color="black", linewidth=1, linestyle=":")
    ax.legend(loc="upper left")
