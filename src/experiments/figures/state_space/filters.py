"""A step of the particle filter; beliefs of two modes or of many Gaussians; errors by particles."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bythebook.experiments.plotting.densities import particle_histogram
from bythebook.experiments.plotting.marks import Panel, band, image, line, point, rule

Z = "coordinates(density, over='z')"
NOW = "near(density, step=shown_step)"
NEXT = "near(density, step=shown_step + 1)"


def step() -> Iterator[Panel]:
    """PRML Figure 13.23: the belief, the mixture, the likelihood and the new belief."""
    rows = (
        (NOW, "before", "weight", "belief at step n, and weighted particles"),
        ("mixture", "after", "even", "mixture (13.119), and particles drawn from it"),
        ("likelihood", "after", "weight", "likelihood at step n + 1, and new weights"),
        (NEXT, "after", "weight", "belief at step n + 1, and weighted particles"),
    )
    for curve, time, sizes, title in rows:
        height = f"({curve}) / max({curve})"
        share = f"particle_weight['{time}']" if sizes == "weight" else f"{1 / 14}"
        yield Panel(
            band(height, low=0, x="z", color="C0"),
            line(height, x="z", color="C0"),
            point(
                f"0 * particle_state['{time}'] - 0.25",
                x=f"particle_state['{time}']",
                size=f"0 * particle_state['{time}'] + 600 * {share}",
                color="C1",
                alpha=0.5,
            ),
            title=title,
            x="state",
            y="",
            ylimits=(-0.55, 1.1),
            xlimits=("min(particle_state) - 1", "max(particle_state) + 1"),
            share="x",
            columns=1,
            height=0.3,
        )


def errors() -> Iterator[Panel]:
    """Errors of the particle filter's means by the number of particles, and of Gaussian filters."""
    yield Panel(
        line("particle_rmse", x="particles", by="system", marker="o", label="particles, {}"),
        rule("max(rmse_to_exact[:, 'extended'])", linestyle="--", label="linearisation"),
        y="r.m.s. difference from the exact mean",
        xscale="log",
        yscale="log",
        ylimits=("0.3 * min(particle_rmse)", None),
    )


def beliefs() -> Iterator[Panel]:
    """Exact beliefs about the first series, and one of them with its approximations."""
    yield Panel(
        image("sqrt(density)", x="step", cmap="Greys"),
        point("state", x="step", color="C1", ms=3, label="state"),
        y="state",
        columns=2,
    )
    yield Panel(
        line(NEXT, x="z", color="C1", label="exact"),
        *(
            line(_gaussian(name), x="z", color=colour, linestyle=dash, label=label)
            for name, colour, dash, label in (
                ("extended", "C0", "--", "linearisation"),
                ("unscented", "C2", "-.", "unscented filter"),
            )
        ),
        y="filtered density",
        x="state",
        ylimits=(0, f"1.7 * max({NEXT})"),
        finish=_particles,
    )


def _gaussian(name: str) -> str:
    mean, variance = (
        f"near(belief_{part}['{name}'], step=shown_step + 1)" for part in ("mean", "variance")
    )
    return f"exp(-({Z} - {mean}) ** 2 / (2 * {variance})) / sqrt(2 * pi * {variance})"


def _particles(ax: Any, outcome: Any) -> None:
    z, w = (outcome[f"particle_{part}"].sel(time="after") for part in ("state", "weight"))
    particle_histogram(ax, z.values, w.values, np.linspace(-28, 28, 85))
    ax.set_xlim(-28, 28)


def growth() -> Iterator[Panel]:
    """Gaussians in the exact belief against the step; the last belief and one Gaussian."""
    yield Panel(
        line("components", x="step", by="model", marker="o", label="{}"),
        y="Gaussians in the exact belief",
        yscale="log",
        columns=2,
    )
    yield Panel(
        line("exact_density", x="z", color="C1", label="exact"),
        line("collapsed_density", x="z", color="C0", linestyle="--", label="one Gaussian"),
        x="state",
        y="posterior density",
        ylimits=(0, "1.4 * max(exact_density)"),
        finish=_last_particles,
    )


def _last_particles(ax: Any, outcome: Any) -> None:
    z = outcome.axes["z"].values
    states, weights = outcome["particle_state"].values, outcome["particle_weight"].values
    particle_histogram(ax, states, weights, np.linspace(z[0], z[-1], 36))
