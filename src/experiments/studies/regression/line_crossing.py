"""Two least-squares lines, followed to where they meet and where they reach zero (FCML 1.2.1)."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.labels import axis_names
from models.datasets import load
from models.regression.linear import least_squares, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class LineCrossing(Study):
    """When would the challenger's line pass below the leader's? (FCML 1.2.1, Figure 1.8)"""

    leader: str = knob("olympics-100m-men", "the data that lie lower now", dataset=True)
    challenger: str = knob("olympics-100m-women", "the data that catch up", dataset=True)
    games_every: int = knob(4, "inputs between one games and the next", at_least=1)

    def problems(self) -> "Iterator[str]":
        if self.leader == self.challenger:
            yield f"study.leader and study.challenger are both {self.leader}; they must differ"
        for name in self.data_sets():
            if len(np.unique(load(name).xt[0])) < 2:
                yield f"{name} has fewer than two different inputs; a line needs two"

    def run(self, rng: Generator) -> Outcome:
        (x, t), (cx, ct) = load(self.leader).xt, load(self.challenger).xt
        w = least_squares(line(x), t).w
        v = least_squares(line(cx), ct).w
        crossing = (v[0] - w[0]) / (w[1] - v[1])
        last = max(x.max(), cx.max())
        later = self.games_every * (math.floor((crossing - last) / self.games_every) + 1)
        after = int(last + later)  # the first games past the crossing
        games = np.array([after - self.games_every, after], dtype=np.float64)
        leader, challenger = line(games) @ w, line(games) @ v
        zeros = -w[0] / w[1], -v[0] / v[1]
        metrics: dict[str, Scalar] = {
            "first_games_after_crossing": after,
            "crossing": crossing,
            "crossing_value": w[0] + w[1] * crossing,
            "challenger_starts_higher": bool(v[0] > w[0]),
            "challenger_falls_faster": bool(v[1] < w[1] < 0),
            "challenger_ahead_after_only": bool(
                challenger[0] >= leader[0] and challenger[1] < leader[1]
            ),
            "leader_after_crossing": leader[1],
            "challenger_after_crossing": challenger[1],
            "leader_reaches_zero_at": zeros[0],
            "challenger_reaches_zero_at": zeros[1],
            "both_reach_zero": bool(min(zeros) > last),
        }
        grid = np.linspace(min(x.min(), cx.min()), max(last, crossing, *zeros), 400)
        arrays = {"leader_x": x, "leader_t": t, "challenger_x": cx, "challenger_t": ct}
        lines = {"leader_line": line(grid) @ w, "challenger_line": line(grid) @ v}
        return Outcome(metrics, arrays={"grid": grid, **arrays, **lines})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        names, arrays, metrics = axis_names(self.leader), outcome.arrays, outcome.metrics
        figure, ax = panels()
        looks = {"leader": ("C0", "-", "o"), "challenger": ("C1", "--", "^")}
        for who, (colour, dashes, mark) in looks.items():
            title = getattr(self, who).replace("-", " ").capitalize()
            ax.plot(arrays["grid"], arrays[f"{who}_line"], dashes, color=colour, label=title)
            ax.plot(arrays[f"{who}_x"], arrays[f"{who}_t"], mark, color=colour, markersize=3)
        where = f"the lines meet in {metrics['crossing']:.1f}"
        ax.plot(metrics["crossing"], metrics["crossing_value"], "D", color="black", label=where)
        ax.set(xlabel=names.x, ylabel=names.t, ylim=(0, None))
        ax.legend()
        return {"lines": figure}
