"""The likelihood as a function of the weights: curvature and information (FCML 2.7.3, 2.9.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.labels import axis_names
from models.datasets import load
from models.regression.linear import least_squares, line, maximum_log_likelihood
from models.regression.linear_likelihood import (
    hessian,
    information,
    inverse,
    log_likelihood,
    sigma_curvature,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_ENTRIES = {"w_0": (0, 0), "w_0_w_1": (0, 1), "w_1": (1, 1)}


@dataclass
class LikelihoodSurface(Study):
    """Contours, Hessian, Fisher information and covariance of a line (FCML 2.7.3 and 2.9.1)."""

    data: str | None = knob(None, "regression data; their own noise variance is used", dataset=True)
    weights: list[float] = knob([-2.0, 3.0], "without data: w0 and w1 of the true line")
    n: int = knob(50, "without data: points in a data set", at_least=3, at_most=10_000)
    noise_variances: list[float] = knob(
        [1.0, 0.04], "without data: a data set for each, same inputs", above=0, distinct=True
    )
    sum_x: float | None = knob(None, "without data: shift and stretch the inputs to this sum")
    sum_xx: float | None = knob(None, "and to this sum of squares")
    repetitions: int = knob(1000, "inputs to draw for what could be printed", at_least=20)

    def problems(self) -> "Iterator[str]":
        if len(self.weights) != 2:
            yield f"study.weights={self.weights}; allowed: two numbers"
        if (self.sum_x is None) != (self.sum_xx is None):
            yield "study.sum_x and study.sum_xx are given together or not at all"
        least = (self.sum_x or 0.0) ** 2 / self.n
        if self.sum_xx is not None and self.sum_xx <= least:
            yield f"study.sum_xx={self.sum_xx:g}; allowed: > {least:g} with this sum and n"
        if self.data is not None and len(np.unique(load(self.data).xt[0])) < 3:
            yield f"study.data={self.data} has fewer than three different inputs"

    def run(self, rng: Generator) -> Outcome:
        metrics: dict[str, Scalar] = {}
        arrays: dict[str, Floats] = {}
        if self.data is not None:
            x, t = load(self.data).xt
            sets = [(t, least_squares(line(x), t).sigma2)]
            metrics |= _checks(line(x), t)
        else:
            x = self._inputs(rng)
            noise = rng.standard_normal((len(self.noise_variances), self.n))
            mean = line(x) @ np.array(self.weights)
            pairs = zip(noise, self.noise_variances, strict=True)
            sets = [(mean + np.sqrt(v) * e, v) for e, v in pairs]
            arrays |= self._possible(rng)
        # Contours over raw years are a ridge too thin to see: w0 is taken at the mean year instead.
        origin = float(x.mean()) if self.data is not None else 0.0
        seen = line(x - origin)
        widest = inverse(information(seen, max(v for _, v in sets)))
        sd = np.sqrt(np.diag(widest))
        axis = np.linspace(-3.5, 3.5, 101)
        found = []
        for k, (t, sigma2) in enumerate(sets):
            w_hat = least_squares(seen, t).w
            I = information(line(x), sigma2)
            found.append((I, inverse(I)))
            suffix = "" if self.data is not None else f"_noise_{sigma2:g}"
            for name, place in _ENTRIES.items():
                metrics[f"information_{name}{suffix}"] = float(I[place])
                kind = "covariance" if place[0] != place[1] else "variance"
                metrics[f"{kind}_{name}{suffix}"] = float(inverse(I)[place])
            centre = w_hat if self.data is not None else np.array(self.weights)
            w = np.stack(np.meshgrid(*(centre[:, None] + sd[:, None] * axis), indexing="ij"), -1)
            relative = log_likelihood(seen, t, w, sigma2) - log_likelihood(seen, t, w_hat, sigma2)
            arrays |= {f"t_{k}": t, f"w_{k}": w_hat, f"likelihood_{k}": np.exp(relative)}
            arrays |= {f"w_0_axis_{k}": centre[0] + sd[0] * axis}
            arrays |= {f"w_1_axis_{k}": centre[1] + sd[1] * axis}
        arrays |= {"x": x, "origin": np.array(origin)}
        metrics |= _signs(found, [v for _, v in sets])
        return Outcome(metrics, arrays=arrays)

    def _inputs(self, rng: Generator) -> Floats:
        x = np.sort(rng.uniform(0, 1, self.n))
        if self.sum_x is None or self.sum_xx is None:
            return x
        mean = self.sum_x / self.n
        spread = np.sqrt(self.sum_xx / self.n - mean**2)
        return np.asarray(mean + spread * (x - x.mean()) / x.std())

    def _possible(self, rng: Generator) -> dict[str, Floats]:
        """The information that other inputs, uniform between 0 and 1, would have given."""
        x = rng.uniform(0, 1, (self.repetitions, self.n))
        sums = {"w_0_w_1": x.sum(-1), "w_1": (x**2).sum(-1)}
        return {
            f"possible_information_{name}_noise_{v:g}": total / v
            for name, total in sums.items()
            for v in self.noise_variances
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        arrays = outcome.arrays
        x_name, t_name = axis_names(self.data)[:2] if self.data is not None else ("x", "t")
        count = sum(name.startswith("likelihood_") for name in arrays)
        figure, axes = grid(count, 2, 0.68)
        for k, (left, right) in enumerate(axes):
            left.plot(arrays["x"], arrays[f"t_{k}"], "o", color="C0", markersize=3.5)
            w = arrays[f"w_{k}"] if self.data is not None else np.array(self.weights)
            ends = arrays["x"][[0, -1]]
            name = "fitted line" if self.data is not None else "true line"
            height = w[0] + w[1] * (ends - arrays["origin"])
            left.plot(ends, height, color="black", label=name)
            left.set(xlabel=x_name, ylabel=t_name)
            left.legend()
            right.contour(
                arrays[f"w_0_axis_{k}"],
                arrays[f"w_1_axis_{k}"],
                arrays[f"likelihood_{k}"].T,
                levels=[0.01, 0.1, 0.3, 0.5, 0.7, 0.9],
                linewidths=1.2,
            )
            right.plot(*arrays[f"w_{k}"], "+", color="C1", markersize=9, label="maximum")
            w_0 = (
                "$w_0$" if self.data is None else f"line at the mean input, {arrays['origin']:.1f}"
            )
            right.set(xlabel=w_0, ylabel="$w_1$", title="likelihood over its maximum")
            right.legend()
            if self.data is None:
                left.set_title(f"noise variance {self.noise_variances[k]:g}")
        return {"likelihood": figure}


def _checks(X: Floats, t: Floats) -> dict[str, Scalar]:
    """The second derivatives at the maximum: signs, differences, and chapter 1's."""
    fit = least_squares(X, t)
    N, H = len(t), hessian(X, fit.sigma2)
    scale = np.sqrt(-np.diag(H))
    curvature = sigma_curvature(fit.residuals, fit.sigma2)
    loss = np.array([2.0, 2 * np.mean(X[:, 1] ** 2)])  # equation 1.9
    factors = np.diag(H) / loss

    def along_sigma(sigma: float) -> float:
        return float(log_likelihood(X, t, fit.w, sigma**2))

    sigma, h = np.sqrt(fit.sigma2), 1e-3 * np.sqrt(fit.sigma2)
    second = (along_sigma(sigma + h) - 2 * along_sigma(sigma) + along_sigma(sigma - h)) / h**2
    at_top = along_sigma(sigma)
    return {
        "largest_eigenvalue": float(np.linalg.eigvalsh(H)[-1]),
        # Scaling rows and columns alike keeps the signs of the eigenvalues, and more digits.
        "hessian_negative_definite": bool(np.linalg.eigvalsh(H / np.outer(scale, scale))[-1] < 0),
        "sigma_curvature": curvature,
        "sigma_curvature_is_minus_2n": bool(np.isclose(curvature, -2 * N / fit.sigma2, rtol=1e-9)),
        "sigma_curvature_by_differences": bool(np.isclose(second, curvature, rtol=1e-4)),
        "curvature_factor_w_0": float(factors[0]),
        "curvature_factor_w_1": float(factors[1]),
        "proportional_to_loss_curvature": bool(np.ptp(factors) < 1e-9 * abs(factors[0])),
        "maximum_is_closed_form": bool(
            np.isclose(at_top, maximum_log_likelihood(fit.sigma2, N), rtol=1e-9)
        ),
    }


def _signs(found: list[tuple[Floats, Floats]], noise: list[float]) -> dict[str, Scalar]:
    """Information and covariance: inverses of each other, and both with positive diagonals."""
    (I, C), quiet = found[0], int(np.argmin(noise))
    metrics: dict[str, Scalar] = {
        "covariance_is_inverse": bool(np.allclose(I @ C, np.eye(2), atol=1e-6)),
        "covariance_is_negative_inverse": bool(np.allclose(I @ C, -np.eye(2), atol=1e-6)),
    }
    if len(found) > 1:
        loud = int(np.argmax(noise))
        gains = np.diag(found[quiet][0]) - np.diag(found[loud][0])
        losses = np.diag(found[quiet][1]) - np.diag(found[loud][1])
        metrics |= {
            "less_noise_more_information": bool(np.all(gains > 0)),
            "less_noise_less_variance": bool(np.all(losses < 0)),
            "more_information_is_more_negative": bool(np.all(gains < 0)),
            "information_ratio": float(found[quiet][0][0, 0] / found[loud][0][0, 0]),
        }
    return metrics
