"""Laplace and BIC as data grow, against the exact evidence (Ghahramani 11.1, 11.2; Notes 1.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import asymptotic
from bythebook.models.approximation.asymptotic import MODELS, Found
from bythebook.models.approximation.bounds import Function
from bythebook.models.types import Floats

WAYS = ["exact", "laplace", "bic", "bic of map"]
QUANTITIES = (
    "total_variation",
    "log_prior",
    "log_likelihood",
    "largest_likelihood",
    "last_estimate",
    "least_eigenvalue",
    "determinant_rest",
)
PARTS = [
    "log evidence",
    "log prior",
    "log likelihood",
    "largest likelihood",
    "estimate",
    "total variation",
    "A",
    "A across",
    "laplace",
    "bic",
    "bic of map",
]
FINE = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000, "maxfev": 4000}
HAND = 30  # points of the data set of each model that is treated point by point
PLACES = [0.1, 0.3, 0.5, 0.7, 0.9]  # of a coin's probability, at which the posterior is evaluated


@dataclass
class AsymptoticEvidence(Study):
    """Log evidence of models as the number of points grows, and assumptions of approximations.

    Every size has its own data sets.
    """

    headline = {"bic_error": "max(mean(abs(log_evidence[:, 'bic'] - log_evidence[:, 'exact'])))"}
    more_quantities = True
    quantities = {
        "log_evidence": quantity(
            "log evidence of a model, exact or approximate", "model way points set", unit="nats"
        ),
    }

    models: list[str] = knob(["coin"], "what data are drawn from", choices=tuple(MODELS))
    points: list[int] = knob([10, 100], "points of a data set", at_least=2, at_most=1_000_000)
    sets: int = knob(30, "data sets of each size", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        kind, size = axis("model", self.models), axis("points", sorted(self.points))
        place, way = axis("set", self.sets), axis("way", WAYS)
        made = [
            [[MODELS[name](int(N), rng) for _ in range(self.sets)] for N in size.values]
            for name in self.models
        ]
        summaries = [
            [[_summary(f, int(N)) for f in row] for N, row in zip(size.values, rows, strict=True)]
            for rows in made
        ]
        table = np.moveaxis(np.array(summaries), -1, 0)  # what, model, points, set
        found = {
            name: over(values, kind, size, place)
            for name, values in zip(QUANTITIES, table[len(WAYS) :], strict=True)
        }
        evidence = np.moveaxis(table[: len(WAYS)], 0, 1)
        return Outcome(
            log_evidence=over(evidence, kind, way, size, place),
            parameters=kind.of([len(rows[0][0].A) for rows in made]),
            **found,
            **self._stationary(rng),
            **self._identities(rng),
            **self._by_hand(rng),
        )

    def _by_hand(self, rng: Generator) -> dict[str, Quantity]:
        """Each model once: computed from totals and point by point."""
        found = [_treated(*_few(name, rng)) for name in self.models]
        ways = axis("treated", ["by totals", "by hand"])
        return {"few": over(found, axis("model", self.models), ways, axis("part", PARTS))}

    def _stationary(self, rng: Generator) -> dict[str, Quantity]:
        """The point a = b = 0 of a product, with means of either size."""
        if "product" not in self.models:
            return {}
        size, place = axis("points", sorted(self.points)), axis("set", self.sets)
        means = rng.standard_normal((len(size), self.sets)) / np.array(size.values)[:, None] ** 0.75
        ends = np.array(
            [
                [asymptotic.at_zero(int(N), m) for m in row]
                for N, row in zip(size.values, means, strict=True)
            ]
        )
        return {
            "mean_at_nought": over(means, size, place),
            "least_curvature": over(ends[..., 0], size, place),
            "rise_nearby": over(ends[..., 1], size, place),
        }

    def _identities(self, rng: Generator) -> dict[str, Quantity]:
        """Bayes' rule at any parameter, scaled determinants, and the mass of (1.49) and (1.53)."""
        size, at = axis("points", sorted(self.points)), axis("place", PLACES)
        r = np.linspace(0, 1, 20_001)[1:-1]
        gaps = []
        for N in size.values:
            heads = int(np.clip(round(asymptotic.HEADS * N), 1, N - 1))
            log = heads * np.log(r) + (N - heads) * np.log1p(-r)
            evidence = log.max() + np.log(np.exp(log - log.max()).sum() * (r[1] - r[0]))
            theta = np.array(PLACES)
            joint = heads * np.log(theta) + (N - heads) * np.log1p(-theta)
            gaps.append(joint - stats.beta(heads + 1, N - heads + 1).logpdf(theta) - evidence)
        scaled = []
        for d in range(1, 7):
            P = np.cov(rng.standard_normal((d, d + 3))).reshape(d, d)
            scaled.append(np.linalg.slogdet(3 * P)[1] - d * np.log(3) - np.linalg.slogdet(P)[1])
        z = np.linspace(-12, 12, 1201)
        one = np.exp(-1.25 * z**2).sum() * (z[1] - z[0])  # A = 2.5
        first = one * 2.5**0.5
        plane = axis("dimension", [1, 2])
        two = first**2 / (2 * np.pi)  # A = 2.5 I
        mass = [[first / (2 * np.pi), two], [first / (2 * np.pi) ** 0.5, two]]
        return {
            "identity_gap": over(gaps, size, at),
            "scaled_determinant_gap": axis("rows", range(1, 7)).of(scaled),
            "gaussian_mass": over(mass, axis("formula", ["printed", "corrected"]), plane),
        }


