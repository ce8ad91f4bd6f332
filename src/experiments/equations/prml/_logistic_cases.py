"""Random cases of variational logistic regression (PRML 10.6)."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import expit, log_expit
from scipy.stats import multivariate_normal

from bythebook.models.types import Floats


class Case(NamedTuple):
    """Points with classes, a Gaussian prior of the weights, and parameters xi of the bound."""

    phi: Floats  # (N, D)
    t: Floats  # (N,)
    m0: Floats
    S0: Floats
    xi: Floats  # (N,)


def draw_case(rng: Generator, D: int | None = None) -> Case:
    D = int(rng.integers(1, 4)) if D is None else D
    N, root = int(rng.integers(3, 8)), rng.normal(size=(D, D))
    S0 = root @ root.T + rng.uniform(0.5, 2) * np.eye(D)
    t = (rng.random(N) < 0.6).astype(float)
    return Case(rng.normal(0, 1.3, (N, D)), t, rng.normal(size=D), S0, rng.uniform(0.3, 4, N))


def lam_of(xi: Floats) -> Floats:
    """The lambda of (10.150)."""
    return np.asarray((expit(xi) - 0.5) / (2 * xi))


def log_h(case: Case, w: Floats, xi: Floats | None = None) -> Floats:
    """The logarithm of (10.153) at weights (K, D), for each point: (K, N)."""
    xi, a = case.xi if xi is None else xi, w @ case.phi.T
    log = log_expit(xi) + a * case.t - (a + xi) / 2 - lam_of(xi) * (a**2 - xi**2)
    return np.asarray(log)


def log_joint(case: Case, w: Floats, xi: Floats | None = None) -> Floats:
    """The logarithm of h(w, xi) p(w) at weights (K, D)."""
    return np.asarray(log_h(case, w, xi).sum(1) + multivariate_normal(case.m0, case.S0).logpdf(w))


def posterior(case: Case) -> tuple[Floats, Floats]:
    """The mean (10.157) and the inverse covariance (10.158)."""
    P0 = np.linalg.inv(case.S0)
    P = P0 + 2 * np.einsum("n,ni,nj->ij", lam_of(case.xi), case.phi, case.phi)
    return np.linalg.solve(P, P0 @ case.m0 + (case.t - 0.5) @ case.phi), P


def log_integral(case: Case, xi: Floats) -> float:
    """The logarithm of the integral of h p: the integrand is Gaussian, so differences are exact."""
    D = len(case.m0)
    e, zero = np.eye(D), np.zeros((1, D))
    here = log_joint(case, zero, xi)[0]
    up, down = log_joint(case, e, xi), log_joint(case, -e, xi)
    pairs = log_joint(case, (e[:, None] + e).reshape(-1, D), xi).reshape(D, D)
    slope, precision = (up - down) / 2, up[:, None] + up - pairs - here
    square = slope @ np.linalg.solve(precision, slope)
    return float(here + (square + D * np.log(2 * np.pi) - np.linalg.slogdet(precision)[1]) / 2)
