"""Factors of the clutter problem and their Gaussian approximations (PRML 10.7.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import clutter
from bythebook.models.approximation.clutter import Clutter
from bythebook.models.approximation.clutter_equations import EQUATIONS, Case, gaps
from bythebook.models.types import Floats

DIMENSIONS = [1, 2]
FITTED = 200  # points whose factors are fitted in several contexts


@dataclass
class ClutterFactors(Study):
    """Approximation of single factors in their contexts, and its equations (PRML 10.7.1)."""

    headline = {"negative": "mean(negative_factors)"}
    more_quantities = True
    quantities = {
        "negative_factors": quantity("refined factors with a negative precision", "set"),
    }

    theta: float = knob(2.0, "the mean that is to be found", at_least=-10, at_most=10)
    share: float = knob(0.5, "of clutter, w", above=0, below=1)
    clutter_variance: float = knob(10.0, "of clutter, a", above=0)
    prior_variance: float = knob(100.0, "of the mean, b", above=0, at_most=150)
    points: int = knob(20, "points of a data set", at_least=2, at_most=500)
    sets: int = knob(100, "data sets", at_least=1, at_most=5000)
    passes: int = knob(50, "passes", at_least=1, at_most=1000)
    enumerated: list[int] = knob(
        [1, 4, 8], "points whose assignments are all enumerated", at_least=1, at_most=14
    )
    cavities: list[list[float]] = knob(
        [[-1.0, 0.5], [2.0, 0.5]], "mean and variance of contexts that factors are fitted in"
    )
    cases: int = knob(60, "drawn cases for each equation", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        of = Clutter(self.share, self.clutter_variance, self.prior_variance)
        x = clutter.draw(self.theta, of, (self.sets, self.points), rng)
        run, posterior = clutter.propagate(x, of, self.passes), clutter.exact(x, of)
        place = axis("set", self.sets)
        found = np.array([[gaps(_case(D, rng), of) for _ in range(self.cases)] for D in DIMENSIONS])
        equation, dimension = axis("equation", EQUATIONS), axis("dimension", DIMENSIONS)
        small = axis("points", self.enumerated)
        return Outcome(
            negative_factors=place.of((run.sites.precision < 0).sum(-1)),
            change=place.of(run.change[-1]),
            spread=place.of(run.course.variance[-1]),
            exact_spread=place.of(posterior.summary.variance),
            centre_error=place.of((run.course.mean[-1] - posterior.summary.mean)[:, 0]),
            equation_gap=over(
                np.moveaxis(found, -1, 0), equation, dimension, axis("case", self.cases)
            ),
            enumeration_gap=small.of([self._enumeration_gap(of, N, rng) for N in small.values]),
            terms=small.of([2**N for N in small.values]),
            **_curves(x[0], of, clutter.Sites(run.sites.precision[0], run.sites.shift[0])),
            **self._in_contexts(x.ravel()[:FITTED], of),
        )

    def _enumeration_gap(self, of: Clutter, N: int, rng: Generator) -> float:
        """The mixture of all assignments against the product, where the product is not zero."""
        x = clutter.draw(self.theta, of, (1, N), rng)
        grid = clutter.exact(x, of)
        joint = grid.density[0] * np.exp(grid.summary.log_evidence[0])
        seen = joint > 1e-12 * joint.max()
        mixture = clutter.enumerated(x[0, :, 0], of, grid.theta[seen])
        return float(np.abs(mixture / joint[seen] - 1).max())

    def _in_contexts(self, x: Floats, of: Clutter) -> dict[str, Quantity]:
        """Under each context, the factor fitted there and those fitted in the other contexts."""
        theta = np.linspace(-20, 25, 1801)
        m, v = np.array(self.cavities).T[..., None]  # (2, context, 1)
        truth = _factors(x, of, theta)
        fitted = _fitted(x, of, np.broadcast_to(m, (len(m), len(x))), v, theta)
        weight = np.exp(clutter.log_normal((theta - m) ** 2, v, 1))
        error = np.einsum("cnt,rt->crn", np.abs(fitted - truth), weight) * (theta[1] - theta[0])
        pairs = [(r, c) for r in range(len(m)) for c in range(len(m)) if r != c]
        pair = axis("pair", [f"{r + 1} and {c + 1}" for r, c in pairs])
        point = axis("fitted", len(x))
        return {
            "own_error": over([error[r, r] for r, _ in pairs], pair, point),
            "other_error": over([error[c, r] for r, c in pairs], pair, point),
        }


def _case(D: int, rng: Generator) -> Case:
    """A drawn case for the equations."""

    def gaussian() -> tuple[Floats, float]:
        return rng.normal(0, 1.5, D), float(np.exp(rng.uniform(-1, 0.7)))

    m, v = gaussian()
    x, _ = gaussian()
    near, wide, scale = rng.normal(0, 1, (4, D)), rng.uniform(0.5, 3, 4), rng.uniform(0.5, 2, 4)
    context, whole, (part_m, part_v) = gaussian(), gaussian(), gaussian()
    part = part_m, part_v * float(rng.choice([-4, 4]))
    places = rng.normal(0, 2, (6, D))
    return Case(m, v, x, m + near, wide, scale, context, whole, part, places)


def _factors(x: Floats, of: Clutter, theta: Floats) -> Floats:
    """p(x_n | theta), shape (N, G)."""
    places = np.broadcast_to(x[:, None, None], (len(x), len(theta), 1))
    none = np.zeros((len(x), len(theta)))
    return np.asarray(
        np.exp(clutter.tilted(places, theta[None, :, None] + 0 * places, none, of)[0])
    )


def _fitted(x: Floats, of: Clutter, m: Floats, v: Floats, theta: Floats) -> Floats:
    """The approximation of p(x_n | theta) fitted in N(m, v), shape (..., N, G)."""
    at, wide = m[..., None], v + 0 * m
    found = clutter.tilted(np.broadcast_to(x[:, None], at.shape), at, wide, of)
    precision = 1 / found.variance - 1 / wide
    shift = found.mean / found.variance[..., None] - at / wide[..., None]
    before = clutter.log_partition(1 / wide, at / wide[..., None])
    after = clutter.log_partition(1 / found.variance, found.mean / found.variance[..., None])
    log = (found.log_z + before - after)[..., None] + shift * theta
    return np.asarray(np.exp(np.minimum(log - precision[..., None] * theta**2 / 2, 300)))


def _curves(x: Floats, of: Clutter, sites: clutter.Sites) -> dict[str, Quantity]:
    """Factors of the first data set at convergence, their approximations and contexts."""
    theta = np.linspace(-6, 8, 281)
    P, h = 1 / of.b + sites.precision.sum(), sites.shift.sum()
    cavity, shift = P - sites.precision, h - sites.shift[:, 0]
    cavity = np.where(cavity > 0, cavity, np.nan)  # a context that is no density has no curve
    at, wide = shift / cavity, 1 / cavity
    place, point = axis("theta", theta), axis("factor", len(x))
    context = np.exp(clutter.log_normal((theta - at[:, None]) ** 2, wide[:, None], 1))
    return {
        "true_factor": over(_factors(x[:, 0], of, theta), point, place),
        "fitted_factor": over(_fitted(x[:, 0], of, at, wide, theta), point, place),
        "context": over(context, point, place),
        "factor_precision": point.of(sites.precision),
    }
