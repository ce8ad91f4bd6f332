"""MPs by party, their attendance, the most uncertain ones, and divisions with boundaries."""

from collections.abc import Iterator

from bythebook.experiments.plotting.clustering import MARKERS
from bythebook.experiments.plotting.marks import Mark, Panel, ellipse, hist, line, point

MAIN = ("Lab", "Con", "LDem")
SMALL = ("SNP", "PC", "DUP", "SDLP")
VOTES = ((0, ".", "0.8", "absent"), (1, "o", "C0", "for"), (-1, "s", "C1", "against"))


def _parties(model: str, names: tuple[str, ...]) -> list[Mark]:
    """All MPs in grey, and those of some parties in colours."""
    x, y = (f"position['{model}', :, {k}]" for k in (1, 2))
    return [
        point(y, x=x, marker=".", color="0.75", markersize=3, label="others"),
        *(
            point(
                y,
                x=x,
                where=f"member_party == '{name}'",
                marker=MARKERS[k],
                color=f"C{k}",
                label=name,
                markersize=4,
                alpha=0.8,
            )
            for k, name in enumerate(names)
        ),
    ]


def attendance() -> Iterator[Panel]:
    """The percentage of the divisions that an MP attended."""
    yield Panel(hist("100 * votes_cast / divisions"), x="divisions attended (%)", y="MPs")


def members(model: str = "probit") -> Iterator[Panel]:
    """MPs by party, and their distance from the origin against the votes that they cast."""
    yield Panel(
        *_parties(model, MAIN), x="first dimension", y="second dimension", title="MPs by party"
    )
    yield Panel(
        *(
            point(
                f"distance_from_origin['{model}']",
                x="votes_cast",
                where=f"member_party == '{name}'",
                marker=MARKERS[k],
                color=f"C{k}",
                markersize=4,
                label=name,
            )
            for k, name in enumerate(MAIN)
        ),
        x="votes cast",
        y="distance from the origin",
        title="attendance and distance",
        ylimits=(0, None),
    )


def small_parties() -> Iterator[Panel]:
    """Small parties by PCA and by probit PCA."""
    for model, title in (("pca", "PCA"), ("probit", "probit PCA")):
        yield Panel(*_parties(model, SMALL), x="first dimension", y="second dimension", title=title)


def uncertain() -> Iterator[Panel]:
    """The MPs whose positions are least certain, with one standard deviation."""
    yield Panel(
        point(
            "position['probit', :, 2]",
            x="position['probit', :, 1]",
            marker=".",
            color="0.75",
            markersize=3,
        ),
        ellipse("uncertain_position", cov="uncertain_covariance", color="C1", label=""),
        x="first dimension",
        y="second dimension",
        title="{uncertain} least certain MPs, one standard deviation",
    )


def divisions() -> Iterator[Panel]:
    """Votes of some divisions and their boundaries."""
    x, y = (f"position['probit', :, {k}]" for k in (1, 2))
    reach = "1.1 * max(abs(position['probit']))"
    yield Panel(
        *(
            point(
                f"{y} + 0 * division_votes",
                x=x,
                where=f"division_votes == {vote}",
                marker=symbol,
                color=color,
                markersize=3.5,
                label=label,
            )
            for vote, symbol, color, label in VOTES
        ),
        line(
            f"-boundary[:, 1] / boundary[:, 2] * 3 * {x}", x=f"3 * {x}", color="k", label="boundary"
        ),
        facet="division",
        title="division {}",
        x="first dimension",
        y="second dimension",
        xlimits=(f"-{reach}", reach),
        ylimits=(f"-{reach}", reach),
        columns=2,
        share="xy",
    )
