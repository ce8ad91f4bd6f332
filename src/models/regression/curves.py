r"""Noisy curves: data sets drawn about a known function, and the loss of a fit on new data.

    t_n = h(x_n) + e_n,   e_n ~ N(0, noise^2)                         PRML appendix A, FCML 1.5.2

with h a polynomial or sin(2 pi x), and x on an equally spaced grid or drawn uniformly. Where h is
known the loss of a fit f on new data needs no test set: with x uniform between low and high

    E[(t - f(x))^2] = 1 / (high - low) int (f(x) - h(x))^2 dx + noise^2,

an integral that Gauss-Legendre quadrature computes to machine precision.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.polynomial.polynomial import polyval

from bythebook.models.types import Floats

DESIGNS = ("grid", "uniform")


class Quadrature(NamedTuple):
    """Nodes and weights of an average over an interval: E[g(x)] = sum_i weight_i g(x_i)."""

    x: Floats  # (G,)
    weight: Floats  # (G,) sums to one


def sine(x: Floats) -> Floats:
    """sin(2 pi x), the curve of PRML chapter 1 and appendix A."""
    return np.sin(2 * np.pi * x)


def polynomial(x: Floats, w: Floats) -> Floats:
    """w_0 + w_1 x + w_2 x^2 + ..."""
    return np.asarray(polyval(x, w), dtype=np.float64)


def powers(x: Floats, order: int) -> Floats:
    """The design matrix of a polynomial: columns 1, x, ..., x^order along a new last axis."""
    return x[..., None] ** np.arange(order + 1)


def inputs(
    n: int, low: float, high: float, design: str, n_sets: int, rng: np.random.Generator
) -> Floats:
    """Inputs of many data sets, shape (n_sets, n): the same grid, or drawn uniformly and sorted."""
    if design == "grid":
        return np.broadcast_to(np.linspace(low, high, n), (n_sets, n))
    if design == "uniform":
        return np.sort(rng.uniform(low, high, (n_sets, n)), axis=-1)
    raise ValueError(f"design '{design}' is unknown; allowed: {', '.join(DESIGNS)}")


def noisy(h: Floats, noise: float, rng: np.random.Generator) -> Floats:
    """Targets about the values h, of any shape, with Gaussian noise of this standard deviation."""
    return h + noise * rng.standard_normal(h.shape)


def quadrature(low: float, high: float, n_nodes: int = 64) -> Quadrature:
    """Gauss-Legendre: exact for polynomials up to order 2 n_nodes - 1."""
    node, weight = _leggauss(n_nodes)
    return Quadrature(low + (high - low) * (node + 1) / 2, weight / 2)


_leggauss = cache(leggauss)  # an eigenvalue problem with the same solution in every run


def expected_loss(f: Floats, h: Floats, weight: Floats, noise: float) -> Floats:
    """Expected squared loss (...) on new data, of fits f (..., G) at the quadrature's nodes."""
    return np.asarray((f - h) ** 2 @ weight + noise**2)


def likeness(f: Floats, g: Floats) -> Floats:
    """Similarity of the shapes of curves along the last axis, invariant to level and height."""
    f, g = f - f.mean(axis=-1, keepdims=True), g - g.mean(axis=-1, keepdims=True)
    size = np.sqrt(np.sum(f**2, axis=-1) * np.sum(g**2, axis=-1))
    return np.asarray(np.sum(f * g, axis=-1) / np.maximum(size, np.finfo(np.float64).tiny))
