"""The clutter problem: expectation propagation and others against the exact posterior (PRML 10.7).

Each data set has points about a mean theta, of which a share is clutter. The mean is inferred.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import norm

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import clutter
from bythebook.models.approximation.clutter import Clutter, Gaussian, OnGrid, Propagation
from bythebook.models.types import Floats

WAYS = ["exact", "ep", "adf", "variational", "laplace", "alone"]
# Additions, products, quotients, roots and exponentials for one point, in one pass or iteration.
OPERATIONS = {"ep": 38, "variational": 16, "laplace": 15}
BY_HAND = 3  # data sets of each size whose posterior is computed point by point
SEARCHED = 12  # factors whose projection is searched for


@dataclass
class ClutterProblem(Study):
    """Posteriors of a mean in clutter by EP, one pass of it, variational Bayes and Laplace.

    The way "alone" fits each factor with the prior as its only context. Iterations are passes
    through all points, or rounds of variational updates or of EM.
    """

    headline = {"ep_total_variation": "median(total_variation[:, 'ep'])"}
    more_quantities = True
    quantities = {
        "total_variation": quantity(
            "total variation between approximate and exact posterior", "points way set"
        ),
    }

    theta: float = knob(2.0, "the mean that is to be found", at_least=-10, at_most=10)
    share: float = knob(0.5, "of clutter, w", above=0, below=1)
    clutter_variance: float = knob(10.0, "of clutter, a", above=0)
    prior_variance: float = knob(100.0, "of the mean, b", above=0, at_most=150)
    points: list[int] = knob([20], "points of a data set", at_least=1, at_most=2000, distinct=True)
    sets: int = knob(50, "data sets of each size", at_least=1, at_most=5000)
    passes: int = knob(50, "passes, or iterations", at_least=2, at_most=1000)
    dampings: list[float] = knob(
        [0.0], "shares of the old factor that stay; the first is shown", at_least=0, below=1
    )
    orders: int = knob(0, "orders of the points of the first size; 0: as they come", at_least=0)

    @property
    def known(self) -> Clutter:
        return Clutter(self.share, self.clutter_variance, self.prior_variance)

    def run(self, rng: Generator) -> Outcome:
        size, place, way = axis("points", self.points), axis("set", self.sets), axis("way", WAYS)
        damping, step = axis("damping", self.dampings), axis("iteration", self.passes)
        data = [clutter.draw(self.theta, self.known, (self.sets, N), rng) for N in self.points]
        each = [self._compared(x) for x in data]
        axes: dict[str, tuple[Axis, ...]] = {
            "centre": (way, place),
            "spread": (way, place),
            "log_evidence": (way, place),
            "total_variation": (way, place),
            "change": (damping, place),
            "bound": (place, step),
            "energy_rise": (place,),
            "energy_slope": (place,),
            "centre_course": (axis("climb", list(OPERATIONS)), place, step),
            "evidence_course": (axis("climb", list(OPERATIONS)), place, step),
            "sample_mean": (place,),
            "sample_square": (place,),
            "new_centre": (place, axis("factor_of", min(self.points))),
            "new_spread": (place, axis("factor_of", min(self.points))),
            "factors_evidence": (place,),
            "collapsed_bound": (place,),
            "posterior": (
                axis("computed", ["by the model", "by hand"]),
                axis("hand", min(BY_HAND, self.sets)),
                axis("told_of", ["centre", "spread", "log evidence", "variation of ep"]),
            ),
            "alone_by_hand": (axis("moment", ["centre", "spread"]), place),
            "laplace_slope": (place,),
            "laplace_bend": (place,),
            "laplace_height": (place,),
        }
        found = {name: over([of[name] for of in each], size, *a) for name, a in axes.items()}
        cost = np.multiply.outer(list(OPERATIONS.values()), self.points)
        return Outcome(
            **found,
            operations=over(cost, axis("climb", list(OPERATIONS)), size),
            clean_gap=size.of([_clean_gap(x, self.prior_variance) for x in data]),
            projection_gap=axis("factor", SEARCHED).of(
                [_projection_gap(x, m, self.known) for x, m in rng.normal(0, 3, (SEARCHED, 2))]
            ),
            **self._in_orders(data[0], rng),
        )

    def _compared(self, x: Floats) -> dict[str, Floats]:
        """All methods on data sets of one size."""
        known, posterior = self.known, clutter.exact(x, self.known)
        runs = [clutter.propagate(x, known, self.passes, share) for share in self.dampings]
        first, ep = _at(runs[0].course, 1), _at(runs[0].course, -1)
        vb = clutter.variational(x, known, self.passes).course
        laplace = clutter.laplace(x, known, self.passes).course
        found = [posterior.summary, ep, first, _at(vb, -1), _at(laplace, -1)]
        found.append(clutter.alone(x, known))
        centre = np.array([g.mean[..., 0] for g in found])
        spread = np.array([g.variance for g in found])
        evidence = np.array([g.log_evidence for g in found])
        evidence[2] = clutter.propagate(x, known, 1).log_z.sum(-1)  # of one pass: 10.243
        variation = _variations(posterior, centre, spread)
        summaries = np.stack([centre[0], spread[0], evidence[0], variation[1]], axis=-1)
        courses = [_from(runs[0].course, 1), vb, laplace]
        return {
            "centre": centre,
            "spread": spread,
            "log_evidence": evidence,
            "total_variation": variation,
            "change": np.array([run.change[-1] for run in runs]),
            "sample_mean": x[..., 0].mean(1),
            "sample_square": (x[..., 0] ** 2).mean(1),
            **_refined(x[..., 0], known, runs[0], min(self.points)),
            "collapsed_bound": _collapsed(x[..., 0], known, centre[3], spread[3]),
            "posterior": np.array([summaries[:BY_HAND], _by_hand(x[:BY_HAND, :, 0], known, ep)]),
            "alone_by_hand": _alone(x[..., 0], known),
            **_at_the_mode(x[..., 0], known, centre[4]),
            "bound": vb.log_evidence.T,
            "energy_rise": _largest_rise(runs[0]),
            "energy_slope": clutter.energy_slope(x, known, runs[0].sites),
            "centre_course": np.array([c.mean[..., 0].T for c in courses]),
            "evidence_course": np.array([c.log_evidence.T for c in courses]),
        }

    def _in_orders(self, x: Floats, rng: Generator) -> dict[str, Quantity]:
        """Estimates from the same points in other orders, by one pass and by many."""
        if not self.orders:
            return {}
        S, N, _ = x.shape
        turns = rng.permuted(np.tile(np.arange(N), (S * self.orders, 1)), axis=1)
        again = np.repeat(x, self.orders, axis=0)
        one = clutter.propagate(again, self.known, 1, order=turns)
        many = clutter.propagate(again, self.known, self.passes, order=turns)
        ends = [_at(run.course, -1) for run in (one, many)]
        centre = np.array([g.mean.reshape(S, self.orders) for g in ends])
        spread = np.array([g.variance.reshape(S, self.orders) for g in ends])
        posterior = clutter.exact(x, self.known)
        off = [
            clutter.total_variation(posterior, m, v) for m, v in zip(centre, spread, strict=True)
        ]
        axes = axis("set", S), axis("order", self.orders)
        method = axis("method", ["adf", "ep"])
        last, prior = ends[0], clutter.log_partition(np.array(1 / self.prior_variance), np.zeros(1))
        precision, shift = 1 / last.variance, last.mean / last.variance[:, None]
        integral = one.constant.sum(-1) + clutter.log_partition(precision, shift) - prior
        return {
            "order_centre": over(centre, method, *axes),
            "order_variation": over(off, method, *axes),
            "product_of_z": over(one.log_z.sum(-1).reshape(S, -1), *axes),
            "log_integral": over(integral.reshape(S, -1), *axes),
        }


def _new(x: Floats, of: Clutter, m: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Z, mean and variance of a factor in its cavity, as printed (10.216 to 10.219)."""
    noise = of.w * norm.pdf(x, 0, of.a**0.5)
    Z = (1 - of.w) * norm.pdf(x, m, np.sqrt(v + 1)) + noise
    rho, off = 1 - noise / Z, x - m
    spread = v - rho * v**2 / (v + 1) + rho * (1 - rho) * v**2 * off**2 / (v + 1) ** 2
    return Z, m + rho * v / (v + 1) * off, spread


