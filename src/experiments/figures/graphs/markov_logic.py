"""The ground network, with a link where two atoms share a clause; and rules against weights."""

from collections.abc import Iterator
from itertools import combinations

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.markov_logic import MarkovLogic
from bythebook.models.graphs.logic import ground, nodes


def draw(study: MarkovLogic, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    every = [one for rule in study.known.values() for one in ground(rule, study.constants)]
    pairs = {
        pair for one in every for pair in combinations(sorted({*one.premises, one.conclusion}), 2)
    }
    chance = outcome["marginal"]
    places = graphs.circular_layout(nodes(every))
    graphs.links(left, places, sorted(pairs), linestyle="-")
    for name, (x, y) in places.items():
        p = float(chance.sel(node=name).item)
        look = {"boxstyle": "round", "fc": "white", "ec": "0.2"}
        left.annotate(f"{name}\n{p:.2f}", (x, y), ha="center", va="center", bbox=look)
    left.margins(0.3)
    left.set_axis_off()
    left.set_title("ground network, and how probably each atom is true", fontsize="small")
    held = outcome["satisfied"]
    for k, rule in enumerate(held.coord("rule")):
        line = held.sel(rule=str(rule)).values
        right.plot(held.coord("weight"), line, "os^v"[k % 4] + "-", label=str(rule))
    right.set(xlabel="weight of the rule", ylabel="share of its clauses that hold", ylim=(None, 1))
    right.legend()
    yield "network", figure
