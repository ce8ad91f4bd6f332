"""Variational PCA when values are missing: uncertainty, prediction, two treatments (FCML 7.6)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.latent.principal_components import HiddenClusters, scatter
from experiments.studies.latent.variational_pca import confusion, path_never_falls
from models.latent.variational_ppca import Posterior, Treatment, VariationalFit, fit, predict
from models.probability.gaussian import log_density_1d
from models.types import Bools, Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

TREATMENTS = {"switches": "left out", "latent": "as latent variables"}
CASES = ("both seen", "$y_2$ missing", "both missing")  # objects 0, 1 and 2, in the first cluster


class _Problem(NamedTuple):
    Y: Floats  # (R, N, M) centred by what was seen
    seen: Floats  # (R, N, M) one or zero


@dataclass
class MissingValues(HiddenClusters, Study):
    """Remove values at random; three objects of one cluster lose none, one or both that matter."""

    probabilities: list[float] = knob(
        [0.05], "probabilities that a value is missing", at_least=0, below=1, distinct=True
    )
    treatments: list[str] = knob(
        ["switches"], "what becomes of missing values", choices=tuple(TREATMENTS), distinct=True
    )
    as_printed: bool = knob(False, "use the f of the text, without y_nm")

    def rules(self) -> "Iterator[str]":
        if self.n_each < 4 or len(self.centres) < 2 or len(self.centres[0]) != 2:
            yield "study.centres, study.n_each; allowed: clusters in two variables, 4 objects each"
        if sorted(self.probabilities) != self.probabilities:
            yield f"study.probabilities={self.probabilities}; allowed: rising numbers"

    def run(self, rng: Generator) -> Outcome:
        whole = self.objects(rng)
        uniform = rng.random(whole.shape)
        seed = int(rng.integers(2**32))
        fits: dict[tuple[str, float], VariationalFit] = {}
        problems = {p: self._remove(whole, uniform, p) for p in self.probabilities}
        for p, problem in problems.items():
            for treatment in self.treatments:
                fits[treatment, p] = self._fit(problem, treatment, seed)
        first = self.treatments[0], self.probabilities[0]
        q, shown = fits[first].q, problems[first[1]]
        complete = self._fit(
            _Problem(whole - whole.mean(1, keepdims=True), np.ones(whole.shape)),
            self.treatments[0],
            seed,
        ).q
        metrics = self._three_objects(q)
        before, after = confusion(complete.mu_x, self.labels), confusion(q.mu_x, self.labels)
        metrics |= {
            "bound_never_falls": all(path_never_falls(found.bound) for found in fits.values()),
            "confusion_complete": float(before.mean()),
            "confusion_missing": float(after.mean()),
            "less_distinct_than_complete": bool(after.mean() > before.mean()),
        }
        mean, variance = predict(q)
        gaps = {}
        for prob in self.probabilities:
            scores = {t: _score(problems[prob], fits[t, prob].q, t) for t in self.treatments}
            metrics |= {f"score_{t}_{prob:g}": value for t, value in scores.items()}
            if len(scores) == 2:
                gaps[prob] = scores["switches"] - scores["latent"]
                metrics[f"advantage_of_switches_{prob:g}"] = gaps[prob]
        metrics |= self._treatments(fits, gaps)
        return Outcome(
            metrics,
            series={"advantage": Series(list(range(len(gaps))), list(gaps.values()))},
            arrays={
                "Y": shown.Y[0],
                "seen": shown.seen[0],
                "X": q.mu_x[0],
                "three_mean": q.mu_x[0, :3],
                "three_covariance": q.Sigma_x[0, :3],
                "predicted_mean": mean[:, 1, 1],
                "predicted_variance": variance[:, 1, 1],
                "volume": np.linalg.slogdet(q.Sigma_x[:, :3])[1],
            },
        )

    def _remove(self, whole: Floats, uniform: Floats, probability: float) -> _Problem:
        seen = (uniform >= probability).astype(float)
        seen[:, :3, :2] = [[1, 1], [1, 0], [0, 0]]
        mean = (whole * seen).sum(1, keepdims=True) / seen.sum(1, keepdims=True)
        return _Problem(whole - mean, seen)

    def _fit(self, problem: _Problem, treatment: str, seed: int) -> VariationalFit:
        return fit(
            problem.Y,
            problem.seen,
            2,
            np.random.default_rng(seed),
            treatment=cast("Treatment", treatment),
            as_printed=self.as_printed,
        )

    def _three_objects(self, q: Posterior) -> dict[str, Scalar]:
        volume = np.linalg.slogdet(q.Sigma_x[:, :3])[1]  # (R, 3)
        norm = np.linalg.norm(q.mu_x[:, :3], axis=2).mean(axis=0)
        # Between the groups that differ in y_2 alone: 0 at its own group, 1 at the other.
        other = self._partner()
        groups = [q.mu_x[:, self.labels == k].mean(axis=1) for k in (0, other)]
        line = groups[1] - groups[0]
        place = ((q.mu_x[:, 1] - groups[0]) * line).sum(axis=1) / (line**2).sum(axis=1)
        return {
            "uncertainty_grows": bool((np.diff(volume, axis=1) > 0).all()),
            "place_between_groups": float(place.mean()),
            "halfway_between_groups": bool(0.25 < place.mean() < 0.75),
            "distance_complete": float(norm[0]),
            "distance_both_missing": float(norm[2]),
            "both_missing_near_origin": bool(norm[2] < norm[0] / 2),
        }

    def _partner(self) -> int:
        """The cluster that has the first variable of cluster 0 in common."""
        first = np.array(self.centres)
        apart = np.abs(first[:, 0] - first[0, 0])
        apart[0] = np.inf
        return int(np.argmin(apart))

    def _treatments(
        self, fits: dict[tuple[str, float], VariationalFit], gaps: dict[float, float]
    ) -> dict[str, Scalar]:
        found: dict[str, Scalar] = {}
        for treatment in self.treatments:
            Sigmas = [f.q.Sigma_x for (t, _), f in fits.items() if t == treatment]
            same = all(float(np.abs(S - S[:, :1]).max()) < 1e-12 for S in Sigmas)
            found[f"one_covariance_for_all_{treatment}"] = same
            found[f"own_covariances_{treatment}"] = not same
        values = list(gaps.values())
        if len(values) > 1:
            found["advantage_grows_with_missing"] = all(a < b for a, b in pairwise(values))
        return found

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import contour, grid

        figure, axes = grid(1, 3, 0.95)
        scatter(axes[0, 0], outcome.arrays["Y"], self.labels)
        axes[0, 0].set(xlabel="$y_1$", ylabel="$y_2$", title="Values before removal")
        for ax in axes[0, 1:]:
            scatter(ax, outcome.arrays["X"], self.labels)
            ax.set(xlabel=r"$\langle x_1 \rangle$", ylabel=r"$\langle x_2 \rangle$")
        axes[0, 1].set_title("Posterior means")
        axes[0, 2].set_title("Uncertainty of three objects")
        for line in axes[0, 2].lines:
            line.set(alpha=0.25)
        moments = zip(outcome.arrays["three_mean"], outcome.arrays["three_covariance"], strict=True)
        for i, (mean, covariance) in enumerate(moments):
            contour(axes[0, 2], mean, covariance, "k", linestyle=("-", "--", ":")[i])
            axes[0, 2].lines[-2].set_label(CASES[i])
        figure.legend(*axes[0, 2].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figures = {"missing": figure}
        if len(self.treatments) == 2:
            figures = {"treatments": self._draw_treatments(outcome)} | figures
        return figures

    def _draw_treatments(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import SYMBOLS

        figure, ax = panels()
        for i, treatment in enumerate(self.treatments):
            scores = [outcome.metrics[f"score_{treatment}_{p:g}"] for p in self.probabilities]
            label = f"missing values {TREATMENTS[treatment]}"
            ax.plot(self.probabilities, scores, marker=SYMBOLS[i], label=label)
        ax.set(xlabel="Probability that a value is missing")
        ax.set(ylabel="Log density of missing values, per object")
        ax.legend()
        return figure


def _score(problem: _Problem, q: Posterior, treatment: str) -> float:
    """Log density of the removed values under what the treatment says of them, per object."""
    mean, variance = predict(q)
    if treatment == "latent":  # the factor of a missing value, 7.6.1
        variance = np.broadcast_to((1 / q.tau)[:, None, None], mean.shape)
    removed: Bools = problem.seen == 0
    total = log_density_1d(problem.Y[removed], mean[removed], variance[removed]).sum()
    return float(total / np.prod(mean.shape[:2]))