def _refined(x: Floats, of: Clutter, run: Propagation, shown: int) -> dict[str, Floats]:
    """Every factor refined again where EP ended, and 10.223 with the prior's normaliser."""
    m, v = run.course.mean[-1], run.course.variance[-1][:, None]
    P, h = run.sites.precision, run.sites.shift[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):  # a context that is no density
        wide = 1 / (1 / v - P)  # 10.215
        at = m + wide * (P * m - h)  # 10.214
        Z, centre, spread = _new(x, of, at, np.where(wide > 0, wide, np.nan))
        scale = np.log(Z) + np.log(1 + P * wide) / 2  # 10.222
        B = (m**2 / v)[:, 0] - (h**2 / P - (h - P * at) ** 2 / (P * (1 + P * wide))).sum(-1)
    evidence = np.log(v[:, 0] / of.b) / 2 + B / 2 + scale.sum(-1)
    shown_of = {"new_centre": centre[:, :shown], "new_spread": spread[:, :shown]}
    return {**shown_of, "factors_evidence": evidence}


def _alone(x: Floats, of: Clutter) -> Floats:
    """Mean and variance of a product of factors that were each fitted with the prior alone."""
    _, m, v = _new(x, of, np.zeros_like(x), np.full_like(x, of.b))
    P = 1 / of.b + (1 / v - 1 / of.b).sum(1)
    return np.array([(m / v).sum(1) / P, 1 / P])


