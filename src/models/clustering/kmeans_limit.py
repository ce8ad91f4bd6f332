r"""EM with covariances held at epsilon I, which is K-means as epsilon -> 0 (PRML 9.3.2).

    epsilon E[ln p(X, Z)]  ->  -1/2 sum_nk r_nk |x_n - mu_k|^2 = -J / 2              (9.43)

The text prints it without the first factor, and the density of a component (9.41) with a
normaliser for one dimension.
"""

import numpy as np

from models.clustering.gaussian_mixture import GaussianMixture, fit, log_joint
from models.clustering.gaussian_mixture_starts import start_at
from models.clustering.mixture import expected_complete
from models.em import EMFit
from models.types import Floats


def fit_held(
    X: Floats, centres: Floats, epsilon: Floats, weights: Floats, *, fixed_pi: bool, steps: int
) -> EMFit[GaussianMixture]:
    """From centres (K, D), every epsilon (E,) with every choice of weights (W, K): E W restarts."""
    E, W = len(epsilon), len(weights)
    theta = start_at(
        np.tile(centres, (E * W, 1, 1)),
        np.repeat(epsilon, W)[:, None, None, None] * np.eye(X.shape[1]),
        np.tile(weights, (E, 1)),
    )
    return fit(
        X,
        theta,
        covariance="fixed",
        fixed_pi=fixed_pi,
        tol=0,
        max_iter=steps,
        snapshots=range(steps + 1),
    )


def complete_at(X: Floats, theta: GaussianMixture, mu: Floats, r: Floats) -> tuple[Floats, Floats]:
    """E[ln p(X, Z)] with centres mu (K, D) and labels r (N, K); its terms without the centres."""
    epsilon = theta.Sigma[:, 0, 0, 0]
    ended = theta._replace(mu=np.broadcast_to(mu, theta.mu.shape))
    counts = (r.sum(axis=0) * np.log(theta.pi)).sum(axis=1)
    constant = counts - 0.5 * X.size * np.log(2 * np.pi * epsilon)
    return expected_complete(log_joint(X, ended), r[None]), np.asarray(constant)


def integral(epsilon: float, D: int, power: int) -> float:
    """The integral of (2 pi eps)^(-power/2) exp(-|x|^2 / (2 eps)) over D dimensions, by a sum."""
    x = np.linspace(-10, 10, 2001)
    one = np.exp(-(x**2) / (2 * epsilon)).sum() * (x[1] - x[0])
    return float(one**D / (2 * np.pi * epsilon) ** (power / 2))
