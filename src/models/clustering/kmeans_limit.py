r"""EM with covariances held at epsilon I, which is K-means as epsilon -> 0 (PRML 9.3.2).

    epsilon E[ln p(X, Z)]  ->  -1/2 sum_nk r_nk |x_n - mu_k|^2 = -J / 2              (9.43)

The text prints it without the first factor, and the density of a component (9.41) with a
normaliser for one dimension.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import quad

from bythebook.models.clustering.gaussian_mixture import (
    GaussianMixture,
    fit,
    log_joint,
    responsibilities,
)
from bythebook.models.clustering.gaussian_mixture_starts import start_at
from bythebook.models.clustering.kmeans import kmeans
from bythebook.models.clustering.mixture import expected_complete
from bythebook.models.em import EMFit, take
from bythebook.models.types import Floats

STEPS = 200  # EM iterations at most; with fixed covariances it needs far fewer


class Ends(NamedTuple):
    """Largest deviations at the end of EM, for each epsilon and choice of weights (E, W)."""

    difference: Floats  # of a centre's coordinate from that of K-means
    label_doubt: Floats  # 1 - max_k gamma_nk
    responsibilities_off_labels: Floats  # |gamma_nk - r_nk|
    weights_off_fractions: Floats  # |pi_k - N_k / N|


class Approach(NamedTuple):
    """EM with covariances epsilon I against K-means from the same centres."""

    ends: Ends
    path_difference: Floats  # (STEPS + 1,) of the centres after each step, smallest epsilon
    distortion: Floats  # (2 T,) J after the half steps of K-means
    expected_complete: Floats  # (E,) (9.43) at the K-means solution, first weights
    constant_terms: Floats  # (E,) those of its terms that do not depend on the centres
    gamma: Floats  # (N, K) where EM ends, largest epsilon and first weights
    pi: Floats  # (K,) there
    mu: Floats  # (K, D) there


def approach(
    X: Floats, centres: Floats, epsilon: Floats, weights: Floats, *, fixed_pi: bool
) -> Approach:
    """EM and K-means from centres (K, D), for falling epsilon (E,) and weights (W, K)."""
    (N, D), (W, K), E = X.shape, weights.shape, len(epsilon)
    hard = kmeans(X, centres[None], snapshots=range(STEPS + 1))
    r = (hard.labels[0][:, None] == np.arange(K)).astype(float)
    soft = fit_held(X, centres, epsilon, weights, fixed_pi=fixed_pi, steps=STEPS)
    gamma = responsibilities(X, soft.theta).reshape(E, W, N, K)
    pi, mu = soft.theta.pi.reshape(E, W, K), soft.theta.mu.reshape(E, W, K, D)
    aside = [
        np.abs(soft.snapshots[t].mu[-W] - hard.snapshots[t][0]).max() for t in range(STEPS + 1)
    ]
    ends = Ends(
        np.abs(mu - hard.centres[0]).max(axis=(2, 3)),
        (1 - gamma.max(axis=3)).max(axis=2),
        np.abs(gamma - r).max(axis=(2, 3)),
        np.abs(pi - r.mean(axis=0)).max(axis=2),
    )
    complete = complete_at(X, take(soft.theta, np.arange(0, E * W, W)), hard.centres[0], r)
    J = hard.distortion[0][: 2 * int(hard.iterations[0])]
    return Approach(ends, np.array(aside), J, *complete, gamma[0, 0], pi[0, 0], mu[0, 0])


def fit_held(
    X: Floats, centres: Floats, epsilon: Floats, weights: Floats, *, fixed_pi: bool, steps: int
) -> EMFit[GaussianMixture]:
    """EM from centres (K, D), every epsilon (E,) with all weights (W, K): E W restarts."""
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
    """The integral of (2 pi eps)^(-power/2) exp(-|x|^2 / (2 eps)) over D dimensions."""
    one, _ = quad(lambda x: np.exp(-(x**2) / (2 * epsilon)), -np.inf, np.inf)
    return float(one**D / (2 * np.pi * epsilon) ** (power / 2))
