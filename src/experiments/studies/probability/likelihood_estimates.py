"""Maximum likelihood in closed form, and the information in an observation (FCML 2.11)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from scipy.special import xlog1py, xlogy

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.datasets import load
from models.probability.distributions import bernoulli_information, bernoulli_scores
from models.probability.gaussian import (
    Gaussian,
    estimate,
    log_likelihood,
    mean_information,
    mean_scores,
)
from models.regression.linear import least_squares, line
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class LikelihoodEstimates(Study):
    """Estimates against other parameters, information against scores (FCML EX 2.8-2.14)."""

    q: list[float] = knob(
        [0.1, 0.3, 0.5, 0.7, 0.9], "Bernoulli parameters", above=0, below=1, distinct=True
    )
    mean: list[float] = knob([1.0, -2.0, 0.5], "mean of the Gaussian")
    variances: list[float] = knob([1.0, 2.0, 0.5], "its variances", above=0)
    correlation: float = knob(0.4, "between any two of its components", at_least=0, below=1)
    n: int = knob(50, "observations in a sample", at_least=10, at_most=100_000)
    trials: int = knob(500, "other parameters that are tried", at_least=10, at_most=10_000)
    scores: int = knob(20_000, "observations for the covariance of the score", at_least=1000)
    data: str = knob("olympics-100m-men", "data for the two forms of the noise", dataset=True)

    def problems(self) -> "Iterator[str]":
        if len(self.mean) != len(self.variances):
            yield f"study.variances={self.variances}; allowed: {len(self.mean)}, as in study.mean"
        if self.n <= len(self.mean):
            yield f"study.n={self.n}; allowed: > {len(self.mean)}, the dimensions"

    def run(self, rng: Generator) -> Outcome:
        metrics, arrays = self._bernoulli(rng)
        sd = np.sqrt(self.variances)
        C = np.where(np.eye(len(sd)) > 0, 1.0, self.correlation) * np.outer(sd, sd)
        truth = Gaussian(np.array(self.mean), C)
        X = rng.multivariate_normal(*truth, self.n, method="cholesky")
        metrics |= {
            "gaussian_estimate_is_maximum": self._gaussian_is_maximum(X[:, :1], rng),
            "multivariate_estimate_is_maximum": self._gaussian_is_maximum(X, rng),
        }
        draws = rng.multivariate_normal(*truth, self.scores, method="cholesky")
        scores = mean_scores(draws, *truth)
        found, theory = scores.T @ scores / len(scores), mean_information(truth.covariance)
        sizes = np.diag(theory)
        error = np.sqrt((np.outer(sizes, sizes) + theory**2) / len(scores))
        metrics["mean_information_is_inverse_covariance"] = bool(
            np.all(np.abs(found - theory) < 4.5 * error)
        )
        metrics |= _two_forms(*load(self.data).xt)
        return Outcome(metrics, arrays=arrays)

    def _bernoulli(self, rng: Generator) -> tuple[dict[str, Scalar], dict[str, Floats]]:
        q = np.array(self.q)
        x = (rng.uniform(size=(len(q), self.n)) < q[:, None]).astype(np.float64)
        ones, axis = x.sum(-1), np.linspace(0, 1, 1001)
        likelihood = xlogy(ones[:, None], axis) + xlog1py(self.n - ones[:, None], -axis)
        best = xlogy(ones, ones / self.n) + xlog1py(self.n - ones, -ones / self.n)
        # E{-d^2 ln P / dq^2} over the two outcomes, and the mean squared score of many tosses
        expected = q * (1 / q**2) + (1 - q) * (1 / (1 - q) ** 2)
        theory = bernoulli_information(q)
        tosses = (rng.uniform(size=(len(q), self.scores)) < q[:, None]).astype(np.float64)
        squares = bernoulli_scores(tosses, q[:, None]) ** 2
        sampled = squares.mean(-1)
        error = squares.std(-1) / np.sqrt(self.scores)
        metrics: dict[str, Scalar] = {
            "bernoulli_estimate_is_maximum": bool(np.all(best[:, None] >= likelihood - 1e-9)),
            "bernoulli_information_is_expected_curvature": bool(np.allclose(expected, theory)),
            "bernoulli_information_is_mean_squared_score": bool(
                np.all(np.abs(sampled - theory) <= 4.5 * error + 1e-9)
            ),
        }
        metrics |= {f"information_q_{value:g}": i for value, i in zip(q, theory, strict=True)}
        show = int(np.argmin(np.abs(q - 0.3)))
        inside = slice(20, -20)
        arrays = {"q": q, "sampled_information": sampled, "axis": axis[inside]}
        arrays |= {"information": bernoulli_information(axis[inside])}
        arrays |= {"log_likelihood": likelihood[show][inside] - best[show]}
        return metrics, arrays | {"estimate": np.array(ones[show] / self.n)}

    def _gaussian_is_maximum(self, X: Floats, rng: Generator) -> bool:
        """No mean and covariance near or far make the sample X (N, D) more likely."""
        best, D = estimate(X), X.shape[1]
        root = np.linalg.cholesky(best.covariance)
        step = np.geomspace(1e-3, 1, self.trials)[:, None]
        shifts = rng.standard_normal((self.trials, D))
        turns = rng.standard_normal((self.trials, D, D))
        means = best.mean + step * shifts @ root.T
        roots = root @ (np.eye(D) + step[..., None] * turns)
        others = log_likelihood(X, means, roots @ np.swapaxes(roots, -1, -2))
        return bool(np.all(others < log_likelihood(X, *best)))

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, axes = panels(1, 2)
        axes[0].plot(arrays["axis"], arrays["log_likelihood"])
        share = float(arrays["estimate"])
        axes[0].axvline(share, color="C1", linestyle="--", label=f"share of ones, {share:.2f}")
        axes[0].set(xlabel="q", ylabel="log likelihood, less its maximum")
        axes[0].set_ylim(-0.6 * self.n, 0.05 * self.n)
        axes[1].plot(arrays["axis"], arrays["information"], label="1 / (q (1 - q))")
        axes[1].plot(arrays["q"], arrays["sampled_information"], "o", label="mean squared score")
        axes[1].set(xlabel="q", ylabel="information of q in one toss")
        axes[1].set_ylim(0, 20)
        for ax in axes:
            ax.legend(loc="lower center" if ax is axes[0] else "upper center")
        return {"likelihood": figure}


def _two_forms(x: Floats, t: Floats) -> dict[str, Scalar]:
    """The noise variance by products (2.37), and as the mean squared residual (2.35)."""
    fit = least_squares(line(x), t)
    products = float(t @ t - t @ (line(x) @ fit.w)) / len(t)
    return {
        "noise_variance": fit.sigma2,
        "noise_variance_by_products": products,
        "two_forms_agree": bool(np.isclose(products, fit.sigma2, rtol=1e-8)),
    }
