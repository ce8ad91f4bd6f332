"""The posterior of a regression as a Gaussian about its mode (FCML 4.4.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import grid
from experiments.studies.regression.regression_posterior import (
    RegressionPosterior,
    draw_classes,
    draw_lines,
    draw_probability,
    mode_and_laplace,
    plane,
)
from models.approximation.laplace import Laplace, expected_sigmoid
from models.classification.logistic import OnGrid, Posterior, log_g, predict, quadrature
from models.probability.gaussian import log_density
from models.regression import bayesian_regression
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("posterior", "predictive")


@dataclass
class LaplacePosterior(RegressionPosterior, Study):
    """Laplace approximation of a regression posterior against the exact one (FCML 4.4.2)."""

    samples: int = knob(1000, "weights sampled for a prediction", at_least=1, at_most=100_000)
    repetitions: int = knob(200, "predictions made anew", at_least=2, at_most=10_000)
    boundaries: int = knob(20, "boundaries to draw", at_least=1, at_most=1000)
    new: list[float] = knob([-3.0, 5.0], "attributes of a new object")
    show: list[str] = knob(["posterior"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if self.dimension != 2:
            yield f"the model has {self.dimension} weights; allowed: 2"
        elif len(self.new) != 2:
            yield f"study.new={self.new}; allowed: 2 numbers"
        if self.response != "binary" and "predictive" in self.show:
            yield "study.show=predictive needs study.response=binary"
        if self.samples * self.repetitions > 10_000_000:
            yield "study.samples times study.repetitions; allowed: <= 10000000"

    def run(self, rng: Generator) -> Outcome:
        posterior = self.posterior(rng)
        laplace = mode_and_laplace(posterior)
        mean, S = laplace.mean, laplace.covariance
        exact = quadrature(posterior, mean, 12 * np.sqrt(np.diag(S)))
        metrics = self._moments(laplace, exact) | self._ratios(posterior, laplace)
        if self.response == "real":
            metrics |= _conjugate(posterior, laplace)
        draws = rng.multivariate_normal(mean, S, (self.repetitions, self.samples))
        axis, points = plane()
        w1, w2 = (mean + np.linspace(-4, 6, 101)[:, None] * np.sqrt(np.diag(S))).T
        where = np.stack(np.meshgrid(w1, w2), axis=-1)
        arrays = {
            "X": posterior.X,
            "t": posterior.t,
            "w1": w1,
            "w2": w2,
            "log_g": log_g(posterior, where),
            "log_q": log_density(where, mean, S),
            "mode": mean,
        }
        if self.response == "binary":
            found, kept = self._predictions(posterior, laplace, exact, draws)
            metrics |= found
            arrays |= kept | {"axis": axis, "P": predict(draws[0], points)}
        return Outcome(metrics, arrays=arrays)

    def _moments(self, laplace: Laplace, exact: OnGrid) -> dict[str, Any]:
        """Mean, variances and evidence of the approximation and of the posterior itself."""
        mean = exact.probability @ exact.w
        centred = exact.w - mean
        S = (exact.probability[:, None] * centred).T @ centred
        found: dict[str, Any] = {
            "log_evidence": exact.log_evidence,
            "laplace_log_evidence": laplace.log_evidence,
            "covariance_12": S[0, 1],
            "laplace_covariance_12": laplace.covariance[0, 1],
        }
        for i in (0, 1):
            found |= {
                f"mean_{i + 1}": mean[i],
                f"laplace_mean_{i + 1}": laplace.mean[i],
                f"variance_{i + 1}": S[i, i],
                f"laplace_variance_{i + 1}": laplace.covariance[i, i],
            }
        return found

    def _ratios(self, posterior: Posterior, laplace: Laplace) -> dict[str, Any]:
        """How far log g is from its parabola, at a distance from the mode in all directions."""
        turn = np.linspace(0, 2 * np.pi, 120, endpoint=False)
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=-1) @ (
            np.linalg.cholesky(laplace.covariance).T
        )
        top = log_g(posterior, laplace.mean)
        error = {
            r: np.abs(log_g(posterior, laplace.mean + r * circle) - top + r**2 / 2).max()
            for r in (0.25, 0.5, 1.0, 2.0, 3.0)
        }
        grows = np.diff(list(error.values()))
        found: dict[str, Any] = {f"log_error_at_{r:g}_sd": value for r, value in error.items()}
        return found | {"error_grows_away_from_mode": bool(np.all(grows > 0))}

    def _predictions(
        self, posterior: Posterior, laplace: Laplace, exact: OnGrid, draws: Floats
    ) -> tuple[dict[str, Any], dict[str, Floats]]:
        """P(T = 1) of the new object and over the plane, by point estimate and by averaging."""
        new = np.array(self.new)
        a, variance = laplace.mean @ new, new @ laplace.covariance @ new
        _, points = plane()
        spread = np.einsum("pi,ij,pj->p", points, laplace.covariance, points)
        averaged = expected_sigmoid(points @ laplace.mean, spread)
        point = predict(laplace.mean[None], points)
        sampled = np.array([predict(w, new[None])[0] for w in draws])
        lines = draws[0][: self.boundaries]
        wrong = ((posterior.X @ lines.T > 0) != posterior.t[:, None]).mean(0)
        near = np.min(np.linalg.norm(points[:, None] - posterior.X, axis=-1), axis=-1)
        lost = np.abs(point - 0.5) - np.abs(averaged - 0.5)  # certainty, by averaging
        # Along a straight contour of the point estimate the average is not constant: it is curved.
        inside = np.abs(point - 0.9) < 0.02
        metrics = {
            "point_probability_at_new": float(predict(laplace.mean[None], new[None])[0]),
            "laplace_probability_at_new": float(expected_sigmoid(a[None], variance[None])[0]),
            "exact_probability_at_new": float(
                exact.probability @ predict_each(exact.w, new, self.response)
            ),
            "nearer_half_than_point_estimate": bool(np.all(lost > -1e-12)),
            "probability_range_along_a_contour": float(np.ptp(averaged[inside])),
            "certainty_lost_within_1_of_data": float(lost[near < 1].mean()),
            "certainty_lost_beyond_2_of_data": float(lost[near > 2].mean()),
            "loses_least_near_data": bool(lost[near < 1].mean() < lost[near > 2].mean()),
            "mean_error_of_boundaries": float(wrong.mean()),
            "share_of_boundaries_new_is_class_1": float((lines @ new > 0).mean()),
            "boundaries_disagree_on_new": bool(0 < (lines @ new > 0).mean() < 1),
        }
        return metrics, {"sampled_probability_at_new": sampled, "lines": lines}

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {"posterior": self._posterior, "predictive": self._predictive}
        return {name: draws[name](outcome) for name in self.show}

    def _posterior(self, outcome: Outcome) -> "Figure":
        arrays = outcome.arrays
        figure, axes = grid(1, 2, 0.95, sharex=True, sharey=True)
        levels = np.array(
            [-8.0, -4.5, -2.0, -0.5]
        )  # below the mode: 4, 3, 2, 1 standard deviations
        w1, w2, q, g = (arrays[name] for name in ("w1", "w2", "log_q", "log_g"))
        for ax in axes[0]:
            ax.contour(w1, w2, q - q.max(), levels=levels, colors="C0", linestyles="solid")
            ax.plot(*arrays["mode"], "+", color="black", markersize=9)
            ax.set(xlabel="$w_1$")
        axes[0, 1].contour(w1, w2, g - g.max(), levels=levels, colors="C1", linestyles="dashed")
        axes[0, 0].set(ylabel="$w_2$", title="Laplace approximation")
        axes[0, 1].set_title("with the unnormalised posterior")
        for label, look in (("Laplace", "C0"), ("posterior", "C1--")):
            axes[0, 1].plot([], [], look, label=label)
        axes[0, 1].plot([], [], "+", color="black", label="mode")
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    def _predictive(self, outcome: Outcome) -> "Figure":
        arrays = outcome.arrays
        figure, axes = grid(1, 2, 1.02)
        draw_lines(axes[0, 0], arrays["lines"], color="0.45", linewidth=0.8)
        draw_probability(axes[0, 1], arrays["axis"], arrays["P"])
        for ax in axes[0]:
            draw_classes(ax, arrays["X"], arrays["t"])
            ax.plot(*self.new, "*", color="black", markersize=9, clip_on=False, label="new object")
        axes[0, 0].set_title(f"{len(arrays['lines'])} sampled boundaries")
        axes[0, 1].set_title("P(T = 1 | x), averaged")
        figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return figure


def predict_each(w: Floats, x: Floats, response: str) -> Floats:
    """The response expected at one x (D,) under each of the weights (G, D)."""
    return predict(x[None], w, response)  # the roles of x and w in w^T x may be exchanged


def _conjugate(posterior: Posterior, laplace: Laplace) -> dict[str, Any]:
    """The exact Gaussian posterior of a linear regression with unit noise."""
    zero, prior = np.zeros(2), posterior.sigma2 * np.eye(2)
    true = bayesian_regression.posterior(posterior.X, posterior.t, 1.0, zero, prior)
    mean = np.abs(laplace.mean - true.mean).max()
    covariance = np.abs(laplace.covariance - true.covariance).max()
    return {
        "mean_difference": float(mean),
        "covariance_difference": float(covariance),
        "equals_true_posterior": bool(max(mean, covariance) < 1e-10),
    }
