"""A region of phase space sheared by a step, and errors as the steps shrink."""

from collections.abc import Iterator

from matplotlib.ticker import NullFormatter

from bythebook.experiments.plotting.marks import Panel, line


def shear(energy: str) -> Iterator[Panel]:
    """A circle in phase space before and after two parts of a leapfrog step."""
    yield Panel(
        line(
            f"at(ring, energy='{energy}', part='r')",
            x=f"at(ring, energy='{energy}', part='z')",
            by="step",
            label="{}",
        ),
        x="position $z_1$",
        y="momentum $r_1$",
        title=energy,
        ylimits=(-0.9, 0.9),  # leaves room for the legend
    )


def errors() -> Iterator[Panel]:
    """Mean errors of place and of H against the size of the steps."""
    for name, meaning in (("trajectory_error", "place"), ("energy_error", "H")):
        yield Panel(
            line(f"mean({name}, over='point')", x="step_size", by="energy", marker="o", label="{}"),
            x="size of a step",
            y=f"mean error of {meaning}",
            xscale="log",
            yscale="log",
            finish=lambda ax, _: ax.xaxis.set_minor_formatter(NullFormatter()),
        )
