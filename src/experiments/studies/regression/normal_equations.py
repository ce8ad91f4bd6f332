"""Least squares by hand: every matrix on the way, and the identities behind it (FCML 1.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.labels import axis_names
from models.datasets import load
from models.regression.linear import least_squares, line
from models.regression.linear_likelihood import (
    average_loss,
    loss_gradient,
    normal_equations,
    weighted_least_squares,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_CLOSE = 1e-9  # relative, for identities that hold exactly on paper


@dataclass
class NormalEquations(Study):
    """A line by the normal equations, step by step, and with weighted points (FCML 1.3)."""

    data: str = knob("fcml-toy-regression", "the regression data", dataset=True)
    trials: int = knob(100, "random weights and matrices to try", at_least=1, at_most=10_000)
    favoured: int = knob(1, "the first so many points get the favour", at_least=1)
    favour: float = knob(100.0, "their weight in the loss; the others have one", above=0)

    def problems(self) -> "Iterator[str]":
        rows = len(load(self.data).matrix)
        if self.favoured >= rows:
            yield f"study.favoured={self.favoured}; allowed: < {rows}, the points of {self.data}"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        X = line(x)
        steps = normal_equations(X, t)
        fit = least_squares(X, t)
        alpha = np.where(np.arange(len(t)) < self.favoured, self.favour, 1.0)
        weighted = weighted_least_squares(X, t, alpha)
        metrics: dict[str, Scalar] = {"determinant": steps.determinant}
        metrics |= _entries("gram", steps.gram)
        metrics |= _entries("adjugate", steps.inverse * steps.determinant)
        if len(t) <= 5:  # as many as one writes out by hand
            metrics |= _entries("scaled_pseudo_inverse", steps.pseudo * steps.determinant)
        metrics |= {f"w_{i}": w for i, w in enumerate(steps.w)}
        metrics["same_weights_as_qr"] = bool(np.allclose(steps.w, fit.w, rtol=1e-6, atol=0))
        metrics |= _identities(X, t, self.trials, rng)
        metrics |= _minima(X, t, fit.w, weighted.w, alpha, self.trials, rng)
        favoured = slice(0, self.favoured)
        metrics |= {f"weighted_w_{i}": w for i, w in enumerate(weighted.w)}
        metrics["favoured_points_fit_better"] = bool(
            np.sum((t - X @ weighted.w)[favoured] ** 2) < np.sum(fit.residuals[favoured] ** 2)
        )
        grid = np.linspace(x.min(), x.max(), 50)
        arrays = {"x": x, "t": t, "grid": grid, "alpha": alpha}
        arrays |= {"plain": line(grid) @ fit.w, "weighted": line(grid) @ weighted.w}
        return Outcome(metrics, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        names, arrays = axis_names(self.data), outcome.arrays
        favoured = arrays["alpha"] != 1
        figure, ax = panels()
        ax.plot(arrays["grid"], arrays["plain"], label="least squares")
        ax.plot(arrays["x"], arrays["t"], "o", color="black", label="data")
        if favoured.any():
            label = f"weight {self.favour:g} for the circled"
            ax.plot(arrays["grid"], arrays["weighted"], "--", color="C1", label=label)
            ring = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": "C1"}
            ax.plot(arrays["x"][favoured], arrays["t"][favoured], "o", **ring)
        ax.set(xlabel=names.x, ylabel=names.t)
        ax.legend()
        return {"lines": figure}


def _entries(name: str, A: Floats) -> dict[str, Scalar]:
    return {f"{name}_{i}_{j}": float(a) for (i, j), a in np.ndenumerate(A)}


def _same(a: Floats, b: Floats) -> bool:
    return bool(np.max(np.abs(a - b)) <= _CLOSE * np.max(np.abs(a)))


def _identities(X: Floats, t: Floats, trials: int, rng: Generator) -> dict[str, Scalar]:
    """FCML exercises 1.3 to 1.5 and Table 1.4, at random weights."""
    W = rng.standard_normal((trials, 2))
    sums = np.array([X[:, 0] @ X[:, 0], 2 * X[:, 0] @ X[:, 1], X[:, 1] @ X[:, 1]])
    products = np.stack([W[:, 0] ** 2, W[:, 0] * W[:, 1], W[:, 1] ** 2], axis=-1)
    quadratic = np.einsum("si,ij,sj->s", W, X.T @ X, W)
    C = rng.standard_normal((trials, 3, 3))
    v, z = rng.standard_normal((2, trials, 3))
    h = 1e-5 * np.eye(3)[:, None]  # central differences: exact for a quadratic, but for rounding

    def form(w: Floats, A: Floats) -> Floats:
        return np.asarray(np.einsum("...si,sij,...sj->...s", w, A, w))

    def slope(f: Floats, g: Floats) -> Floats:
        return ((f - g) / 2e-5).T

    symmetric = C + np.swapaxes(C, -1, -2)
    rises = slope(form(v + h, symmetric), form(v - h, symmetric))
    skewed = slope(form(v + h, C), form(v - h, C))
    linear = slope(((v + h) * z).sum(-1), ((v - h) * z).sum(-1))
    square = slope(((v + h) ** 2).sum(-1), ((v - h) ** 2).sum(-1))
    return {
        "quadratic_form_is_its_sums": _same(quadratic, products @ sums),  # exercise 1.3
        "transpose_reverses_products": _same((X @ W.T).T, W @ X.T),  # exercise 1.4
        "sum_of_x_t_is_product": _same(sum(x * y for x, y in zip(X, t, strict=True)), X.T @ t),
        "sum_of_outer_products_is_gram": _same(
            sum((np.outer(x, x) for x in X), np.zeros((2, 2))) @ W.T, X.T @ X @ W.T
        ),  # exercise 1.5
        "gradient_of_linear_is_x": bool(np.allclose(linear, z, rtol=0, atol=1e-7)),
        "gradient_of_square_is_2w": bool(np.allclose(square, 2 * v, rtol=0, atol=1e-7)),
        "gradient_of_form_is_2cw": bool(
            np.allclose(rises, 2 * np.einsum("sij,sj->si", symmetric, v), rtol=0, atol=1e-7)
        ),
        "gradient_of_any_form_is_2cw": bool(
            np.allclose(skewed, 2 * np.einsum("sij,sj->si", C, v), rtol=0, atol=1e-3)
        ),
    }


def _minima(
    X: Floats, t: Floats, w: Floats, v: Floats, alpha: Floats, trials: int, rng: Generator
) -> dict[str, Scalar]:
    """The gradients vanish at the solutions, and no other weights do better."""
    steps = rng.standard_normal((trials, 2)) * np.abs(w)
    total = len(t) * average_loss(X, t, w + steps)  # exercise 1.10: the total loss
    scale = np.abs(X.T @ t).max() / len(t)
    return {
        "gradient_vanishes": bool(np.max(np.abs(loss_gradient(X, t, w))) < _CLOSE * scale),
        "total_loss_has_same_minimum": bool(np.all(total > len(t) * average_loss(X, t, w))),
        "weighted_gradient_vanishes": bool(
            np.max(np.abs(loss_gradient(X, t, v, alpha))) < _CLOSE * scale * alpha.max()
        ),
        "weighted_loss_is_least": bool(
            np.all(average_loss(X, t, v + steps, alpha) > average_loss(X, t, v, alpha))
        ),
    }
