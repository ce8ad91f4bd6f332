"""The committee's error over its members' against the size, for each correlation."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.ensembles.committee_error import CommitteeError


def draw(study: CommitteeError, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    members = outcome["ratio"].along("members")
    figure, ax = panels()
    for i, rho in enumerate(study.correlations):
        mark, colour = "os^Dv<>p"[i % 8], f"C{i}"
        ax.plot(members, outcome["expected_ratio"].values[i], "-", color=colour)
        ax.plot(members, outcome["ratio"].values[i], mark, color=colour, label=rf"$\rho$ = {rho:g}")
    ax.plot([], [], "-", color="0.4", label=r"$\rho + (1 - \rho) / M$")
    ax.set(xlabel="members M", ylabel=r"$E_{COM}\, /\, E_{AV}$", xscale="log", yscale="log")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    yield "ratio", figure
