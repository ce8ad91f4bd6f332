r"""K-means: Lloyd's algorithm from R starts at once (PRML 9.1, FCML 6.2, Notes 3.3.1).

    J = sum_n sum_k r_nk |x_n - mu_k|^2                        the distortion, (9.1)

    E step    r_nk = 1 for the nearest centre, else 0          (9.2)
    M step    mu_k = sum_n r_nk x_n / sum_n r_nk               (9.4)

J never rises in either step, and there are finitely many assignments: the algorithm ends in a
cycle that changes nothing. That last cycle is counted and recorded, as in PRML Figures 9.1 and 9.2.

Empty clusters. A cluster that no point chose keeps its centre. This is the limit of EM for a
Gaussian mixture whose variance goes to zero (9.3.2). With `redraw` its centre is drawn anew instead
(FCML's script draws it in a box). An empty cluster adds nothing to J, so both rules keep J falling.
Of two centres at the same distance the one with the smaller index takes the point.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from models.mixture import row_blocks
from models.types import Bools, Floats, Ints


class KMeansFit(NamedTuple):
    """Where each of R restarts ended, and the distortion after every half step."""

    centres: Floats  # (R, K, D) mu_k
    labels: Ints  # (R, N) the k with r_nk = 1
    distortion: Floats  # (R, 2T) J after E1, M1, E2, M2, ...; NaN after the restart stopped
    iterations: Ints  # (R,) cycles of one E and one M step, with the last that changed nothing
    converged: Bools  # (R,) the last cycle left the labels as they were
    snapshots: dict[int, Floats]  # centres after the cycles asked for (0 is the start), (R, K, D)

    @property
    def final(self) -> Floats:
        """J at the end of each restart, shape (R,)."""
        return self.distortion[np.arange(len(self.iterations)), 2 * self.iterations - 1]

    @property
    def best(self) -> int:
        """The restart with the smallest J."""
        return int(np.argmin(self.final))


def assign(X: Floats, centres: Floats) -> Ints:
    """The nearest centre of every point, shape (R, N), for centres (R, K, D)."""
    R, K, D = centres.shape
    labels = np.empty((R, len(X)), dtype=np.int64)
    for rows in row_blocks(len(X), R * K):
        # Differences, not |x|^2 - 2 x.mu + |mu|^2: exact ties stay ties on every machine.
        squared = cdist(X[rows], centres.reshape(R * K, D), "sqeuclidean")
        labels[:, rows] = squared.reshape(-1, R, K).argmin(2).T  # (9.2)
    return labels


def distortion(X: Floats, centres: Floats, labels: Ints) -> Floats:
    """J of each restart, shape (R,)."""
    R, _, D = centres.shape
    J = np.zeros(R)
    for rows in row_blocks(len(X), R * D):
        difference = X[rows] - centres[np.arange(R)[:, None], labels[:, rows]]
        J += np.einsum("rnd,rnd->r", difference, difference)  # (9.1)
    return J


def _cluster_sums(X: Floats, labels: Ints, K: int) -> tuple[Floats, Floats]:
    """Number of points, shape (R, K), and their sum, shape (R, K, D), in each cluster."""
    R = len(labels)
    counts, sums = np.zeros((R, K)), np.zeros((R, K, X.shape[1]))
    for rows in row_blocks(len(X), R * K):
        r = (labels[:, None, rows] == np.arange(K)[:, None]).astype(float)  # (R, K, n)
        counts += r.sum(2)
        sums += r @ X[rows]
    return counts, sums


def kmeans(
    X: Floats,
    centres: Floats,
    *,
    redraw: Callable[[int], Floats] | None = None,
    max_iter: int = 300,
    snapshots: Collection[int] = (),
) -> KMeansFit:
    """Run Lloyd's algorithm on data (N, D) from the centres (R, K, D) until no label changes.

    `redraw(n)` returns n centres, shape (n, D), for clusters that have lost all their points.
    """
    if max_iter < 1:
        raise ValueError("K-means needs at least one cycle")
    X = np.ascontiguousarray(X, dtype=float)
    final = np.array(centres, dtype=float)
    R, K, _ = final.shape
    J = np.full((R, 2 * max_iter), np.nan)
    labels = np.full((R, len(X)), -1, dtype=np.int64)
    iterations = np.zeros(R, dtype=np.int64)
    converged = np.zeros(R, dtype=bool)
    kept: dict[int, Floats] = {0: final.copy()} if 0 in snapshots else {}

    active = np.arange(R)
    for iteration in range(1, max_iter + 1):
        mu = final[active]
        assigned = assign(X, mu)
        J[active, 2 * iteration - 2] = distortion(X, mu, assigned)
        still = (assigned == labels[active]).all(1)
        counts, sums = _cluster_sums(X, assigned, K)
        empty = counts == 0
        mu = np.where(empty[..., None], mu, sums / np.maximum(counts, 1)[..., None])  # (9.4)
        lost = empty & ~still[:, None]  # at the end nothing is to be gained from another draw
        if redraw is not None and lost.any():
            mu[lost] = redraw(int(lost.sum()))
        J[active, 2 * iteration - 1] = distortion(X, mu, assigned)
        final[active], labels[active] = mu, assigned
        iterations[active], converged[active] = iteration, still
        if iteration in snapshots:
            kept[iteration] = final.copy()
        active = active[~still]
        if not active.size:
            kept.update({later: final.copy() for later in snapshots if later > iteration})
            break
    J = J[:, : 2 * iterations.max(initial=0)]
    return KMeansFit(final, labels, J, iterations, converged, kept)


def random_points(X: Floats, K: int, rng: np.random.Generator, restarts: int = 1) -> Floats:
    """K different data points as centres, shape (R, K, D)."""
    return X[np.stack([rng.choice(len(X), K, replace=False) for _ in range(restarts)])]


def random_in_box(
    low: Floats, high: Floats, K: int, rng: np.random.Generator, restarts: int = 1
) -> Floats:
    """Centres uniform in the box between two corners of shape (D,), shape (R, K, D)."""
    return rng.uniform(low, high, size=(restarts, K, len(low)))


def kmeans_plus_plus(X: Floats, K: int, rng: np.random.Generator, restarts: int = 1) -> Floats:
    """Centres of Arthur and Vassilvitskii (2007), shape (R, K, D).

    The first is a data point at random, each next one a data point drawn with probability
    proportional to its squared distance from the nearest centre so far.
    """
    chosen = np.empty((restarts, K), dtype=np.int64)
    chosen[:, 0] = rng.integers(len(X), size=restarts)
    nearest = cdist(X[chosen[:, 0]], X, "sqeuclidean")  # (R, N)
    for k in range(1, K):
        mass = nearest.cumsum(1)
        drawn = rng.random(restarts) * mass[:, -1]
        # The first point whose mass exceeds the draw; the last one where all distances are zero.
        chosen[:, k] = np.minimum((mass <= drawn[:, None]).sum(1), len(X) - 1)
        nearest = np.minimum(nearest, cdist(X[chosen[:, k]], X, "sqeuclidean"))
    return X[chosen]
