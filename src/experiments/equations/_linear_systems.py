"""Random linear dynamical systems, and their states and outputs as one joint Gaussian."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from bythebook.models.state_space.kalman import LDS, simulate
from bythebook.models.types import Floats

STEPS = 4


class Beliefs(NamedTuple):
    """The distribution of all states given some outputs."""

    mean: Floats  # (N, M)
    cov: Floats  # (N, N, M, M) cov[z_i, z_j]


class Series(NamedTuple):
    """A system, its outputs, and the joint Gaussian that conditioning uses, without a recursion."""

    theta: LDS
    x: Floats  # (N, D)

    @property
    def _joint(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Mean and covariance of all states, the map to all outputs, and their noise."""
        A, Gamma, C, Sigma, mu0, V0 = self.theta
        N, M = len(self.x), len(A)
        steps = [
            [np.linalg.matrix_power(A, i - j) if i >= j else 0 * A for j in range(N)]
            for i in range(N)
        ]
        F: Floats = np.block(steps)
        cov = F @ block_diag(V0, *[Gamma] * (N - 1)) @ F.T
        outputs, noise = (np.kron(np.eye(N), part).astype(np.float64) for part in (C, Sigma))
        return F[:, :M] @ mu0, cov, outputs, noise

    def given(self, n: int) -> Beliefs:
        """All states given the first n outputs."""
        mean, cov, C, noise = self._joint
        N, M = len(self.x), len(self.theta.A)
        seen = slice(n * self.x.shape[1])
        C, noise = C[seen], noise[seen, seen]
        gain = np.linalg.solve(C @ cov @ C.T + noise, C @ cov).T
        mean = mean + gain @ (self.x.ravel()[seen] - C @ mean)
        cov = (cov - gain @ C @ cov).reshape(N, M, N, M).transpose(0, 2, 1, 3)
        return Beliefs(mean.reshape(N, M), cov)

    @property
    def log_likelihood(self) -> float:
        """The log density of all outputs."""
        mean, cov, C, noise = self._joint
        return float(multivariate_normal(C @ mean, C @ cov @ C.T + noise).logpdf(self.x.ravel()))

    def filtered(self) -> Beliefs:
        """Each state given the outputs up to its own, covariances (N, M, M)."""
        given = [self.given(n + 1) for n in range(len(self.x))]
        return Beliefs(
            np.array([b.mean[n] for n, b in enumerate(given)]),
            np.array([b.cov[n, n] for n, b in enumerate(given)]),
        )


def random_series(rng: Generator) -> Series:
    """A system of two or three states and one to three outputs, and a short series of it."""
    M, D = int(rng.integers(2, 4)), int(rng.integers(1, 4))

    def covariance(d: int) -> Floats:
        root = rng.normal(size=(d, d))
        return np.asarray(root @ root.T + 0.2 * np.eye(d))

    A = 0.6 * rng.normal(size=(M, M))
    C, mu0 = rng.normal(size=(D, M)), rng.normal(size=M)
    theta = LDS(A, covariance(M), C, covariance(D), mu0, covariance(M))
    return Series(theta, simulate(theta, STEPS, rng)[1])
