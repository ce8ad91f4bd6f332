r"""Log evidence of four models: exact, by Laplace's approximation and by BIC (Ghahramani 11).

    ln p(D) ~ ln p(th) + ln p(D | th) + (d / 2) ln 2 pi - ln |A| / 2           Ghahramani 54
    ln p(D) ~ ln p(D | th) - (d / 2) ln N                                                 56

    coin       N tosses, uniform prior                                                 d = 1
    linear     y ~ N(w^T x, 1), w ~ N(0, I), x = (1, u)                                d = 2
    logistic   t = 1 with s(w^T x), w ~ N(0, 4 I)                                      d = 2
    product    y ~ N(a b, 1), a and b ~ N(0, 1)                                        d = 2

The data of each model enter through a few totals. Inputs u come from a short list, so that data of
any size are counts.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import betaln, expit, log_expit, logsumexp, xlog1py, xlogy

from bythebook.models.approximation.laplace import approximate
from bythebook.models.types import Floats

INPUTS = np.linspace(-2, 2, 9)
X = np.stack([np.ones(9), INPUTS], axis=-1)
SLOPE = np.array([0.3, 1.0])  # weights that data are drawn with
WIDE = 4.0  # prior variance of weights of logistic regression
HEADS = 0.7


class Found(NamedTuple):
    """One data set under one model."""

    exact: float  # log evidence
    mode: Floats  # (d,) the most probable parameters
    log_prior: float  # there
    log_likelihood: float  # there
    largest: float  # the largest log likelihood
    A: Floats  # (d, d) minus the Hessian of the log posterior
    variation: float  # total variation of Laplace's Gaussian from the posterior; NaN: not computed

    @property
    def laplace(self) -> float:
        return approximate(self.mode, -self.A, self.log_prior + self.log_likelihood).log_evidence

    def bic(self, N: int, *, largest: bool = True) -> float:
        fit = self.largest if largest else self.log_likelihood
        return float(fit - len(self.A) / 2 * np.log(N))


def coin(N: int, rng: Generator) -> Found:
    """Counts with at least one head and one tail, so that the mode is inside (0, 1)."""
    heads = int(np.clip(rng.binomial(N, HEADS), 1, N - 1))
    return coin_of(heads, N)


def coin_of(heads: int, N: int) -> Found:
    theta = heads / N
    top = float(xlogy(heads, theta) + xlog1py(N - heads, -theta))
    A = np.array([[N / (theta * (1 - theta))]])
    exact = float(betaln(heads + 1, N - heads + 1))
    sd = A[0, 0] ** -0.5
    x = np.linspace(theta - 12 * sd, theta + 12 * sd, 4001)
    inside = (x > 0) & (x < 1)
    r = np.where(inside, x, 0.5)
    p = np.where(inside, np.exp(heads * np.log(r) + (N - heads) * np.log1p(-r) - exact), 0.0)
    q = np.exp(-((x - theta) ** 2) / (2 * sd**2)) / (sd * np.sqrt(2 * np.pi))
    return Found(
        exact, np.array([theta]), 0.0, top, top, A, float(np.abs(p - q).sum() * (x[1] - x[0]) / 2)
    )


def linear(N: int, rng: Generator) -> Found:
    n = rng.multinomial(N, np.full(9, 1 / 9))
    sums = n * (X @ SLOPE) + np.sqrt(n) * rng.standard_normal(9)
    within = np.array([rng.chisquare(k - 1) if k > 1 else 0.0 for k in n])
    squares = float((within + np.divide(sums**2, n, out=np.zeros(9), where=n > 0)).sum())
    return linear_of(n.astype(float), sums, squares)


def linear_of(n: Floats, sums: Floats, squares: float) -> Found:
    """Counts, sums of y at each input, and the sum of all y^2."""
    XX, Xy, N = (X.T * n) @ X, X.T @ sums, float(n.sum())

    def log_likelihood(w: Floats) -> float:
        return float(-(N * np.log(2 * np.pi) + squares - 2 * w @ Xy + w @ XX @ w) / 2)

    A = XX + np.eye(2)
    mode = np.asarray(np.linalg.solve(A, Xy))
    prior = -float(2 * np.log(2 * np.pi) + mode @ mode) / 2
    best = log_likelihood(np.asarray(np.linalg.lstsq(XX, Xy, rcond=None)[0]))
    exact = -(N * np.log(2 * np.pi) + np.linalg.slogdet(A)[1] + squares - Xy @ mode) / 2
    return Found(float(exact), mode, prior, log_likelihood(mode), best, A, 0.0)


def logistic(N: int, rng: Generator) -> Found:
    n = rng.multinomial(N, np.full(9, 1 / 9))
    return logistic_of(n.astype(float), rng.binomial(n, expit(X @ SLOPE)).astype(float))


def logistic_of(n: Floats, ones: Floats) -> Found:
    """Counts at each input, and how many of them are 1."""

    def log_likelihood(w: Floats) -> Floats:
        a = w @ X.T
        return np.asarray((ones * log_expit(a) + (n - ones) * log_expit(-a)).sum(-1))

    def climbed(rate: float) -> tuple[Floats, Floats]:
        w = np.zeros(2)
        for _ in range(60):
            s = expit(X @ w)
            A = (X.T * (n * s * (1 - s))) @ X + rate * np.eye(2)
            step = np.linalg.solve(A, X.T @ (ones - n * s) - rate * w)
            w = w + step / max(1.0, float(np.abs(step).max()))
        return w, A

    mode, A = climbed(1 / WIDE)
    best, _ = climbed(1e-6)
    S = np.linalg.inv(A)
    side = np.linspace(-9, 9, 121)
    sd = np.sqrt(np.diag(S))
    w = mode + np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1) * sd
    log = log_likelihood(w) - (w**2).sum(-1) / (2 * WIDE) - np.log(2 * np.pi * WIDE)
    room = float((side[1] - side[0]) ** 2 * sd.prod())
    exact = float(logsumexp(log) + np.log(room))
    off = w - mode
    log_q = -np.einsum("...i,ij,...j->...", off, A, off) / 2 + np.linalg.slogdet(A)[1] / 2
    q = np.exp(log_q) / (2 * np.pi)
    variation = float(np.abs(np.exp(log - exact) - q).sum() * room / 2)
    prior = float(-np.log(2 * np.pi * WIDE) - mode @ mode / (2 * WIDE))
    likelihoods = float(log_likelihood(mode)), float(log_likelihood(best))
    return Found(exact, mode, prior, *likelihoods, A, variation)


def product(N: int, rng: Generator) -> Found:
    mean = float(rng.standard_normal() / np.sqrt(N))
    within = float(rng.chisquare(N - 1)) if N > 1 else 0.0
    return product_of(N, mean, within)


def product_of(N: int, mean: float, within: float) -> Found:
    """The mean of y, and the sum of squares about it."""
    constant = -(N * np.log(2 * np.pi) + within) / 2
    square = max(0.0, abs(mean) - 1 / N)  # a = b, or a = -b, at the mode
    top = constant - N * (abs(mean) - square) ** 2 / 2
    off = np.sign(mean) * N * (2 * square - abs(mean))
    A = np.array([[N * square + 1, off], [off, N * square + 1]])
    a = np.exp(np.linspace(np.log(1e-9), np.log(12), 6001))
    wide = a**2 + 1 / N  # the mean of y given a
    log = -(a**2) / 2 - mean**2 / (2 * wide) - np.log(wide) / 2 + np.log(a)
    spread = logsumexp(log) + np.log(np.log(a[1] / a[0])) + np.log(2) - np.log(2 * np.pi)
    exact = constant + np.log(2 * np.pi / N) / 2 + spread
    prior = -np.log(2 * np.pi) - square
    mode = np.sqrt(square) * np.array([1.0, np.sign(mean)])
    return Found(float(exact), mode, float(prior), float(top), float(constant), A, np.nan)


MODELS = {"coin": coin, "linear": linear, "logistic": logistic, "product": product}
