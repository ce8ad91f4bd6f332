"""The loss and the likelihood of a line as functions of its weights (FCML 1.3, 2.7.3, 2.9.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.datasets import load
from bythebook.models.regression import linear_likelihood as likelihood
from bythebook.models.regression import matrix_rules
from bythebook.models.regression.linear import least_squares, line
from bythebook.models.types import Floats


@dataclass
class LikelihoodSurface(Study):
    """Normal equations, gradients and curvature on data; information of a line (FCML 2.9.1)."""

    data: str | None = knob(
        None, "regression data; their own noise variance is used", dataset="regression"
    )
    favoured: int = knob(1, "with data: number of first points with another weight", at_least=1)
    favour: float = knob(1.0, "with data: their weight in the loss; the others have one", above=0)
    weights: list[float] = knob([-2.0, 3.0], "without data: w0 and w1 of the true line")
    n: int = knob(50, "without data: points in a data set", at_least=3, at_most=10_000)
    noise_variances: list[float] = knob(
        [1.0, 0.04], "without data: a data set for each, same inputs", above=0, distinct=True
    )
    sum_x: float | None = knob(None, "without data: shift and stretch the inputs to this sum")
    sum_xx: float | None = knob(None, "and to this sum of squares")
    repetitions: int = knob(100, "weights to try; without data: inputs to draw", at_least=20)
    show: str = knob("likelihood", "what to draw", choices=("likelihood", "lines"))

    def problems(self) -> Iterator[str]:
        if len(self.weights) != 2:
            yield f"study.weights={self.weights}; allowed: two numbers"
        if (self.sum_x is None) != (self.sum_xx is None):
            yield "study.sum_x and study.sum_xx are given together or not at all"
        least = (self.sum_x or 0.0) ** 2 / self.n
        if self.sum_xx is not None and self.sum_xx <= least:
            yield f"study.sum_xx={self.sum_xx:g}; allowed: > {least:g} with this sum and n"
        if self.data is None:
            if self.show == "lines":
                yield "study.show=lines needs study.data"
            return
        x, _ = load(self.data).xt
        if len(np.unique(x)) < 3:
            yield f"study.data={self.data} has fewer than three different inputs"
        if self.favoured >= len(x):
            yield f"study.favoured={self.favoured}; allowed: < {len(x)}, the points of {self.data}"

    def run(self, rng: Generator) -> Outcome:
        if self.data is not None:
            x, targets = load(self.data).xt
            noise = [least_squares(line(x), targets).sigma2]
            t, more = targets[None], self._least_squares(x, targets, rng)
            origin = float(x.mean())  # contours over raw years are a ridge too thin to see
        else:
            x, noise, origin = self._inputs(rng), self.noise_variances, 0.0
            e = np.sqrt(noise)[:, None] * rng.standard_normal((len(noise), self.n))
            t, more = line(x) @ np.array(self.weights) + e, self._information(x, rng)
        seen = line(x - origin)  # w0 is the line's value at the origin
        w_hat = np.array([least_squares(seen, row).w for row in t])
        centre = w_hat[0] if self.data is not None else np.array(self.weights)
        sd = np.sqrt(np.diag(likelihood.inverse(likelihood.information(seen, max(noise)))))
        grids = centre[:, None] + sd[:, None] * np.linspace(-3.5, 3.5, 101)
        w = np.stack(np.meshgrid(*grids, indexing="ij"), -1)
        surfaces = [
            likelihood.relative_likelihood(seen, row, w, best, v)
            for row, best, v in zip(t, w_hat, noise, strict=True)
        ]
        of, point = axis("noise_variance", noise), axis("point", len(x))
        return Outcome(
            inputs=point.of(x),
            targets=over(t, of, point),
            origin=origin,
            w_hat=over(w_hat, of, axis("weight", 2)),
            likelihood=over(surfaces, of, axis("w_0", grids[0]), axis("w_1", grids[1])),
            **more,
        )

    def _least_squares(self, x: Floats, t: Floats, rng: Generator) -> dict[str, object]:
        """Matrices of the normal equations, and derivatives at the solution, weighted or not."""
        X = line(x)
        fit, steps = least_squares(X, t), likelihood.normal_equations(X, t)
        identities = matrix_rules.identities(X, t, self.repetitions, rng)
        gradients = matrix_rules.gradients(self.repetitions, rng)
        nearby = rng.standard_normal((self.repetitions, 2)) * np.abs(fit.w)
        forms, tilts, curvatures = (
            check(X, t, self.repetitions, *rng.spawn(1))
            for check in (matrix_rules.losses, matrix_rules.slopes, matrix_rules.curvatures)
        )
        alphas = np.ones(len(t)), np.where(np.arange(len(t)) < self.favoured, self.favour, 1.0)
        w = np.stack([fit.w, likelihood.weighted_least_squares(X, t, alphas[1]).w])
        both = list(zip(w, alphas, strict=True))
        centred, times = line(x - x.mean()), axis("times", [0.25, 1.0, 4.0])
        searched = [likelihood.weights_by_search(centred, t, k * fit.sigma2) for k in times.values]
        H = likelihood.hessian_by_differences(X, t, fit.w, fit.sigma2)
        slopes = likelihood.sigma_slopes(X, t, fit.w, 2 * np.sqrt(fit.sigma2))
        loss, point = axis("loss", ["plain", "weighted"]), axis("point", len(t))
        side = axis("side", ["found", "printed"])  # by differences or the definition; as printed
        weight, other, trial = axis("weight", 2), axis("other", 2), axis("trial", self.repetitions)
        return {
            "gram": over(steps.gram, weight, other),
            "determinant": steps.determinant,  # of the Gram matrix
            "inverse": over(steps.inverse, weight, other),
            "pseudo_inverse": over(steps.pseudo, weight, point),
            "w_by_matrices": weight.of(steps.w),
            "w": over(w, loss, weight),  # by QR
            "errors": over(t - w @ X.T, loss, point),
            "average_loss": loss.of([likelihood.average_loss(X, t, v, a) for v, a in both]),
            "gradient": over([likelihood.loss_gradient(X, t, v, a) for v, a in both], loss, weight),
            "nearby_loss": over(
                [likelihood.average_loss(X, t, v + nearby, a) for v, a in both], loss, trial
            ),
            "identity_gap": _gaps("identity", identities),
            "product": over(
                identities["example of a product"], side, axis("row", [1, 2]), axis("column", 3)
            ),
            "rule_gradient": over(
                list(gradients.values()), axis("rule", list(gradients)), side, trial, axis("of", 3)
            ),
            "loss_form": over(list(forms.values()), axis("form", list(forms)), side, trial),
            "slope": over(list(tilts.values()), axis("formula", list(tilts)), side, trial),
            "curvature_gap": _gaps("second", curvatures),
            "w_by_search": over([(a - b * x.mean(), b) for a, b in searched], times, weight),
            "hessian": over(likelihood.hessian(X, fit.sigma2), weight, other),
            "hessian_by_differences": over(H, weight, other),
            "scaled_eigenvalues": weight.of(likelihood.scaled_eigenvalues(H)),
            "sigma_curvature": likelihood.sigma_curvature(fit.residuals, fit.sigma2),
            "sigma_curvature_by_differences": likelihood.sigma_curvature_by_differences(
                X, t, fit.w, fit.sigma2
            ),
            "sigma_slope": axis("derivative", list(slopes)).of(list(slopes.values())),
        }

    def _inputs(self, rng: Generator) -> Floats:
        x = np.sort(rng.uniform(0, 1, self.n))
        if self.sum_x is None or self.sum_xx is None:
            return x
        mean = self.sum_x / self.n
        spread = np.sqrt(self.sum_xx / self.n - mean**2)
        return np.asarray(mean + spread * (x - x.mean()) / x.std())

    def _information(self, x: Floats, rng: Generator) -> dict[str, object]:
        """Information for each noise variance, and its sums for other inputs."""
        I = np.array([likelihood.information(line(x), v) for v in self.noise_variances])
        C = np.array([likelihood.inverse(matrix) for matrix in I])
        possible = rng.uniform(0, 1, (self.repetitions, self.n))
        axes = axis("noise_variance", self.noise_variances), axis("weight", 2), axis("other", 2)
        draw = axis("draw", self.repetitions)
        return {
            "information": over(I, *axes),
            "covariance": over(C, *axes),
            "information_times_covariance": over(I @ C, *axes),
            "possible_sum_x": draw.of(possible.sum(-1)),
            "possible_sum_xx": draw.of((possible**2).sum(-1)),
        }


def _gaps(name: str, sides: matrix_rules.Sides) -> Quantity:
    """Largest difference of the sides of each equation, relative to the largest number."""
    gaps = [np.abs(a - b).max() / np.abs(a).max() for a, b in sides.values()]
    return axis(name, list(sides)).of(gaps)
