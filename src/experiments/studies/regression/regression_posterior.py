"""A regression whose posterior has no closed form (FCML 4.2): what three studies share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.study import knob
from models.approximation.laplace import Laplace, approximate
from models.classification.logistic import (
    RESPONSES,
    Posterior,
    gradient,
    hessian,
    log_g,
    newton_raphson,
)
from models.datasets import load
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes


@dataclass
class RegressionPosterior:
    """Knobs of the data and the prior. A base for studies."""

    data: str | None = knob(
        "fcml-logistic", "attributes and response; null: drawn from the model", dataset=True
    )
    response: str = knob("binary", "the kind of response", choices=tuple(RESPONSES))
    sigma2: float = knob(10.0, "variance of the prior of each weight", above=0)
    n: int = knob(50, "drawn data: their number, x = (1, N(0, 1), ...)", at_least=2, at_most=10_000)
    weights: list[float] = knob([0.5, 0.8], "drawn data: the true weights")

    def problems(self) -> "Iterator[str]":
        if self.data is None:
            return
        matrix = load(self.data).matrix
        if matrix.shape[1] < 2:
            yield f"study.data={self.data}; allowed: attributes and a response"
        elif self.response == "binary" and not set(np.unique(matrix[:, -1])) <= {0.0, 1.0}:
            yield f"study.data={self.data} has no binary response: its last column is not 0 and 1"
        elif self.response == "counts" and not np.all(
            (matrix[:, -1] >= 0) & (matrix[:, -1] == np.round(matrix[:, -1]))
        ):
            yield f"study.data={self.data} has no counts: its last column is not 0, 1, 2, ..."

    @property
    def dimension(self) -> int:
        """Weights of the model."""
        return len(self.weights) if self.data is None else load(self.data).matrix.shape[1] - 1

    def posterior(self, rng: Generator) -> Posterior:
        """The data, observed or drawn, with the prior."""
        if self.data is not None:
            matrix = load(self.data).matrix
            return Posterior(matrix[:, :-1], matrix[:, -1], self.sigma2, self.response)
        w = np.array(self.weights)
        X = np.column_stack([np.ones(self.n), rng.standard_normal((self.n, len(w) - 1))])
        mean = RESPONSES[self.response].mean(X @ w)
        draw = {
            "binary": lambda: (rng.random(self.n) < mean).astype(np.float64),
            "counts": lambda: rng.poisson(mean).astype(np.float64),
            "real": lambda: mean + rng.standard_normal(self.n),
        }
        return Posterior(X, draw[self.response](), self.sigma2, self.response)


def derivatives_agree(posterior: Posterior, w: Floats, h: float = 1e-5) -> bool:
    """Gradient and Hessian against central differences at points (R, D)."""
    steps = h * np.eye(w.shape[1])[:, None]  # (D, 1, D)
    slope = (log_g(posterior, w + steps) - log_g(posterior, w - steps)) / (2 * h)  # (D, R)
    turn = (gradient(posterior, w + steps) - gradient(posterior, w - steps)) / (2 * h)
    exact, curvature = gradient(posterior, w), hessian(posterior, w)
    return bool(
        np.allclose(slope.T, exact, rtol=1e-5, atol=1e-5 * np.abs(exact).max())
        and np.allclose(turn.swapaxes(0, 1), curvature, rtol=1e-5, atol=1e-6)
    )


def mode_and_laplace(posterior: Posterior) -> Laplace:
    """The Gaussian at the mode, found by climbing from the origin."""
    climb = newton_raphson(posterior, np.zeros((1, posterior.X.shape[1])), tol=1e-20)
    w = climb.path[-1, 0]
    return approximate(w, hessian(posterior, w), float(log_g(posterior, w)))


def plane(reach: float = 5.0, points: int = 51) -> tuple[Floats, Floats]:
    """An axis (P,) and the points of the square it spans, (P * P, 2)."""
    axis = np.linspace(-reach, reach, points)
    return axis, np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def draw_classes(ax: "Axes", X: Floats, t: Floats) -> None:
    """The two classes with the book's symbols."""
    ax.plot(*X[t == 0].T, "o", color="C0", markersize=4, clip_on=False, label="t = 0")
    ax.plot(*X[t == 1].T, "s", color="C1", markersize=4, clip_on=False, label="t = 1")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", xlim=(-5, 5), ylim=(-5, 5))


def draw_probability(ax: "Axes", axis: Floats, P: Floats) -> None:
    """Contours of P(T = 1 | x) over the square, labelled."""
    lines = ax.contour(
        axis,
        axis,
        P.reshape(len(axis), -1),
        levels=[0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99],
        colors="0.25",
        linewidths=1,
    )
    ax.clabel(lines, fontsize=7, fmt="%g")


def draw_lines(ax: "Axes", w: Floats, **look: Any) -> None:
    """The lines w^T x = 0 of weights (S, 2)."""
    end = 10 * np.stack([-w[:, 1], w[:, 0]], axis=-1) / np.linalg.norm(w, axis=-1, keepdims=True)
    ax.plot(*np.stack([-end, end]).transpose(2, 0, 1), **look)
