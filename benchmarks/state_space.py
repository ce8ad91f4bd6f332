"""Kalman filter and smoother for MLAPP 18.2.1's tracker: many series of one model, one long one.

Four states, position and velocity in the plane; two outputs, the position. statsmodels and pykalman
are called below their public methods, which copy every result and filter three times.
"""

import functools
from collections.abc import Callable

import numpy as np

from benchmarks.case import Answer, Case, Contest
from bythebook.models.state_space.kalman import LDS, kalman_filter, rts_smoother
from bythebook.models.types import Floats

LENGTH = 200  # of each of many series
NOISE = 0.001  # noise of the state, as in Figure 18.1
RESTLESS = 0.03  # with this noise our covariances do not converge in their last bit

Peer = Callable[[LDS, Floats], Callable[[], Answer]]


def many(peer: Peer, size: int) -> Contest:
    return _contest(peer, tracker(NOISE), (size, LENGTH))


def long(peer: Peer, size: int) -> Contest:
    return _contest(peer, tracker(NOISE), (1, size))


def restless(size: int) -> Contest:
    theta = tracker(RESTLESS)
    P = kalman_filter(theta, np.zeros((size, 2))).predicted.cov
    if np.array_equal(P[-1], P[-2]):
        raise ValueError(f"with noise {RESTLESS} the covariances come to rest: choose another")
    return _contest(functools.partial(statsmodels, tolerance=0.0), theta, (1, size))


def tracker(noise: float) -> LDS:
    A = np.eye(4) + np.eye(4, k=2)
    mu0 = np.array([8.0, 10.0, 1.0, 0.0])
    return LDS(A, noise * np.eye(4), np.eye(2, 4), np.eye(2), mu0, np.eye(4))


def _contest(peer: Peer, theta: LDS, shape: tuple[int, int]) -> Contest:
    x = tracks(theta, shape)
    return Contest(lambda: ours(theta, x), peer(theta, x))


def tracks(theta: LDS, shape: tuple[int, int]) -> Floats:
    """The outputs (series, N, 2) of `kalman.simulate`, computed with cumulative sums."""
    rng = np.random.default_rng(0)
    w = np.sqrt(theta.Gamma[0, 0]) * rng.standard_normal((*shape, 4))
    velocity = theta.mu0[2:] + w[..., 2:].cumsum(1)
    position = theta.mu0[:2] + (velocity + w[..., :2]).cumsum(1)
    return np.asarray(position + rng.standard_normal(position.shape))


def ours(theta: LDS, x: Floats) -> Answer:
    passed = kalman_filter(theta, x)
    smoothed = rts_smoother(theta, passed)
    return {
        "filtered": passed.filtered.mean,
        "filtered_cov": passed.filtered.cov,
        "smoothed": smoothed.state.mean,
        "smoothed_cov": smoothed.state.cov,
        "log_likelihood": passed.log_likelihood,
    }


def statsmodels(theta: LDS, x: Floats, *, tolerance: float = 1e-19) -> Callable[[], Answer]:
    """The compiled passes of statsmodels, set up once; each series is written into their array.

    Below a change of `tolerance` the covariances count as converged; zero means never. Processing
    the outputs one at a time, as their noise is independent, is its fastest method for this model.
    """
    from statsmodels.tsa.statespace.kalman_filter import FILTER_UNIVARIATE
    from statsmodels.tsa.statespace.kalman_smoother import (
        SMOOTHER_STATE,
        SMOOTHER_STATE_COV,
        KalmanSmoother,
    )

    D, M = theta.C.shape
    model = KalmanSmoother(
        D,
        M,
        filter_method=FILTER_UNIVARIATE,
        smoother_output=SMOOTHER_STATE | SMOOTHER_STATE_COV,
        tolerance=tolerance,
    )
    model.bind(x[0].copy())
    model["design"], model["obs_cov"] = theta.C, theta.Sigma
    model["transition"], model["selection"] = theta.A, np.eye(M)
    model["state_cov"] = theta.Gamma
    model.initialize_known(theta.mu0, theta.V0)
    forward, backward = model._filter(), model._smooth()
    data = model._representations["d"]["obs"]

    def run() -> Answer:
        filtered, smoothed = np.empty((2, *x.shape[:2], M))
        log_likelihood = np.empty(len(x))
        for s, series in enumerate(x):
            data[:] = series.T
            model._initialize_state(prefix="d")
            forward()
            backward()
            filtered[s] = np.asarray(forward.filtered_state).T
            smoothed[s] = np.asarray(backward.smoothed_state).T
            log_likelihood[s] = np.sum(forward.loglikelihood)
        return {
            "filtered": filtered,
            "filtered_cov": np.array(forward.filtered_state_cov).transpose(2, 0, 1),
            "smoothed": smoothed,
            "smoothed_cov": np.array(backward.smoothed_state_cov).transpose(2, 0, 1),
            "log_likelihood": log_likelihood,
        }

    return run


def pykalman(theta: LDS, x: Floats) -> Callable[[], Answer]:
    """The three passes of pykalman, each once."""
    from pykalman import standard

    A, Gamma, C, Sigma, mu0, V0 = theta
    b, d = np.zeros(len(A)), np.zeros(len(C))  # offsets of the model

    def run() -> Answer:
        filtered, smoothed = np.empty((2, *x.shape[:2], len(A)))
        log_likelihood = np.empty(len(x))
        for s, series in enumerate(np.ma.asarray(x)):
            ahead, P, _, mu, V = standard._filter(A, C, Gamma, Sigma, b, d, mu0, V0, series)
            filtered[s] = mu
            smoothed[s], cov, _ = standard._smooth(A, mu, V, ahead, P)
            log_likelihood[s] = standard._loglikelihoods(C, d, Sigma, ahead, P, series).sum()
        return {
            "filtered": filtered,
            "filtered_cov": V,
            "smoothed": smoothed,
            "smoothed_cov": cov,
            "log_likelihood": log_likelihood,
        }

    return run


MANY = "Kalman filter and smoother, many series of 200"
LONG = "Kalman filter and smoother, one long series"
SERIES = (1000, 2000, 4000, 8000)
LENGTHS = (50_000, 100_000, 200_000, 400_000)

CASES: list[Case] = [
    Case(
        MANY,
        "statsmodels, a series at a time",
        goal=10,
        make=functools.partial(many, statsmodels),
        size=1000,
        unit="series",
        package="statsmodels",
        sizes=SERIES,
        note="One covariance recursion serves all our series.",
    ),
    Case(
        MANY,
        "pykalman, a series at a time (10 series, scaled)",
        goal=10,
        make=functools.partial(many, pykalman),
        size=1000,
        unit="series",
        package="pykalman",
        sizes=SERIES,
        peer_size=10,
    ),
    Case(
        LONG,
        "statsmodels",
        goal=2,
        make=functools.partial(long, statsmodels),
        size=100_000,
        unit="steps",
        package="statsmodels",
        sizes=LENGTHS,
        note="Both stop the covariance recursion at rest: we when it repeats to the bit.",
    ),
    Case(
        LONG,
        "statsmodels, every covariance computed",
        goal=2,
        make=restless,
        size=100_000,
        unit="steps",
        package="statsmodels",
        sizes=LENGTHS,
        note="A model whose covariances never repeat to the bit: we compute every one too.",
    ),
    Case(
        LONG,
        "pykalman (1,000 steps, scaled)",
        goal=2,
        make=functools.partial(long, pykalman),
        size=100_000,
        unit="steps",
        package="pykalman",
        sizes=LENGTHS,
        peer_size=1000,
    ),
]
