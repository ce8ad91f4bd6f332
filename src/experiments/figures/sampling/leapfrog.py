"""A region of phase space sheared by a step, and errors as the steps shrink."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.sampling.leapfrog import Leapfrog

PARTS = ("at first", "after half a step of r", "after a step of z")


def draw(study: Leapfrog, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    ring = outcome["ring"].values[0]
    for k, (points, label) in enumerate(zip(ring, PARTS, strict=True)):
        closed = np.concatenate([points, points[:1]])
        left.plot(*closed.T, color=f"C{k}", lw=1.5, label=label)
    left.set(xlabel="position $z_1$", ylabel="momentum $r_1$", title=study.energies[0])
    left.set_aspect("equal", adjustable="datalim")
    left.legend(fontsize="small", loc="upper left")
    sizes = np.array(study.step_sizes)
    for k, name in enumerate(study.energies):
        error = outcome["trajectory_error"].sel(energy=name).values.mean(-1)
        right.loglog(sizes, error, "o-", ms=4, lw=1, color=f"C{k}", label=f"{name}: place")
        energy = outcome["energy_error"].sel(energy=name).values.mean(-1)
        right.loglog(sizes, energy, "s--", ms=3, lw=1, color=f"C{k}", label=f"{name}: H")
    right.set(xlabel="size of a step", ylabel=f"mean error after a time of {study.duration:g}")
    right.legend(fontsize="small")
    yield "leapfrog", figure
