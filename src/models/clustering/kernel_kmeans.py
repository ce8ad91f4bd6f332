r"""Kernel K-means: K-means in the space of a kernel, R starts at once (FCML 6.2.3).

    d_nk = K(x_n, x_n) - 2/N_k sum_m z_mk K(x_n, x_m)
                       + 1/N_k^2 sum_m sum_r z_mk z_rk K(x_m, x_r)                   (6.3)

The means of the clusters are never formed; the algorithm starts from assignments and repeats: the
distances, the nearest cluster, until no label changes. A cluster that has lost all its points stays
empty. Of two clusters at the same distance the one with the smaller index takes the point.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Bools, Floats, Ints


class KernelKMeansFit(NamedTuple):
    """The results of R starts, and the assignments of each iteration."""

    labels: Ints  # (R, N) the cluster of each point
    history: Ints  # (T + 1, R, N) labels at the start and after each iteration
    distortion: Floats  # (R, T) sum_n of d_nk to the cluster chosen; NaN after the start stopped
    iterations: Ints  # (R,) iterations that changed a label
    converged: Bools  # (R,)


def distances(K: Floats, labels: Ints, clusters: int) -> Floats:
    """Squared distances d_nk in the kernel's space, shape (R, N, clusters); inf if empty."""
    z = (labels[..., None] == np.arange(clusters)).astype(float)  # (R, N, k)
    R, N, _ = z.shape
    sums = (K @ z.transpose(1, 0, 2).reshape(N, -1)).reshape(N, R, clusters).transpose(1, 0, 2)
    counts = z.sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (z * sums).sum(1) / counts**2
        d = np.diagonal(K)[:, None] - 2 * sums / counts[:, None] + within[:, None]  # (6.3)
    return np.where(counts[:, None] > 0, d, np.inf)


def kernel_kmeans(
    K: Floats, labels: Ints, clusters: int, *, max_iter: int = 100
) -> KernelKMeansFit:
    """Iterate from the assignments (R, N) for the kernel (N, N) until no label changes."""
    history = [np.array(labels, dtype=np.int64)]
    R = len(history[0])
    iterations, converged = np.zeros(R, dtype=np.int64), np.zeros(R, dtype=bool)
    distortion: list[Floats] = []
    for iteration in range(1, max_iter + 1):
        active = np.flatnonzero(~converged)
        current = history[-1].copy()
        d = distances(K, current[active], clusters)
        chosen = d.argmin(2)
        J = np.full(R, np.nan)
        J[active] = np.take_along_axis(d, chosen[..., None], 2).sum((1, 2))
        distortion.append(J)
        still = (chosen == current[active]).all(1)
        converged[active[still]] = True
        iterations[active[~still]] = iteration
        current[active] = chosen
        if converged.all():
            break
        history.append(current)
    left = int((~converged).sum())
    warn_not_converged("kernel K-means", iterations=max_iter, tol=0, fits=left)
    return KernelKMeansFit(
        history[-1], np.stack(history), np.stack(distortion, axis=1), iterations, converged
    )


def one_against_the_rest(N: int, objects: Ints) -> Ints:
    """Starts in which one object has its own cluster 1 and all others are in cluster 0, (R, N)."""
    return np.asarray(np.arange(N) == np.asarray(objects)[:, None], dtype=np.int64)
