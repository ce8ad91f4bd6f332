"""Gaussians in the exact belief against the step; and the last belief, exact and approximate."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.densities import particle_histogram
from experiments.studies.state_space.mixture_growth import MixtureGrowth


def draw(study: MixtureGrowth, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = panels(1, 2)
    components, exact, collapsed = (
        outcome[name] for name in ("components", "exact_density", "collapsed_density")
    )
    looks = {
        "mixture_emission": (f"emission of {len(study.weights)} Gaussians", "C1", "o"),
        "mixture_start": (f"start of {len(study.start_means)} Gaussians", "C0", "s"),
        "gaussian": ("all Gaussian", "C2", "^"),
    }
    for name, (label, colour, mark) in looks.items():
        counts = components.at(model=name).values
        left.semilogy(components.along("step"), counts, "-", marker=mark, color=colour, label=label)
    left.set(xlabel="step $n$", ylabel="Gaussians in the exact belief")
    left.legend(loc="upper left")
    z = exact.along("z")
    particles, weights = outcome["particle_state"].values, outcome["particle_weight"].values
    particle_histogram(right, particles, weights, np.linspace(z[0], z[-1], 36))
    right.plot(z, exact, "-", color="C1", label="exact")
    right.plot(z, collapsed, "--", color="C0", label="one Gaussian")
    right.set(xlabel=f"state $z_{{{study.steps}}}$", ylabel="posterior density")
    right.set_ylim(top=1.35 * max(exact.values.max(), collapsed.values.max()))
    right.legend(loc="upper left")
    yield "growth", figure
