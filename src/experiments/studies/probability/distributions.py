"""Popular distributions: their curves, totals, moments and modes (FCML 2.2.8, 2.3 and 2.5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.probability.distributions import DISCRETE, FAMILIES, Law, tabulate
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_PARAMETERS = {
    "binomial": ("N", "q"),
    "poisson": ("λ",),
    "uniform": ("a", "b"),
    "beta": ("α", "β"),
    "gaussian": ("μ", "σ²"),
}
_ABOVE_ZERO = {"poisson": (0,), "gaussian": (1,)}  # by place


@dataclass
class Distributions(Study):
    """Probabilities or densities of one family, for one or several parameters (FCML 2.3, 2.5)."""

    family: str = knob("binomial", "the family", choices=FAMILIES)
    parameters: list[list[float]] = knob([[50.0, 0.7]], "the parameters of each curve")
    up_to: list[float] = knob([], "give P(Y <= y) and P(Y > y) for these y", may_be_empty=True)

    def problems(self) -> "Iterator[str]":
        names = _PARAMETERS.get(self.family)
        for row in self.parameters:
            given = f"study.parameters: {row} for {self.family}"
            if self.family == "categorical":
                if not row or min(row) < 0 or abs(sum(row) - 1) > 1e-9:
                    yield f"{given}; allowed: probabilities that sum to one"
            elif names is not None and len(row) != len(names):
                yield f"{given}; allowed: {', '.join(names)}"
            elif any(row[place] <= 0 for place in _ABOVE_ZERO.get(self.family, ())):
                yield f"{given}; allowed: > 0"
            elif self.family == "beta" and min(row) < 0.5:
                yield f"{given}; allowed: >= 0.5, for the quadrature's sake"
            elif self.family == "uniform" and row[0] >= row[1]:
                yield f"{given}; allowed: a < b"
            elif self.family == "binomial" and not (row[0] >= 1 and 0 <= row[1] <= 1):
                yield f"{given}; allowed: N >= 1, 0 <= q <= 1"

    def run(self, rng: Generator) -> Outcome:
        laws = [tabulate(self.family, row) for row in self.parameters]
        metrics: dict[str, Scalar] = {}
        for k, law in enumerate(laws, start=1):
            suffix = f"_{k}" if len(laws) > 1 else ""
            metrics |= {f"{name}{suffix}": value for name, value in self._summary(law).items()}
        metrics["all_total_one"] = bool(all(abs(law.weight.sum() - 1) < 1e-7 for law in laws))
        if self.family == "gaussian":
            order = np.argsort([row[1] for row in self.parameters])
            metrics["width_grows_with_variance"] = bool(
                np.all(np.diff([_width(laws[k]) for k in order]) > 0)
            )
        arrays: dict[str, Floats] = {}
        for k, law in enumerate(laws):
            arrays |= {f"x_{k}": law.x, f"p_{k}": np.exp(law.log_p)}
        return Outcome(metrics, arrays=arrays)

    def _summary(self, law: Law) -> dict[str, Scalar]:
        mean, square = float(law.weight @ law.x), float(law.weight @ law.x**2)
        top = float(law.log_p.max())
        found: dict[str, Scalar] = {
            "total": float(law.weight.sum()),
            "mean": mean,
            "second_moment": square,
            "variance": float(law.weight @ (law.x - mean) ** 2),
            "square_of_mean": mean**2,
            "moments_differ": bool(not np.isclose(square, mean**2)),
            "mode": float(law.x[np.argmax(law.log_p)]),
            "peak": float(np.exp(top)),
            "never_negative": bool(np.all(law.weight >= 0)),
        }
        if self.family in DISCRETE:
            found["most_probable_one_in"] = float(np.exp(-top))
            found["all_equally_probable"] = bool(np.ptp(law.log_p) < 1e-12)
            found["mean_is_no_outcome"] = bool(not np.any(np.isclose(law.x, mean)))
            found["mean_times_outcomes"] = mean * len(law.x)
            found["second_moment_times_outcomes"] = square * len(law.x)
            positive = float(law.weight[law.x > 0].sum())
            found["positive_outcomes_total_one"] = bool(abs(positive - 1) < 1e-9)
            for y in self.up_to:
                found[f"probability_at_most_{y:g}"] = float(law.weight[law.x <= y].sum())
                found[f"probability_above_{y:g}"] = float(law.weight[law.x > y].sum())
                among = law.weight[(law.x <= y) & (law.x > 0)].sum()
                found[f"probability_of_positive_at_most_{y:g}"] = float(among)
        else:  # the nodes lie symmetrically about the middle of the support
            found["symmetric"] = bool(np.allclose(law.log_p, law.log_p[::-1], rtol=1e-9))
            rising, falling = np.diff(np.array_split(law.log_p, 2))
            found["highest_in_the_middle"] = bool(np.all(rising > 0) and np.all(falling < 0))
        return found

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        discrete = self.family in DISCRETE
        for k, row in enumerate(self.parameters):
            x, p = outcome.arrays[f"x_{k}"], outcome.arrays[f"p_{k}"]
            names = _PARAMETERS.get(self.family)
            label = ", ".join(f"{n} = {v:g}" for n, v in zip(names or (), row, strict=False))
            if discrete:
                seen = p > 1e-6 * p.max()  # the rest would be an empty stretch of the axis
                ax.bar(x[seen], p[seen], 0.8, color=f"C{k}", label=label, alpha=0.8)
            else:
                seen = p > 1e-4 * p.max()
                x, p = x[seen], p[seen]
                if self.family == "uniform":  # the density drops to zero at its ends
                    x, p = np.concatenate([x[:1], x, x[-1:]]), np.concatenate([[0], p, [0]])
                ax.plot(x, p, "-" if k % 2 == 0 else "--", color=f"C{k}", label=label)
        ax.set(xlabel="y", ylabel="P(y)" if discrete else "p(y)")
        if self.family != "categorical":
            ax.legend()
        return {"distributions": figure}


def _width(law: Law) -> float:
    """The width of the curve at half its height."""
    return float(np.ptp(law.x[law.log_p >= law.log_p.max() - np.log(2)]))
