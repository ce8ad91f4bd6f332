"""The ground network, with a link where two atoms share a clause; and rules against weights."""

from collections.abc import Iterator
from itertools import combinations

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing import graphs
from experiments.drawing.canvas import panels
from experiments.studies.graphs.markov_logic import MarkovLogic
from models.graphs.logic import ground, nodes


def draw(study: MarkovLogic, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = panels(1, 2)
    every = [one for rule in study.known.values() for one in ground(rule, study.constants)]
    pairs = {
        pair for one in every for pair in combinations(sorted({*one.premises, one.conclusion}), 2)
    }
    chance = outcome["marginal"]
    places = graphs.ring(nodes(every))
    graphs.links(left, places, sorted(pairs))
    for name, (x, y) in places.items():
        p = float(chance.at(node=name).item)
        look = {"boxstyle": "round", "fc": "white", "ec": "0.2"}
        left.annotate(f"{name}\n{p:.2f}", (x, y), ha="center", va="center", bbox=look)
    left.margins(0.3)
    left.set_axis_off()
    left.set_title("ground network, and how probably each atom is true", fontsize="small")
    held = outcome["satisfied"]
    for k, rule in enumerate(held.along("rule")):
        line = held.at(rule=str(rule)).values
        right.plot(held.along("weight"), line, "os^v"[k % 4] + "-", label=str(rule))
    right.set(xlabel="weight of the rule", ylabel="share of its clauses that hold", ylim=(None, 1))
    right.legend()
    yield "network", figure
