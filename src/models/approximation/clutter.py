r"""Posterior of a Gaussian's mean among clutter: EP and other approximations (PRML 10.7.1).

    p(x | theta) = (1 - w) N(x | theta, I) + w N(x | 0, a I),   p(theta) = N(theta | 0, b I)  10.209
    q(theta) = N(theta | m, v I)                                                              10.212

The factor that approximates p(x_n | theta) is the exponential of c + shift^T theta - precision
|theta|^2 / 2: its precision 1 / v_n may be zero or negative, so the code stores this form and not
m_n and v_n. Data sets of one size are a batch: x has shape (S, N, D).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bythebook.models.types import Floats, Ints


class Clutter(NamedTuple):
    """Parameters of the clutter and the prior of the mean."""

    w: float  # the share of clutter
    a: float  # its variance
    b: float  # the prior variance of the mean


class Sites(NamedTuple):
    """Factors exp(c + shift^T theta - precision |theta|^2 / 2), one for each point."""

    precision: Floats  # (S, N)
    shift: Floats  # (S, N, D)


class Gaussian(NamedTuple):
    """N(mean, variance I) as an approximate posterior, and the evidence that goes with it."""

    mean: Floats  # (..., D)
    variance: Floats  # (...)
    log_evidence: Floats  # (...)


class Tilted(NamedTuple):
    """A factor p(x | theta) times a Gaussian N(m, v I): its normaliser and moments."""

    log_z: Floats
    rho: Floats  # the probability that the point is no clutter
    mean: Floats
    variance: Floats


def log_normal(square: Floats, variance: Floats | float, D: int) -> Floats:
    """The log of a spherical Gaussian at a squared distance from its mean."""
    return np.asarray(-(square / variance + D * np.log(2 * np.pi * variance)) / 2)


def tilted(x: Floats, m: Floats, v: Floats, of: Clutter) -> Tilted:
    """Normaliser, mean and variance of p(x | theta) N(theta | m, v I); x, m (..., D), v (...)."""
    D = x.shape[-1]
    off = x - m
    square = (off**2).sum(-1)
    with np.errstate(divide="ignore"):  # without clutter, or with nothing else
        signal = np.log(1 - of.w) + log_normal(square, v + 1, D)
        noise = np.log(of.w) + log_normal((x**2).sum(-1), of.a, D)
    log_z = np.logaddexp(signal, noise)  # 10.216
    rho = np.exp(signal - log_z)  # 10.219
    gain = v / (v + 1)
    mean = m + (rho * gain)[..., None] * off  # 10.217
    variance = v - rho * v * gain + rho * (1 - rho) * gain**2 * square / D  # 10.218
    return Tilted(log_z, rho, mean, variance)


def log_partition(precision: Floats, shift: Floats) -> Floats:
    """The log of the integral of exp(shift^T theta - precision |theta|^2 / 2)."""
    D = shift.shape[-1]
    return np.asarray(((shift**2).sum(-1) / precision + D * np.log(2 * np.pi / precision)) / 2)


class Propagation(NamedTuple):
    """Expectation propagation, pass by pass."""

    sites: Sites
    course: Gaussian  # (P + 1, S, ...) after each pass; first of all the prior
    change: Floats  # (P, S) the largest change of mean and variance in a pass
    log_z: Floats  # (S, N) the normaliser of each factor when it was last refined
    constant: Floats  # (S, N) the c of each factor then


def propagate(
    x: Floats,
    of: Clutter,
    passes: int,
    damping: float = 0.0,
    order: Ints | None = None,
    rest: float = 1e-13,
) -> Propagation:
    """Refine factors one by one, in the order (S, N) given, until all data sets have converged.

    A cavity without positive variance is left out for this time. Passes that are not made repeat
    the last. With damping a share of the old factor stays.
    """
    S, N, D = x.shape
    rows = np.arange(S)
    order = np.broadcast_to(np.arange(N), (S, N)) if order is None else order
    precision, shift = np.zeros((S, N)), np.zeros((S, N, D))
    log_z, constant = np.zeros((S, N)), np.zeros((S, N))
    P, h = np.full(S, 1 / of.b), np.zeros((S, D))  # of q, at first the prior
    course, change = [_summary(x, of, Sites(precision, shift))], np.zeros((passes, S))
    for k in range(passes):
        for n in order.T:
            old_P, old_h = precision[rows, n], shift[rows, n]
            cavity, mean_h = P - old_P, h - old_h  # 10.214, 10.215
            good = cavity > 0
            v = 1 / np.where(good, cavity, 1.0)
            found = tilted(x[rows, n], mean_h * v[:, None], v, of)
            new_P = 1 / found.variance - cavity  # 10.220
            new_h = found.mean / found.variance[:, None] - mean_h  # 10.221
            keep = np.where(good, damping, 1.0)
            step_P, step_h = (1 - keep) * (new_P - old_P), (1 - keep)[:, None] * (new_h - old_h)
            precision[rows, n], shift[rows, n] = old_P + step_P, old_h + step_h
            P, h = P + step_P, h + step_h
            log_z[rows, n] = found.log_z
            with np.errstate(invalid="ignore", divide="ignore"):  # where it was left out
                both = log_partition(cavity, mean_h) - log_partition(P, h)
            constant[rows, n] = found.log_z + np.where(good, both, 0.0)
        course.append(_summary(x, of, Sites(precision, shift)))
        before, after = course[-2], course[-1]
        change[k] = np.maximum(
            np.abs(after.mean - before.mean).max(-1), np.abs(after.variance - before.variance)
        )
        if change[k].max() <= rest:
            course += [after] * (passes - 1 - k)
            break
    stacked = Gaussian(*(np.array(part) for part in zip(*course, strict=True)))
    return Propagation(Sites(precision, shift), stacked, change, log_z, constant)


def _summary(x: Floats, of: Clutter, sites: Sites) -> Gaussian:
    P = 1 / of.b + sites.precision.sum(-1)
    h = sites.shift.sum(-2)
    return Gaussian(h / P[..., None], 1 / P, log_evidence(x, of, sites))


def log_evidence(x: Floats, of: Clutter, sites: Sites) -> Floats:
    """The evidence that factors (..., N) imply; minus it is the energy of EP.

    Each is scaled to have its factor's integral in its cavity (10.201), and the integral is that
    of the product of all (10.208). It is stationary in all factors where EP has converged, and NaN
    where a cavity has no positive variance.
    """
    D = x.shape[-1]
    P, h = 1 / of.b + sites.precision.sum(-1), sites.shift.sum(-2)
    cavity, cavity_h = P[..., None] - sites.precision, h[..., None, :] - sites.shift
    good = (cavity > 0).all(-1) & (P > 0)
    cavity = np.where(good[..., None], cavity, 1.0)
    whole = log_partition(np.where(good, P, 1.0), h)
    found = tilted(x, cavity_h / cavity[..., None], 1 / cavity, of)
    scaled = found.log_z - whole[..., None] + log_partition(cavity, cavity_h)
    total = scaled.sum(-1) + whole - log_partition(np.array(1 / of.b), np.zeros(D))
    return np.where(good, total, np.nan)


def alone(x: Floats, of: Clutter) -> Gaussian:
    """Each factor fitted with the prior as its only context, and all multiplied."""
    v, m = np.full(x.shape[:2], of.b), np.zeros_like(x)
    found = tilted(x, m, v, of)
    sites = Sites(1 / found.variance - 1 / v, found.mean / found.variance[..., None])
    return _summary(x, of, sites)


class Climb(NamedTuple):
    """The state of an approximation after each iteration, (I, S, ...)."""

    course: Gaussian


def variational(x: Floats, of: Clutter, iterations: int) -> Climb:
    """q(theta) q(z) as the approximate posterior of the mean and of the labels of clutter.

    The log evidence is the lower bound, by its definition, when q(theta) has been updated.
    """
    S, N, D = x.shape
    r = np.full((S, N), 1 - of.w)
    noise = np.log(of.w) + log_normal((x**2).sum(-1), of.a, D)
    found = []
    for _ in range(iterations):
        v = 1 / (1 / of.b + r.sum(-1))
        m = v[:, None] * (r[..., None] * x).sum(1)
        square = ((x - m[:, None]) ** 2).sum(-1) + D * v[:, None]
        signal = np.log(1 - of.w) + log_normal(square, 1.0, D)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.nan_to_num(r * np.log(r)) - np.nan_to_num((1 - r) * np.log1p(-r))
        data = (r * signal + (1 - r) * noise + entropy).sum(-1)
        prior = log_normal((m**2).sum(-1) + D * v, of.b, D)
        found.append(Gaussian(m, v, data + prior + D * (1 + np.log(2 * np.pi * v)) / 2))
        r = np.exp(signal - np.logaddexp(signal, noise))
    return Climb(Gaussian(*(np.array(part) for part in zip(*found, strict=True))))


def laplace(x: Floats, of: Clutter, iterations: int) -> Climb:
    """A Gaussian at the mode that EM finds, with the variance from the curvature; D = 1."""
    S, N, _ = x.shape
    r, data = np.full((S, N), 1 - of.w), x[..., 0]
    noise = np.log(of.w) + log_normal(data**2, of.a, 1)
    found = []
    for _ in range(iterations):
        mode = (r * data).sum(-1) / (1 / of.b + r.sum(-1))
        off = data - mode[:, None]
        signal = np.log(1 - of.w) + log_normal(off**2, 1.0, 1)
        total = np.logaddexp(signal, noise)
        r = np.exp(signal - total)
        curvature = 1 / of.b + (r - r * (1 - r) * off**2).sum(-1)
        log_g = total.sum(-1) + log_normal(mode**2, of.b, 1)
        with np.errstate(invalid="ignore"):  # on the way, where the curve bends upwards
            evidence = log_g + np.log(2 * np.pi / curvature) / 2
        found.append(Gaussian(mode[:, None], 1 / curvature, evidence))
    return Climb(Gaussian(*(np.array(part) for part in zip(*found, strict=True))))


class OnGrid(NamedTuple):
    """The exact posterior in one dimension, by the trapezoidal rule."""

    theta: Floats  # (G,)
    density: Floats  # (S, G)
    summary: Gaussian


def exact(x: Floats, of: Clutter, reach: float = 50.0, points: int = 2001) -> OnGrid:
    """Prior times likelihood on a grid that is finer than the width of any posterior."""
    theta = np.linspace(-reach, reach, points)
    log_p = np.broadcast_to(log_normal(theta**2, of.b, 1), (len(x), points)).copy()
    constant = (1 - of.w) / np.sqrt(2 * np.pi)
    noise = of.w * np.exp(log_normal(x[..., 0] ** 2, of.a, 1))
    for start in range(0, x.shape[1], 8):  # logarithms of eight factors at a time
        part = slice(start, start + 8)
        signal = constant * np.exp(-((x[:, part] - theta) ** 2) / 2)
        log_p += np.log((signal + noise[:, part, None]).prod(1))
    step = theta[1] - theta[0]
    evidence = logsumexp(log_p, axis=-1) + np.log(step)
    density = np.exp(log_p - evidence[:, None])
    mean = density @ theta * step
    variance = density @ theta**2 * step - mean**2
    return OnGrid(theta, density, Gaussian(mean[:, None], variance, evidence))


def total_variation(posterior: OnGrid, mean: Floats, variance: Floats) -> Floats:
    """Half the integral of |p - N(mean, variance)|, for mean and variance (S,) or (S, ...)."""
    more = (1,) * (mean.ndim - 1)
    p = posterior.density.reshape(len(posterior.density), *more, -1)
    q = np.exp(log_normal((posterior.theta - mean[..., None]) ** 2, variance[..., None], 1))
    return np.asarray(np.abs(p - q).sum(-1) * (posterior.theta[1] - posterior.theta[0]) / 2)


def draw(theta: float, of: Clutter, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Data sets (S, N, 1): some points about theta, the others clutter."""
    noise = rng.random(shape) < of.w
    z = rng.standard_normal(shape)
    return np.asarray(np.where(noise, np.sqrt(of.a) * z, theta + z)[..., None])