def _collapsed(x: Floats, of: Clutter, m: Floats, v: Floats) -> Floats:
    """The variational bound of q(theta) with the best q of the clutter indicators."""
    signal = np.log(1 - of.w) + norm.logpdf(x, m[:, None]) - v[:, None] / 2
    noise = np.log(of.w) + norm.logpdf(x, 0, of.a**0.5)
    divergence = ((v + m**2) / of.b - 1 - np.log(v / of.b)) / 2
    return np.asarray(np.logaddexp(signal, noise).sum(-1) - divergence)


def _log_joint(x: Floats, of: Clutter, theta: Floats) -> Floats:
    """10.211 for points (S, N) at places (S, G), point by point."""
    signal = np.log(1 - of.w) + norm.logpdf(x[..., None], theta[:, None])
    noise = np.log(of.w) + norm.logpdf(x, 0, of.a**0.5)
    return np.asarray(
        np.logaddexp(signal, noise[..., None]).sum(1) + norm.logpdf(theta, 0, of.b**0.5)
    )


def _by_hand(x: Floats, of: Clutter, ep: Gaussian) -> Floats:
    """Moments and evidence of 10.211 on a separate grid, and the error of EP's Gaussian."""
    theta, step = np.linspace(-60, 60, 3001, retstep=True)
    log = _log_joint(x, of, np.tile(theta, (len(x), 1)))
    evidence = logsumexp(log, axis=1) + np.log(step)
    p = np.exp(log - evidence[:, None]) * step
    mean = p @ theta
    q = norm.pdf(theta, ep.mean[: len(x)], np.sqrt(ep.variance[: len(x), None])) * step
    spread = (p * (theta - mean[:, None]) ** 2).sum(1)
    return np.stack([mean, spread, evidence, np.abs(p - q).sum(1) / 2], axis=-1)


def _at_the_mode(x: Floats, of: Clutter, mode: Floats) -> dict[str, Floats]:
    """Slope, bend and height of 10.211 at the mean of Laplace's Gaussian, by differences."""
    h = 1e-3
    down, here, up = _log_joint(x, of, mode[:, None] + np.array([-h, 0, h])).T
    return {
        "laplace_slope": (up - down) / (2 * h),
        "laplace_bend": (up - 2 * here + down) / h**2,
        "laplace_height": here,
    }


def _at(course: Gaussian, k: int) -> Gaussian:
    return Gaussian(*(part[k] for part in course))


def _from(course: Gaussian, k: int) -> Gaussian:
    return Gaussian(*(part[k:] for part in course))


def _variations(posterior: OnGrid, centre: Floats, spread: Floats) -> Floats:
    """Total variation of all methods except the first, which is the posterior."""
    off = [
        clutter.total_variation(posterior, m, v)
        for m, v in zip(centre[1:], spread[1:], strict=True)
    ]
    return np.array([np.zeros(centre.shape[1]), *off])


def _largest_rise(run: Propagation) -> Floats:
    """The largest rise of the energy, minus the log evidence, in one pass; zero if none."""
    steps = -np.diff(run.course.log_evidence, axis=0)
    return np.asarray(np.nan_to_num(steps).max(0, initial=0.0))


def _clean_gap(x: Floats, b: float) -> float:
    """One pass without clutter against the conjugate posterior: mean, variance, evidence."""
    N, total = x.shape[1], x.sum(1)[:, 0]
    run = clutter.propagate(x, Clutter(0.0, 1.0, b), 1)
    P = 1 / b + N
    squares = (x**2).sum((1, 2)) - total**2 / P
    evidence = -(N * np.log(2 * np.pi) + np.log(b * P) + squares) / 2
    end = _at(run.course, -1)
    mean, spread = np.abs(end.mean[:, 0] - total / P).max(), np.abs(end.variance * P - 1).max()
    return float(max(mean, spread, np.abs(run.log_z.sum(-1) - evidence).max()))


def _projection_gap(x: float, m: float, known: Clutter, v: float = 2.0) -> float:
    """The smallest divergence of a factor in N(m, v), by a search, against its moments."""
    theta = np.linspace(m - 15, m + 15, 601)
    factor = clutter.tilted(np.full((601, 1), x), theta[:, None], np.zeros(601), known).log_z
    p = np.exp(factor + clutter.log_normal((theta - m) ** 2, v, 1))
    p /= p.sum()

    def divergence(at: Floats) -> float:
        return -float(p @ clutter.log_normal((theta - at[0]) ** 2, float(np.exp(at[1])), 1))

    options = {"xatol": 1e-9, "fatol": 1e-15, "maxiter": 2000}
    found = np.array([m, 0.0])
    for _ in range(3):  # a simplex may have collapsed on the way
        found = minimize(divergence, found, method="Nelder-Mead", options=options).x
    moments = clutter.tilted(np.array([x]), np.array([m]), np.array(v), known)
    gaps = found[0] - moments.mean[0], np.exp(found[1]) - moments.variance
    return float(np.abs(gaps).max())
