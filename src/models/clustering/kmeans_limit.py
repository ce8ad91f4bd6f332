r"""EM with covariances held at epsilon I, which is K-means as epsilon -> 0 (PRML 9.3.2).

gamma(z_nk)  ->  r_nk, the labels of K-means                                     (9.42), (9.2)
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.clustering.gaussian_mixture import (
    GaussianMixture,
    fit,
    responsibilities,
)
from bythebook.models.clustering.gaussian_mixture_starts import start_at
from bythebook.models.clustering.kmeans import kmeans
from bythebook.models.em import EMFit
from bythebook.models.types import Floats

STEPS = 200  # EM iterations at most; with fixed covariances it needs far fewer


class Ends(NamedTuple):
    """Largest deviations at the end of EM, for each epsilon and choice of weights (E, W)."""

    difference: Floats  # of a centre's coordinate from that of K-means
    responsibilities_off_labels: Floats  # |gamma_nk - r_nk|
    weights_off_fractions: Floats  # |pi_k - N_k / N|


class Approach(NamedTuple):
    """EM with covariances epsilon I against K-means from the same centres."""

    ends: Ends
    path_difference: Floats  # (STEPS + 1,) of the centres after each step, smallest epsilon
    distortion: Floats  # (2 T,) J after the half steps of K-means


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
        np.abs(gamma - r).max(axis=(2, 3)),
        np.abs(pi - r.mean(axis=0)).max(axis=2),
    )
    J = hard.distortion[0][: 2 * int(hard.iterations[0])]
    return Approach(ends, np.array(aside), J)


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
