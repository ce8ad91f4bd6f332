r"""EM with a sampled E step, and data augmentation, for two unknown means (PRML 11.1.6).

x_n ~ 1/2 N(m_1, 1) + 1/2 N(m_2, 1), each m_k ~ N(0, v). With the responsibilities g_n of the
second component, the E step is exact, or the average of L hard assignments Z drawn with them:

    Q(m) ~ 1/L sum_l ln p(Z_l, X | m)                                                PRML 11.29
    m_k  = sum_n g_nk x_n / (sum_n g_nk + 1/v),   1/v = 0 without the prior

Data augmentation draws means from 1/L sum_l p(m | Z_l, X), and then a new Z_l (PRML 11.30-32):

    p(m_k | Z, X) = N(s_k / (n_k + 1/v), 1 / (n_k + 1/v)),   s_k the sum of its n_k points

Data sets (R, N) are one batch.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Floats

Rng = np.random.Generator
TOLERANCE = 1e-6  # of the last step of exact EM


class Course(NamedTuple):
    """Means at every iteration, beginning with the start."""

    means: Floats  # (T + 1, R, 2)

    @property
    def last(self) -> Floats:
        return np.asarray(self.means[-1])


def data(points: int, separation: float, repetitions: int, rng: Rng) -> Floats:
    """Data sets (R, N) from two means at a given distance, centred at zero."""
    side = np.where(rng.random((repetitions, points)) < 0.5, -0.5, 0.5)
    return np.asarray(side * separation + rng.standard_normal((repetitions, points)))


def responsibilities(x: Floats, means: Floats) -> Floats:
    """Responsibilities of the second component for x (..., N) and means (..., 2)."""
    first, second = means[..., :1], means[..., 1:]
    return np.asarray(expit((second - first) * (x - (first + second) / 2)))


def expected(x: Floats, shares: Floats, means: Floats) -> Floats:
    """The log likelihood of the complete data, averaged over Z with shares (..., N)."""
    each = -((x[..., None] - means[..., None, :]) ** 2) / 2 - np.log(2 * np.sqrt(2 * np.pi))
    return np.asarray(((1 - shares) * each[..., 0] + shares * each[..., 1]).sum(-1))


def maximise(x: Floats, shares: Floats, precision: float) -> Floats:
    """The M step, with the precision 1/v of a prior."""
    both = np.stack([1 - shares, shares], axis=-1)
    sums, counts = (both * x[..., None]).sum(-2), both.sum(-2)
    return np.asarray(sums / (counts + precision + 1e-300))


def assignments(shares: Floats, samples: int, rng: Rng) -> Floats:
    """The average of a number of hard assignments."""
    return np.asarray(rng.binomial(samples, shares) / samples)


def em(
    x: Floats,
    start: Floats,
    iterations: int,
    precision: float,
    samples: int | None = None,
    rng: Rng | None = None,
) -> Course:
    """EM from means (R, 2); with a sampled E step if a number of samples is given."""
    means = [start]
    for _ in range(iterations):
        shares = responsibilities(x, means[-1])
        if samples is not None and rng is not None:
            shares = assignments(shares, samples, rng)
        means.append(maximise(x, shares, precision))
    if samples is None and iterations:
        last_step = np.abs(means[-1] - means[-2]).max(-1)
        far = int(np.count_nonzero(last_step > TOLERANCE))
        warn_not_converged("EM", iterations=iterations, tol=TOLERANCE, fits=far)
    return Course(np.array(means))


def augment(
    x: Floats, start: Floats, iterations: int, draws: int, precision: float, rng: Rng
) -> Floats:
    """Draws (R, L, 2) of the means by alternate I and P steps."""
    R, N = x.shape
    means = np.broadcast_to(start[:, None, :], (R, draws, 2))
    for _ in range(iterations):
        # I step: assignments for each draw of the means
        second = rng.random((R, draws, N)) < responsibilities(x[:, None, :], means)
        n2 = second.sum(-1)
        s2 = np.einsum("rln,rn->rl", second, x)
        counts = np.stack([N - n2, n2], axis=-1)
        sums = np.stack([x.sum(-1)[:, None] - s2, s2], axis=-1)
        # P step: means from the average of the posteriors given one set of assignments each
        chosen = rng.integers(draws, size=(R, draws, 1))
        tight = np.take_along_axis(counts, chosen, axis=1) + precision
        centre = np.take_along_axis(sums, chosen, axis=1) / tight
        means = centre + rng.standard_normal((R, draws, 2)) / np.sqrt(tight)
    return np.asarray(means)


class Posterior(NamedTuple):
    """Posterior moments of ordered means m_1 < m_2, by quadrature."""

    mean: Floats  # (R, 2)
    sd: Floats  # (R, 2)
    mode: Floats  # (R, 2)


def posterior(x: Floats, precision: float, reach: float = 3.0, count: int = 241) -> Posterior:
    """The posterior on a grid; the mode by a parabola through the best point and its neighbours."""
    grid = np.linspace(-reach, reach, count)
    log_n = -((x[:, :, None] - grid) ** 2) / 2  # (R, N, G)
    a, b = np.meshgrid(grid, grid, indexing="ij")
    prior = -precision * (a**2 + b**2) / 2
    found = []
    for row in log_n:
        likely = np.exp(row)
        total = sum(np.log(np.add.outer(likely[n], likely[n])) for n in range(len(row)))
        log_p = np.where(a <= b, total + prior, -np.inf)
        p = np.exp(log_p - log_p.max())
        p /= p.sum()
        mean = np.array([(p * a).sum(), (p * b).sum()])
        square = np.array([(p * a**2).sum(), (p * b**2).sum()])
        i, j = np.unravel_index(int(np.argmax(log_p)), log_p.shape)
        mode = [_top(grid, (total + prior)[:, j], int(i)), _top(grid, (total + prior)[i], int(j))]
        found.append((mean, np.sqrt(square - mean**2), np.array(mode)))
    return Posterior(*(np.array(of) for of in zip(*found, strict=True)))


def _top(grid: Floats, values: Floats, i: int) -> float:
    """The maximum of the parabola through the largest value and its neighbours."""
    i = int(np.clip(i, 1, len(grid) - 2))
    low, top, high = values[i - 1 : i + 2]
    return float(grid[i] + (grid[1] - grid[0]) / 2 * (low - high) / (low - 2 * top + high))
