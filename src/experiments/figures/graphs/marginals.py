"""Differences from enumeration, messages in their order, repeated messages and confidence."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, diagonal, graph, hist, point

ERROR = "max(abs(marginal - marginal[:, 'enumeration']), over='state')"
CONFIDENCE = "mean(max(at(marginal, method='{}'), over='state'), over='variable')"
PEARL = "lambda and pi"


def errors() -> Iterator[Panel]:
    """The largest difference from enumeration of each draw, by algorithm and semiring."""
    yield Panel(
        point("method", x=f"max(max({ERROR}, over='variable'), 1e-17)", marker="|", ms=12),
        facet="semiring",
        title="{}",
        x="largest difference from enumeration",
        y="",
        xscale="log",
        xlimits=(1e-18, 1),
    )


def schedule() -> Iterator[Panel]:
    """The messages to the root and from it, numbered in their order, as in PRML Figure 8.52."""
    yield Panel(
        graph("inward", root="{root}", squares="f", first=1), title="to the root, {root}", columns=1
    )
    yield Panel(
        graph("outward", root="{root}", squares="f", first="size(inward) + 1"),
        title="from the root, {root}",
    )


def repeats() -> Iterator[Panel]:
    """How often the most repeated message is sent, for each way of sending."""
    yield Panel(
        hist("repeats", by="method", only=["one by one, waiting", "one by one, from ones"]),
        x="times that the most repeated message is sent",
        y="draws",
    )


def confidence() -> Iterator[Panel]:
    """The largest probability of a variable, with echoes against without."""
    yield Panel(
        diagonal(),
        point(CONFIDENCE.format(f"{PEARL}, echoed"), x=CONFIDENCE.format(PEARL), ms=4),
        x="largest probability of a node, mean over nodes",
        y="with echoes",
    )
