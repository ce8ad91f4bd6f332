r"""K-means: Lloyd's algorithm from R starts at once (PRML 9.1, FCML 6.2, Notes 3.3.1).

    J = sum_n sum_k r_nk |x_n - mu_k|^2                        the distortion, (9.1)

    E step    r_nk = 1 for the nearest centre, else 0          (9.2)
    M step    mu_k = sum_n r_nk x_n / sum_n r_nk               (9.4)

J never rises in either step, and there are finitely many assignments: the algorithm ends in a
cycle that changes nothing. That last cycle is counted and recorded, as in PRML Figures 9.1 and 9.2.

Empty clusters. A cluster that no point chose keeps its centre. This is the limit of EM for a
Gaussian mixture whose variance goes to zero (9.3.2). With `redraw` a new centre is drawn instead
(FCML's script draws it in a box). An empty cluster adds nothing to J, so both rules keep J falling.
Of two centres at the same distance the one with the smaller index takes the point.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from bythebook.models.clustering.mixture import blocks
from bythebook.models.compiled import compiled, in_blocks
from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Bools, Floats, Ints

_LARGE = 2**22  # distances in a pass; below, NumPy is done before numba is imported
_ROWS = 2**15  # rows that a thread processes at a time


class KMeansFit(NamedTuple):
    """The results of R restarts, and the distortion after every half step."""

    centres: Floats  # (R, K, D) mu_k
    labels: Ints  # (R, N) the k with r_nk = 1
    distortion: Floats  # (R, 2T) J after E1, M1, E2, M2, ...; NaN after the restart stopped
    iterations: Ints  # (R,) cycles of one E and one M step, with the last that changed nothing
    converged: Bools  # (R,) the last cycle left the labels as they were
    snapshots: dict[int, Floats]  # centres after the requested cycles (0 is the start), (R, K, D)

    @property
    def final(self) -> Floats:
        """J at the end of each restart, shape (R,)."""
        return self.distortion[np.arange(len(self.iterations)), 2 * self.iterations - 1]

    @property
    def best(self) -> int:
        """The restart with the smallest J."""
        return int(np.argmin(self.final))


class Pass(NamedTuple):
    """One pass over the data: the E step, and the statistics for the M step and J."""

    J: Floats  # (R,) the distortion with the nearest centres for labels
    gain: Floats  # (R,) by how much it was larger with the labels before
    counts: Floats  # (R, K) sum_n r_nk
    sums: Floats  # (R, K, D) sum_n r_nk x_n
    moved: Ints  # (R,) how many points have another label than before


def one_pass(X: Floats, centres: Floats, labels: Ints, which: Ints) -> Pass:
    """The E step for centres (R, K, D): writes the nearest into `labels`, rows `which` (R,).

    On entry the rows have the labels of the previous E step, or -1 everywhere.
    """
    R, K, D = centres.shape
    J, gain, moved = np.zeros(R), np.zeros(R), np.zeros(R, dtype=np.int64)
    counts, sums = np.zeros((R, K)), np.zeros((R, K, D))
    for some, rows in blocks(R, len(X), K):
        # Differences, not |x|^2 - 2 x.mu + |mu|^2: exact ties stay ties on every machine.
        flat = cdist(centres[some].reshape(-1, D), X[rows], "sqeuclidean")
        squared = flat.reshape(-1, K, flat.shape[1])  # (r, K, n)
        nearest, label = squared[:, 0], np.zeros((len(squared), flat.shape[1]), dtype=np.int64)
        for k in range(1, K):
            label = np.where(squared[:, k] < nearest, k, label)  # (9.2)
            nearest = np.minimum(nearest, squared[:, k])
        J[some] += nearest.sum(1)  # (9.1)
        r = (label[:, None] == np.arange(K)[:, None]).astype(float)
        counts[some] += r.sum(2)
        sums[some] += r @ X[rows]
        old = labels[which[some], rows]
        labels[which[some], rows] = label
        if old[0, 0] < 0:
            moved[some] += label.shape[1]
            continue
        restart, n = np.nonzero(label != old)
        moved[some] += np.bincount(restart, minlength=len(squared))
        less = squared[restart, old[restart, n], n] - nearest[restart, n]
        gain[some] += np.bincount(restart, less, len(squared))
    return Pass(J, gain, counts, sums, moved)


@compiled
def _one_pass(
    X: Floats,
    centres: Floats,
    labels: Ints,
    which: Ints,
    begin: int,
    end: int,
    J: Floats,
    gain: Floats,
    counts: Floats,
    sums: Floats,
    moved: Ints,
) -> None:
    """`one_pass` over the rows from `begin` to `end`, in tiles that stay in the cache."""
    (R, K, D), tile = centres.shape, 128
    # Centres in pairs and dimensions in fours: a missing centre is never the nearest, and missing
    # dimensions add nothing.
    padded = np.zeros((R, K + K % 2, D + -D % 4))
    for r in range(R):
        for d in range(D):
            padded[r, K - 1 + K % 2, d] = np.inf
            for k in range(K):
                padded[r, k, d] = centres[r, k, d]
    x, squared = np.zeros((D + -D % 4, tile)), np.empty((2, tile))
    nearest, label = np.empty(tile), np.empty(tile, dtype=np.int64)
    for start in range(begin, end, tile):
        size = min(tile, end - start)
        for n in range(size):
            for d in range(D):
                x[d, n] = X[start + n, d]
        for r in range(R):
            for n in range(tile):
                nearest[n], label[n] = np.inf, 0
            for k in range(0, K, 2):
                _try_pair(x, padded[r, k], padded[r, k + 1], k, squared, nearest, label)
            own, count, total = labels[which[r]], counts[r], sums[r]
            for n in range(size):
                k, old = label[n], own[start + n]
                if k != old:
                    own[start + n] = k
                    moved[r] += 1
                    if old >= 0:
                        before = 0.0
                        for d in range(D):
                            before += (X[start + n, d] - centres[r, old, d]) ** 2
                        gain[r] += before - nearest[n]
                count[k] += 1.0
                for d in range(D):
                    total[k, d] += X[start + n, d]
            squares = 0.0
            for n in range(size):
                squares += nearest[n]
            J[r] += squares  # (9.1)


@compiled
def _try_pair(
    x: Floats, a: Floats, b: Floats, k: int, squared: Floats, nearest: Floats, label: Ints
) -> None:
    """A step of `one_pass` for points (D, n): centres k and k + 1, at a and b, where nearer (9.2).

    Four squares are added, one after the other, for each time that the sum is stored.
    """
    to_a, to_b = squared[0], squared[1]
    for n in range(len(label)):
        to_a[n], to_b[n] = 0.0, 0.0
    for d in range(0, len(x), 4):
        x0, x1, x2, x3 = x[d], x[d + 1], x[d + 2], x[d + 3]
        a0, a1, a2, a3 = a[d], a[d + 1], a[d + 2], a[d + 3]
        b0, b1, b2, b3 = b[d], b[d + 1], b[d + 2], b[d + 3]
        for n in range(len(label)):
            s = to_a[n] + (x0[n] - a0) ** 2 + (x1[n] - a1) ** 2
            to_a[n] = s + (x2[n] - a2) ** 2 + (x3[n] - a3) ** 2
            s = to_b[n] + (x0[n] - b0) ** 2 + (x1[n] - b1) ** 2
            to_b[n] = s + (x2[n] - b2) ** 2 + (x3[n] - b3) ** 2
    for n in range(len(label)):
        best, source = nearest[n], label[n]
        source = k if to_a[n] < best else source
        best = to_a[n] if to_a[n] < best else best
        source = k + 1 if to_b[n] < best else source
        best = to_b[n] if to_b[n] < best else best
        nearest[n], label[n] = best, source


def one_pass_compiled(X: Floats, centres: Floats, labels: Ints, which: Ints) -> Pass:
    """The same as `one_pass`, on all the threads there are, for large data."""
    R, K, D = centres.shape

    def work(rows: slice) -> Pass:
        sums = np.zeros((R, K)), np.zeros((R, K, D)), np.zeros(R, dtype=np.int64)
        part = Pass(np.zeros(R), np.zeros(R), *sums)
        _one_pass(X, centres, labels, which, rows.start, rows.stop, *part)
        return part

    parts = in_blocks(work, len(X), _ROWS)
    return Pass(*(np.sum(part, axis=0) for part in zip(*parts, strict=True)))


def assign(X: Floats, centres: Floats) -> Ints:
    """The nearest centre of every point, shape (R, N), for centres (R, K, D)."""
    labels = np.full((len(centres), len(X)), -1)
    one_pass(X, centres, labels, np.arange(len(centres)))
    return labels


def distortion(X: Floats, centres: Floats, labels: Ints) -> Floats:
    """J of each restart, shape (R,), for any labels (R, N)."""
    J = np.zeros(len(centres))
    for some, rows in blocks(len(centres), len(X), X.shape[1]):
        mine = centres[some]
        difference = X[rows] - mine[np.arange(len(mine))[:, None], labels[some, rows]]  # (r, n, D)
        J[some] += np.einsum("rnd,rnd->r", difference, difference)  # (9.1)
    return J


def kmeans(
    X: Floats,
    centres: Floats,
    *,
    redraw: Callable[[int], Floats] | None = None,
    max_iter: int = 300,
    snapshots: Collection[int] = (),
) -> KMeansFit:
    """Run Lloyd's algorithm on data (N, D) from the centres (R, K, D) until no label changes.

    Starts whose labels still change after `max_iter` cycles give the warning `NotConverged`.

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

    e_step = one_pass if R * K * len(X) < _LARGE else one_pass_compiled
    active = np.arange(R)
    for iteration in range(1, max_iter + 1):
        mu = final[active]
        E = e_step(X, mu, labels, active)
        J[active, 2 * iteration - 2] = E.J
        if iteration > 1:
            J[active, 2 * iteration - 3] = E.J + E.gain  # after the M step before: the same centres
        still = E.moved == 0
        empty = E.counts == 0
        mu = np.where(empty[..., None], mu, E.sums / np.maximum(E.counts, 1)[..., None])  # (9.4)
        lost = empty & ~still[:, None]  # at the end another draw has no effect
        if redraw is not None and lost.any():
            mu[lost] = redraw(int(lost.sum()))
        J[active[still], 2 * iteration - 1] = E.J[still]
        final[active] = mu
        iterations[active], converged[active] = iteration, still
        if iteration in snapshots:
            kept[iteration] = final.copy()
        active = active[~still]
        if not active.size:
            kept.update({later: final.copy() for later in snapshots if later > iteration})
            break
    if active.size:  # at the limit: no E step follows that gives J after the last M step
        warn_not_converged("K-means", iterations=max_iter, tol=0, fits=len(active))
        E = e_step(X, final[active], labels[active], np.arange(len(active)))  # of a copy
        J[active, -1] = E.J + E.gain
    J = J[:, : 2 * iterations.max(initial=0)]
    return KMeansFit(final, labels, J, iterations, converged, kept)


def random_points(X: Floats, K: int, rng: np.random.Generator, restarts: int) -> Floats:
    """K different data points as centres, shape (R, K, D)."""
    return X[np.stack([rng.choice(len(X), K, replace=False) for _ in range(restarts)])]


def random_in_box(
    low: Floats, high: Floats, K: int, rng: np.random.Generator, restarts: int
) -> Floats:
    """Centres uniform in the box between two corners of shape (D,), shape (R, K, D)."""
    return rng.uniform(low, high, size=(restarts, K, len(low)))


def kmeans_plus_plus(X: Floats, K: int, rng: np.random.Generator, restarts: int) -> Floats:
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
