"""A correlated Gaussian and its factorised approximations, with contours of one to three sd."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, ellipse

MEAN = "true_mean[0]"


def contours() -> Iterator[Panel]:
    """The first Gaussian, and its approximation by each divergence, as in PRML Figure 10.2."""
    for name in ("q||p", "p||q"):
        yield Panel(
            *(
                ellipse(
                    MEAN,
                    cov=f"{sd**2} * covariance['{density}', 0]",
                    color=color,
                    linestyle=style,
                    label=density[0] if sd == 1 else None,
                )
                for density, color, style in (("p", "C2", "-"), (name, "C3", "--"))
                for sd in (1, 2, 3)
            ),
            x="z₁",
            y="z₂",
            title=f"smallest KL({name})",
            share="xy",
        )
