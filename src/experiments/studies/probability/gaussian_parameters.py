"""How many numbers a Gaussian has, with and without dependence between its dimensions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from models.classification.gaussian_classifier import FULL, NAIVE, parameter_count

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class GaussianParameters(Study):
    """Parameters of a Gaussian class-conditional density against dimension (FCML 5.2.1.5)."""

    dimensions: list[int] = knob([2, 10], "dimensions to report", at_least=1, at_most=1000)
    upto: int = knob(20, "largest dimension of the curve", at_least=2, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        metrics: dict[str, Scalar] = {}
        agree = True
        for D in self.dimensions:
            full, naive = parameter_count(D, FULL), parameter_count(D, NAIVE)
            # Counted, not calculated: the entries of a symmetric matrix that can be chosen freely.
            free = len(np.triu_indices(D)[0])
            agree &= full == D + free
            metrics |= {
                f"full_{D}": full,
                f"covariance_{D}": free,
                f"naive_{D}": naive,
                f"saved_{D}": full - naive,
            }
        metrics["formula_agrees_with_count"] = agree
        steps = list(range(1, self.upto + 1))
        curves = {kind: [float(parameter_count(D, kind)) for D in steps] for kind in (FULL, NAIVE)}
        return Outcome(metrics, series={kind: Series(steps, v) for kind, v in curves.items()})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import whole_steps

        figure, ax = panels()
        for kind, style in ((FULL, "o-"), (NAIVE, "s--")):
            ax.plot(*outcome.series[kind], style, markersize=3.5, label=f"{kind} covariance")
        ax.set(xlabel="Dimensions D", ylabel="Parameters of a class", ylim=(0, None))
        whole_steps(ax)
        ax.legend()
        return {"parameters": figure}
