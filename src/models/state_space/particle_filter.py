r"""The bootstrap particle filter: sequential importance resampling for any state-space model.

    z_1 ~ p(z_1),    z_n ~ p(z_n | z_{n-1}),    x_n ~ p(x_n | z_n)                  PRML Figure 13.5

L particles z^(l) with weights w^(l) represent the belief about the state. Each step draws from the
mixture of the last step, and weights the draws by the likelihood of the new data point:

    z_n^(l)  ~  sum_m w_{n-1}^(m) p(z_n | z_{n-1}^(m))                              PRML 13.119
    w_n^(l)  ~  w_{n-1}^(l) p(x_n | z_n^(l))                                        PRML 13.118

PRML 13.3.4 redraws the component of the mixture at every step, after which all weights are
equal. Resampling adds noise, so it is done only where few particles carry the weight (MLAPP
23.5): where the effective sample size 1 / sum_l w^(l)^2 is below a threshold, and then by
systematic resampling, one uniform number for all of them. Sums of weights estimate
c_n = p(x_n | x_1..x_{n-1}), and their product the likelihood, without bias.

Leading axes are a batch of filters, of shape `size`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Bools, Floats, Ints


class StateSpace(NamedTuple):
    """A state-space model and its data, as functions of the step n = 0..N-1."""

    initial: Callable[[tuple[int, ...], Generator], Floats]  # shape (..., L): draws of z_1
    propagate: Callable[[int, Floats, Generator], Floats]  # n, z_{n-1}: draws of z_n, same shape
    log_weight: Callable[[int, Floats], Floats]  # n, z_n (..., L, M): ln p(x_n | z_n), (..., L)


class ParticleFiltered(NamedTuple):
    """Estimates of the filter, and the particles it ends with."""

    mean: Floats  # (..., N, M) E[z_n | x_1..x_n] (13.117)
    log_c: Floats  # (..., N) ln p(x_n | x_1..x_{n-1}); -inf from where no particle explains x_n
    ess: Floats  # (..., N) effective sample size, before resampling
    z: Floats  # (..., L, M) particles of the last step
    W: Floats  # (..., L) their weights, of sum one

    @property
    def log_likelihood(self) -> Floats:
        """The sum of ln c_n; the mean of its exponential is the likelihood, shape (...)."""
        return np.asarray(self.log_c.sum(-1))


def bootstrap_filter(
    model: StateSpace,
    n_steps: int,
    n_particles: int,
    rng: Generator,
    *,
    size: tuple[int, ...] = (),
    threshold: float = 0.5,
) -> ParticleFiltered:
    """Run `n_particles` over the data; resample below `threshold` times as many effective ones.

    Threshold 0 never resamples (sequential importance sampling), threshold 1 almost always.
    """
    L = n_particles
    log_W: Floats = np.full((*size, 1), -np.log(L))
    mean, log_c, ess = [], [], []
    lost: Bools = np.zeros((*size, 1), dtype=np.bool_)
    z = model.initial((*size, L), rng)
    for n in range(n_steps):
        if n:
            z = model.propagate(n, z, rng)
        log_w = log_W + model.log_weight(n, z)
        top = log_w.max(-1, keepdims=True)
        lost = lost | (top == -np.inf)
        with np.errstate(invalid="ignore"):  # -inf - -inf
            W = np.exp(log_w - top)
        total = W.sum(-1, keepdims=True)
        W /= total  # 13.118
        log_total = top + np.log(total)
        log_c.append(np.where(lost, -np.inf, log_total))
        mean.append(_average(W, z))  # 13.117
        ess.append(1 / np.square(W).sum(-1))  # MLAPP 23.5
        poor = ess[-1] < threshold * L
        log_W = log_w - log_total
        if n < n_steps - 1 and poor.any():
            z = _resampled(z, np.where(poor[..., np.newaxis], W, 1.0), rng)
            log_W = np.where(poor[..., np.newaxis], -np.log(L), log_W)
    return ParticleFiltered(
        mean=np.stack(mean, -2),
        log_c=np.concatenate(log_c, -1),
        ess=np.stack(ess, -1),
        z=z,
        W=W,
    )


def _average(W: Floats, f: Floats) -> Floats:
    """The sum of w^(l) f^(l), without BLAS: on a busy machine its threads would slow it down."""
    return np.asarray(np.einsum("...l,...lm->...m", W, f))


def systematic_counts(W: Floats, u: Floats | float) -> Ints:
    """The number of copies of each of L particles, for unnormalised weights W (..., L).

    The points (i + u) / L, i = 0..L-1, fall into intervals with the lengths of the weights: a
    particle of weight w gets L w copies on average over u in [0, 1), rounded up or down. With equal
    weights every particle gets one copy.
    """
    L = W.shape[-1]
    ends = np.cumsum(W, axis=-1)
    ends /= ends[..., -1:]  # the last is 1, and none is larger
    counts: Ints = np.ceil(L * ends - np.asarray(u)[..., np.newaxis]).astype(np.int64)
    counts[..., -1] = L  # u close to 1 might be rounded to 1
    counts[..., 1:] -= counts[..., :-1].copy()
    return counts


def _resampled(z: Floats, W: Floats, rng: Generator) -> Floats:
    """Each filter's particles, repeated by the counts from their weights."""
    counts = systematic_counts(W, rng.random(W.shape[:-1]))
    return z.reshape(-1, z.shape[-1]).repeat(counts.ravel(), axis=0).reshape(z.shape)