def _summary(f: Found, N: int) -> list[float]:
    """Log evidence in all ways, and the other recorded quantities of a data set."""
    least, half = np.linalg.eigvalsh(f.A)[0] / N, np.linalg.slogdet(f.A)[1] / 2
    rest = half - len(f.A) / 2 * np.log(N)
    evidence = [f.exact, f.laplace, f.bic(N), f.bic(N, largest=False)]
    parts = f.variation, f.log_prior, f.log_likelihood, f.largest, float(f.mode[-1])
    return [*evidence, *parts, float(least), float(rest)]


def _few(name: str, rng: Generator) -> tuple[Found, Function, float]:
    """A few points: the fit from their totals, their log likelihood and the prior's variance."""
    x = np.stack([np.ones(HAND), rng.choice(asymptotic.INPUTS, HAND)], axis=-1)
    at = asymptotic.INPUTS[:, None] == x[:, 1]  # (9, N)
    n, e, u = at.sum(1).astype(float), rng.standard_normal(HAND), rng.random(HAND)
    if name == "coin":
        sign = np.where(np.arange(HAND) < 8, 1.0, -1.0)
        of = asymptotic.coin_of(8, HAND)
        return of, lambda z: log_expit(sign * np.log(z / (1 - z))).sum(-1), np.inf
    if name == "linear":
        y = x @ asymptotic.SLOPE + e
        return asymptotic.linear_of(n, at @ y, float(y @ y)), lambda z: _normal(y - z @ x.T, 1), 1.0
    if name == "logistic":
        t = u < expit(x @ asymptotic.SLOPE)
        sign = np.where(t, 1.0, -1.0)
        of = asymptotic.logistic_of(n, at @ t.astype(float))
        return of, lambda z: log_expit(sign * (z @ x.T)).sum(-1), 4.0
    y = 1 + e
    of = asymptotic.product_of(HAND, float(y.mean()), float(HAND * y.var()))
    return of, lambda z: _normal(y - z.prod(-1)[..., None], 1), 1.0


def _normal(off: Floats, variance: float) -> Floats:
    return np.asarray(stats.norm.logpdf(off, scale=variance**0.5).sum(-1))


def _treated(of: Found, log_likelihood: Function, variance: float) -> list[list[float]]:
    """Quantities from totals, and the same by searches, second differences and a lattice."""
    flat = np.isinf(variance)

    def log_prior(z: Floats) -> Floats:
        return np.zeros(z.shape[:-1]) if flat else _normal(z, variance)

    def log_joint(z: Floats) -> Floats:
        return log_likelihood(z) + log_prior(z)

    d, start = len(of.A), np.full(len(of.A), 0.6)
    mode, best = (
        minimize(lambda z: -f(z), start, method="Nelder-Mead", options=FINE)  # noqa: B023
        for f in (log_joint, log_likelihood)
    )
    step = 1e-4 * np.eye(d)
    corners = [[(a + b, a - b, b - a, -a - b) for b in step] for a in step]
    bend = log_joint(mode.x + np.array(corners)) @ np.array([1, -1, -1, 1])
    A = -bend / 4e-8
    side = np.linspace(*(0, 1, 2001) if flat else (-8 * variance**0.5, 8 * variance**0.5, 301))[
        1:-1
    ]
    z = np.stack(np.meshgrid(*[side] * d, indexing="ij"), axis=-1)
    p = np.exp(log_joint(z)) * (side[1] - side[0]) ** d
    q = stats.multivariate_normal(mode.x, np.linalg.inv(A)).pdf(z) * (side[1] - side[0]) ** d
    variation = (np.abs(p / p.sum() - q).sum() + 1 - q.sum()) / 2
    if np.isnan(of.variation):  # not available for a product
        variation = np.nan
    totals = [of.exact, of.log_prior, of.log_likelihood, of.largest]
    hand = [np.log(p.sum()), log_prior(mode.x), log_likelihood(mode.x), -best.fun]
    laplace = log_joint(mode.x) - np.log(np.linalg.eigvalsh(A) / (2 * np.pi)).sum() / 2  # 54
    penalty = d * np.log(HAND) / 2  # 56
    criteria = of.bic(HAND), of.bic(HAND, largest=False)
    by_hand = -best.fun - penalty, log_likelihood(mode.x) - penalty
    return [
        [*totals, of.mode[-1], of.variation, of.A[0, 0], of.A[0, -1], of.laplace, *criteria],
        [*hand, mode.x[-1], variation, A[0, 0], A[0, -1], laplace, *by_hand],
    ]
