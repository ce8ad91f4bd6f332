"""Mixtures and K-means against scikit-learn: many small restarts, and a million rows.

All cases except the large K-means run on one thread, which is the fastest setting of the peer (its
BLAS threads wait for each other). The peer does not check its input.
"""

import ctypes
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from benchmarks.case import Case, Contest
from benchmarks.timing import Floor
from bythebook.models.clustering import gaussian_mixture
from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.clustering.gaussian_mixture_starts import start_at
from bythebook.models.clustering.kmeans import kmeans
from bythebook.models.compiled import in_blocks, threads
from bythebook.models.datasets import load
from bythebook.models.types import Floats

STEPS = 25  # of EM, in each of the small restarts
LARGE_STEPS, LARGE_CYCLES = 20, 10


def faithful() -> Floats:
    """Old Faithful, each variable with mean 0 and standard deviation 1."""
    X = load("old-faithful").matrix
    return (X - X.mean(0)) / X.std(0)


def clouds(rows: int) -> Floats:
    """Ten overlapping clouds in eight dimensions, generated in place, without temporary arrays."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 8))
    for k, centre in enumerate(1.5 * rng.standard_normal((10, 8))):
        X[k::10] += centre
    return X


def _centres(X: Floats, K: int, restarts: int) -> Floats:
    """Distinct data points, so that no cluster is empty; the packages treat that differently."""
    rng = np.random.default_rng(1)
    points = np.unique(X[:10_000], axis=0)
    return points[np.stack([rng.choice(len(points), K, replace=False) for _ in range(restarts)])]


@contextmanager
def quiet() -> Iterator[None]:
    """Run scikit-learn without input checks and without warnings."""
    import sklearn

    with (
        warnings.catch_warnings(),
        sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
    ):
        warnings.simplefilter("ignore")  # a fixed number of steps does not converge
        yield


def _em_of_scikit_learn(X: Floats, start: GaussianMixture, steps: int) -> dict[str, Any]:
    from sklearn.mixture import GaussianMixture as Peer

    with quiet():
        fits = [
            Peer(
                len(pi),
                tol=0,
                reg_covar=0,
                max_iter=steps,
                weights_init=pi,
                means_init=mu,
                precisions_init=precision,
            ).fit(X)
            for pi, mu, precision in zip(
                start.pi, start.mu, np.linalg.inv(start.Sigma), strict=True
            )
        ]
    return {
        "pi": [fit.weights_ for fit in fits],
        "mu": [fit.means_ for fit in fits],
        "Sigma": [fit.covariances_ for fit in fits],
        "log likelihood": [fit.lower_bounds_ for fit in fits],
    }


def _em(X: Floats, start: GaussianMixture, steps: int) -> dict[str, Any]:
    fit = gaussian_mixture.fit(X, start, tol=-np.inf, max_iter=steps)
    history = fit.objective[:, :-1] / len(X)  # the peer ends before the last M step
    return {**fit.theta._asdict(), "log likelihood": history}


def _kmeans_of_scikit_learn(X: Floats, starts: Floats, cycles: int) -> dict[str, Any]:
    from sklearn.cluster import KMeans

    with quiet():
        fits = [
            KMeans(len(start), init=start, n_init=1, tol=0, max_iter=cycles, algorithm="lloyd").fit(
                X
            )
            for start in starts
        ]
    return {
        "labels": [fit.labels_ for fit in fits],
        "centres": [fit.cluster_centers_ for fit in fits],
        "distortion": [fit.inertia_ for fit in fits],
    }


def _em_restarts(restarts: int) -> Contest:
    X = faithful()
    start = start_at(_centres(X, 2, restarts), np.cov(X.T))
    return alone(partial(_em, X, start, STEPS), partial(_em_of_scikit_learn, X, start, STEPS))


def _em_rows(rows: int) -> Contest:
    X = clouds(rows)
    start = start_at(_centres(X, 10, 1), np.cov(X[:10_000].T))
    peer = partial(_em_of_scikit_learn, X, start, LARGE_STEPS)
    return alone(partial(_em, X, start, LARGE_STEPS), peer)


def _kmeans_restarts(restarts: int) -> Contest:
    X = faithful()
    starts = _centres(X, 2, restarts)

    def ours() -> dict[str, Any]:
        fit = kmeans(X, starts)
        return {"labels": fit.labels, "centres": fit.centres, "distortion": fit.final}

    return alone(ours, partial(_kmeans_of_scikit_learn, X, starts, 300))


def _kmeans_rows(rows: int) -> Contest:
    X = clouds(rows)
    starts = _centres(X, 10, 1)

    def ours() -> dict[str, Any]:  # the peer ends with an E step, so ours runs one more cycle
        fit = kmeans(X, starts, max_iter=LARGE_CYCLES + 1, snapshots=(LARGE_CYCLES,))
        return {
            "labels": fit.labels,
            "centres": fit.snapshots[LARGE_CYCLES],
            "distortion": fit.distortion[:, 2 * LARGE_CYCLES],
        }

    def read() -> None:
        for _ in range(LARGE_CYCLES + 1):
            in_blocks(lambda block: X[block].sum(), rows, 2**15)

    what = "the rows read, and added, once for each E step, on all cores"
    peer = partial(_kmeans_of_scikit_learn, X, starts, LARGE_CYCLES)
    return Contest(ours, peer, floor=Floor(what, read))


def alone(ours: Any, peer: Any) -> Contest:
    """Limit both to one thread."""
    import sklearn.cluster
    import sklearn.mixture  # noqa: F401  only loaded libraries can be limited

    limit = ThreadpoolController().limit

    def on_one(way: Any) -> Any:
        with limit(limits=1), threads(1):
            return way()

    return Contest(partial(on_one, ours), partial(on_one, peer))


# Each with enough rows for a first call that loads everything that the large one needs.
LARGE = {"em": (_em_rows, 10_000), "kmeans": (_kmeans_rows, 500_000)}


def _peaks(name: str, rows: int) -> tuple[int, int]:
    """Peak memory of our code and of the peer, each in its own process."""
    command = [sys.executable, "-m", "benchmarks.mixtures", name, str(rows)]
    ours, peer = (
        int(subprocess.run([*command, way], check=True, capture_output=True).stdout)
        for way in ("ours", "peer")
    )
    return ours, peer


def _peak(name: str, rows: int, way: str) -> int:
    """Bytes by which the peak of a function exceeds the memory with the data."""
    make, few = LARGE[name]
    getattr(make(few), way)()  # imports and compilation are not counted
    contest = make(rows)
    ctypes.CDLL(None).malloc_trim(0)  # release memory of the first call
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak to the present memory
    before = _high_water()
    getattr(contest, way)()
    return _high_water() - before


def _high_water() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


BOUND = (
    "numba's import and the kernel's first use are outside the clock. Arithmetic bounds it, not"
    " memory: on one core an E step takes as long as the product of rows and centres in BLAS."
)

CASES: list[Case] = [
    Case(
        "EM for a Gaussian mixture, many starts",
        "scikit-learn GaussianMixture in a loop",
        goal=20,
        make=_em_restarts,
        size=200,
        unit=f"starts of {STEPS} steps on 272 x 2, K = 2",
        package="sklearn",
        sizes=(100, 200, 400, 800, 1600),
    ),
    Case(
        "EM for a Gaussian mixture, many rows",
        "scikit-learn GaussianMixture",
        goal=1.5,
        make=_em_rows,
        size=1_000_000,
        unit=f"rows x 8, K = 10, {LARGE_STEPS} steps",
        package="sklearn",
        sizes=(12_500, 25_000, 50_000, 100_000),
        rounds=3,
        peer_size=200_000,
        memory=partial(_peaks, "em"),
    ),
    Case(
        "K-means, many starts",
        "scikit-learn KMeans in a loop",
        goal=10,
        make=_kmeans_restarts,
        size=500,
        unit="starts on 272 x 2, K = 2",
        package="sklearn",
        sizes=(250, 500, 1000, 2000),
    ),
    Case(
        "K-means, many rows",
        "scikit-learn KMeans",
        goal=1.5,
        make=_kmeans_rows,
        size=1_000_000,
        unit=f"rows x 8, K = 10, {LARGE_CYCLES} cycles",
        package="sklearn",
        sizes=(500_000, 1_000_000, 2_000_000, 4_000_000),
        memory=partial(_peaks, "kmeans"),
        note=BOUND,
    ),
]

if __name__ == "__main__":
    print(_peak(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
