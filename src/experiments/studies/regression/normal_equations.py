"""Least squares by hand: every matrix on the way, and the identities behind it (FCML 1.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.datasets import load
from models.regression.linear import least_squares, line
from models.regression.linear_likelihood import (
    average_loss,
    loss_gradient,
    normal_equations,
    weighted_least_squares,
)
from models.types import Floats


@dataclass
class NormalEquations(Study):
    """A line by the normal equations, step by step, and with weighted points (FCML 1.3)."""

    data: str = knob("fcml-toy-regression", "the regression data", dataset=True)
    trials: int = knob(100, "random weights and matrices to try", at_least=1, at_most=10_000)
    favoured: int = knob(1, "the first so many points get the favour", at_least=1)
    favour: float = knob(100.0, "their weight in the loss; the others have one", above=0)

    def problems(self) -> Iterator[str]:
        rows = len(load(self.data).matrix)
        if self.favoured >= rows:
            yield f"study.favoured={self.favoured}; allowed: < {rows}, the points of {self.data}"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        X = line(x)
        steps = normal_equations(X, t)
        identities, gradients = _identities(X, t, self.trials, rng), _gradients(self.trials, rng)
        weights = np.ones(len(t)), np.where(np.arange(len(t)) < self.favoured, self.favour, 1.0)
        w = np.stack([least_squares(X, t).w, weighted_least_squares(X, t, weights[1]).w])
        both = list(zip(w, weights, strict=True))
        nearby = rng.standard_normal((self.trials, 2)) * np.abs(w[0])
        loss, point = axis("loss", ["plain", "weighted"]), axis("point", len(t))
        weight, other, trial = axis("weight", 2), axis("other", 2), axis("trial", self.trials)
        grid = axis("x", np.linspace(x.min(), x.max(), 50))
        return Outcome(
            inputs=point.of(x),
            targets=point.of(t),
            gram=over(steps.gram, weight, other),
            determinant=steps.determinant,  # of the Gram matrix
            inverse=over(steps.inverse, weight, other),
            pseudo_inverse=over(steps.pseudo, weight, point),
            w_by_matrices=weight.of(steps.w),
            w=over(w, loss, weight),  # by QR
            errors=over(t - w @ X.T, loss, point),
            average_loss=loss.of([average_loss(X, t, v, alpha) for v, alpha in both]),
            gradient=over([loss_gradient(X, t, v, alpha) for v, alpha in both], loss, weight),
            nearby_loss=over(
                [average_loss(X, t, v + nearby, alpha) for v, alpha in both], loss, trial
            ),
            identity_gap=axis("identity", list(identities)).of(list(identities.values())),
            gradient_gap=axis("rule", list(gradients)).of(list(gradients.values())),
            curve=over([line(grid.values) @ v for v in w], loss, grid),
        )


def _identities(X: Floats, t: Floats, trials: int, rng: Generator) -> dict[str, float]:
    """FCML exercises 1.3 to 1.5 at random weights: how far the sides are apart, relatively."""
    W = rng.standard_normal((trials, 2))
    sums = np.array([X[:, 0] @ X[:, 0], 2 * X[:, 0] @ X[:, 1], X[:, 1] @ X[:, 1]])
    products = np.stack([W[:, 0] ** 2, W[:, 0] * W[:, 1], W[:, 1] ** 2], axis=-1)
    outer = sum((np.outer(x, x) for x in X), np.zeros((2, 2)))
    sides = {
        "quadratic form": (np.einsum("si,ij,sj->s", W, X.T @ X, W), products @ sums),  # 1.3
        "transpose": ((X @ W.T).T, W @ X.T),  # 1.4
        "inputs times targets": ((X * t[:, None]).sum(0), X.T @ t),  # 1.5
        "outer products": (outer @ W.T, X.T @ X @ W.T),  # 1.5
    }
    return {name: float(np.abs(a - b).max() / np.abs(a).max()) for name, (a, b) in sides.items()}


def _gradients(trials: int, rng: Generator) -> dict[str, float]:
    """FCML Table 1.4 at random matrices C and vectors w, z, by central differences."""
    C = rng.standard_normal((trials, 3, 3))
    w, z = rng.standard_normal((2, trials, 3))
    symmetric = C + np.swapaxes(C, -1, -2)
    h = 1e-5 * np.eye(3)[:, None]  # exact for a quadratic, but for rounding

    def form(w: Floats, A: Floats) -> Floats:
        return np.asarray(np.einsum("...si,sij,...sj->...s", w, A, w))

    up, down = w + h, w - h
    rules = {
        "linear": ((up * z).sum(-1), (down * z).sum(-1), z),
        "square": ((up**2).sum(-1), (down**2).sum(-1), 2 * w),
        "symmetric form": (form(up, symmetric), form(down, symmetric), 2 * np.matvec(symmetric, w)),
        "any form": (form(up, C), form(down, C), 2 * np.matvec(C, w)),
    }
    return {k: float(np.abs((f - g).T / 2e-5 - rule).max()) for k, (f, g, rule) in rules.items()}
