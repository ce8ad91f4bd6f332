"""The Laplace approximation of known densities: gamma and beta (FCML 4.4.1, EX 4.2-4.3)."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize_scalar

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import grid, spare
from models.approximation.laplace import DENSITIES, Density, compare
from models.probability.gaussian import log_density_1d

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


class Case(NamedTuple):
    """One density of the study."""

    name: str
    title: str
    density: Density
    prior: int  # its place among the priors
    heads: int
    tosses: int
    skewness: float


@dataclass
class LaplaceDensity(Study):
    """Gaussians at the modes of gamma densities or of beta posteriors (FCML 4.4.1)."""

    family: str = knob("gamma", "the density; beta: of a coin's bias", choices=tuple(DENSITIES))
    first: list[float] = knob([20.0, 2.0], "alpha of each density or prior", above=0)
    second: list[float] = knob([0.5, 100.0], "beta of each: of a gamma, the rate", above=0)
    heads: list[int] = knob(
        [], "beta: heads seen; every prior meets every count", may_be_empty=True
    )
    tosses: list[int] = knob([], "beta: tosses made", may_be_empty=True)

    def problems(self) -> "Iterator[str]":
        if len(self.first) != len(self.second):
            yield f"study.first={self.first}, study.second={self.second}: as many of each"
        elif len(self.heads) != len(self.tosses):
            yield f"study.heads={self.heads}, study.tosses={self.tosses}: as many of each"
        elif self.family == "gamma" and self.heads:
            yield "study.heads are for study.family=beta"
        elif any(not 0 <= y <= n for y, n in zip(self.heads, self.tosses, strict=True)):
            yield f"study.heads={self.heads}; allowed: from 0 to the tosses {self.tosses}"
        elif not all(
            a > 1 and (b > 1 or self.family == "gamma") for a, b, *_ in self._parameters()
        ):
            yield "a density without a mode inside; allowed: parameters (after the data) above 1"

    def _parameters(self) -> list[tuple[float, float, int, int, int]]:
        """Both parameters, the prior's place, heads and tosses of every case."""
        counts = list(zip(self.heads, self.tosses, strict=True)) or [(0, 0)]
        priors = zip(self.first, self.second, strict=True)
        return [(a + y, b + n - y, k, y, n) for k, (a, b) in enumerate(priors) for y, n in counts]

    def cases(self) -> list[Case]:
        """Every prior with every count of heads."""
        found = []
        for a, b, k, y, n in self._parameters():
            prior = f"{self.first[k]:g}_{self.second[k]:g}"
            name = f"{prior}_y_{y}_n_{n}" if self.heads else prior
            title = f"α = {self.first[k]:g}, β = {self.second[k]:g}"
            title += f", y = {y}, N = {n}" if self.heads else ""
            if self.family == "gamma":
                skewness = 2 / np.sqrt(a)
            else:
                skewness = 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a * b))
            found.append(Case(name, title, DENSITIES[self.family](a, b), k, y, n, abs(skewness)))
        return found

    def run(self, rng: Generator) -> Outcome:
        cases = self.cases()
        compared = [compare(case.density) for case in cases]
        distance = [result.total_variation for result in compared]
        pairs = list(combinations(range(len(cases)), 2))
        metrics: dict[str, Any] = {
            "formulas_agree": all(_formulas_agree(case.density) for case in cases),
            "error_grows_away_from_mode": all(_error_grows(case.density) for case in cases),
        }
        for case, result in zip(cases, compared, strict=True):
            metrics |= {
                f"mode_{case.name}": case.density.mode,
                f"laplace_variance_{case.name}": result.variance,
                f"variance_{case.name}": case.density.variance,
                f"mean_{case.name}": case.density.mean,
                f"total_variation_{case.name}": result.total_variation,
                f"mass_outside_{case.name}": result.outside,
            }
        if self.family == "gamma":
            metrics["first_is_best"] = bool(distance[0] == min(distance))
        if self.heads:
            r, (y, n) = 0.3, (np.arange(self.tosses[0] + 1), self.tosses[0])
            powers = r**y * (1 - r) ** (n - y)
            metrics |= {
                "improves_with_tosses": all(
                    (distance[i] > distance[j]) == (cases[i].tosses < cases[j].tosses)
                    for i, j in pairs
                    if cases[i].prior == cases[j].prior
                    and cases[i].heads * cases[j].tosses == cases[j].heads * cases[i].tosses
                ),
                "worse_when_skewed": all(
                    (distance[i] > distance[j]) == (cases[i].skewness > cases[j].skewness)
                    for i, j in pairs
                    if cases[i].prior == cases[j].prior and cases[i].tosses == cases[j].tosses
                ),
                "likelihood_as_printed_sums_to_one": bool(
                    np.isclose(sum(comb(int(k), n) * p for k, p in zip(y, powers, strict=True)), 1)
                ),
                "likelihood_sums_to_one": bool(
                    np.isclose(sum(comb(n, int(k)) * p for k, p in zip(y, powers, strict=True)), 1)
                ),
            }
        rows: dict[str, Any] = {"case": [case.name for case in cases], "total_variation": distance}
        rows["mode"] = [case.density.mode for case in cases]
        rows["laplace_variance"] = [result.variance for result in compared]
        rows["variance"] = [case.density.variance for case in cases]
        return Outcome(metrics, tables={"cases": rows}, arrays=self._curves(cases))

    def _curves(self, cases: list[Case]) -> dict[str, Any]:
        """Both densities, each (cases, points)."""
        y, p, q = [], [], []
        for case in cases:
            mode, variance = case.density.mode, -1 / case.density.curvature
            sd, (low, high) = np.sqrt(variance), case.density.support
            end = min(high, mode + 6 * sd)
            y.append(np.linspace(max(low, mode - 4.5 * sd), end, 301))
            with np.errstate(divide="ignore"):
                p.append(np.exp(case.density.log_p(y[-1])))
            q.append(np.exp(log_density_1d(y[-1], mode, variance)))
        return {"y": np.array(y), "p": np.array(p), "q": np.array(q)}

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        cases, arrays = self.cases(), outcome.arrays
        columns = min(len(cases), len(self.heads) or 2)
        figure, axes = grid(-(-len(cases) // columns), columns, 0.8)
        for ax, case, y, p, q in zip(
            axes.flat, cases, arrays["y"], arrays["p"], arrays["q"], strict=False
        ):
            ax.plot(y, p, color="C0", label=self.family)
            ax.plot(y, q, "--", color="C1", label="Laplace")
            ax.set_title(case.title.replace(", y", "\ny"))
            ax.set_ylim(0, None)
        spare(axes.flat[len(cases) :])
        for ax in axes[-1]:
            ax.set_xlabel("y" if self.family == "gamma" else "r")
        for ax in axes[:, 0]:
            ax.set_ylabel("density")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return {"densities": figure}


def _formulas_agree(density: Density) -> bool:
    """Mode and curvature against a search and a second difference of the log density."""
    sd = 1 / np.sqrt(-density.curvature)
    low, high = density.support
    bounds = max(low, density.mode - sd), min(high, density.mode + sd)
    top = minimize_scalar(lambda y: -float(density.log_p(np.array(y))), bounds=bounds)
    h = 1e-3 * sd
    around = density.log_p(density.mode + h * np.array([-1.0, 0.0, 1.0]))
    second = (around[0] - 2 * around[1] + around[2]) / h**2
    return bool(
        abs(top.x - density.mode) < 1e-3 * sd
        and np.isclose(second, density.curvature, rtol=1e-4, atol=0)
    )


def _error_grows(density: Density) -> bool:
    """Is the log of the Gaussian further off at greater distances, on either side of the mode?"""
    sd = 1 / np.sqrt(-density.curvature)
    room = min(
        1.0, (density.mode - density.support[0]) / sd, (density.support[1] - density.mode) / sd
    )
    far = room * np.array([0.2, 0.4, 0.6, 0.8])
    top = density.log_p(np.array(density.mode))
    error = [np.abs(density.log_p(density.mode + s * far * sd) - top + far**2 / 2) for s in (-1, 1)]
    return bool(np.all(np.diff(error, axis=-1) > 0))
