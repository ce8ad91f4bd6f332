"""The place of a page as its farm grows, by PageRank and by counting links; restarts."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, diagonal, line, point


def changes() -> Iterator[Panel]:
    """Median place by size of the farm, and iterations after links have changed."""
    farms = "coordinates(target_place, over='farm') + 1"
    yield Panel(
        line("median(target_place, over='web')", x=farms, marker="o", label="by PageRank"),
        line("median(counted_place, over='web')", x=farms, marker="s", label="by number of links"),
        x="pages of the farm, and the page itself",
        y="median place (1 is best)",
        xscale="log",
        yscale="log",
        columns=2,
    )
    yield Panel(
        point("restart_iterations", x="fresh_iterations", alpha=0.5),
        diagonal(),
        x="iterations from uniform ranks",
        y="iterations from the old ranks",
    )
