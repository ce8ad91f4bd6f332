"""Mean and precision of a Gaussian by factorised inference, exactly and by Gibbs (PRML 10.1.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import gamma, norm

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import gaussian_gamma
from bythebook.models.approximation.gaussian_gamma import Data, Factors, OnGrid, Prior
from bythebook.models.types import Floats

STEPS = 60  # of both factors
SHOWN = 6  # half steps whose bounds are kept
BATCHES = 20  # of Gibbs sweeps, for the error of a mean
SEARCHED = 100  # points at most for a search; beyond, rounding hides the shape
GRIDS = 8  # data sets of each size that are integrated on a grid or searched


@dataclass
class MeanAndPrecision(Study):
    """Converged q(mu) q(tau), as printed and corrected, compared with the exact posterior.

    Data sets of a standard Gaussian grow: the first points of a larger set are the smaller one.
    The update "independent" has a prior of mu that does not depend on tau, flat where the given
    prior is conjugate.
    """

    headline = {"precision": "mean(tau_mean)"}
    more_quantities = True
    quantities = {
        "tau_mean": quantity("mean of the precision's factor", "form points set"),
    }

    prior: str = knob("conjugate", "of the mean", choices=("conjugate", "independent"))
    constants: list[float] = knob(
        [0.0, 1.0, 1.0, 1.0], "mu_0, lambda_0 or s_0, a_0, b_0; zeros: none"
    )
    points: list[int] = knob([10], "points of a data set", at_least=1, at_most=100_000)
    sets: int = knob(20, "data sets", at_least=1, at_most=100_000)
    first_precisions: list[float] = knob([1.0], "first guesses of the precision", above=0)
    sweeps: int = knob(0, "of Gibbs sampling; 0: none", at_least=0, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if len(self.constants) != 4 or min(self.constants[1:], default=0) < 0:
            yield f"study.constants={self.constants}; allowed: four, the last three not negative"
        elif self._flat and min(self.points) < 2:
            yield f"study.points={self.points} without a prior; allowed: 2 and more"
        elif self._flat and self.sweeps:
            yield f"study.sweeps={self.sweeps}; allowed: with a proper prior"

    @property
    def _flat(self) -> bool:
        return not all(self.constants[1:])

    def run(self, rng: Generator) -> Outcome:
        size, place = axis("points", sorted(self.points)), axis("set", self.sets)
        x = rng.standard_normal((self.sets, max(self.points)))
        data = [Data(N, x[:, :N].mean(1), (x[:, :N] ** 2).mean(1)) for N in size.values]
        mu, width, a, b = self.constants
        given = Prior(self.prior == "conjugate", mu, width, a, b)
        apart = Prior(False, mu, 0.0 if given.conjugate else width, a, b)
        forms = {
            "printed": (given, True),
            "corrected": (given, False),
            "independent": (apart, False),
        }
        form = axis("form", list(forms))
        ends = {name: [self._rested(d, *of) for d in data] for name, of in forms.items()}

        def of(part: str) -> Quantity:
            values = [[getattr(q, part) for q in ends[name]] for name in forms]
            return over(values, form, size, place)

        found: dict[str, Quantity] = {
            "q_mean": of("mean"),
            "q_precision": of("precision"),
            "tau_mean": of("tau"),
            "tau_variance": over(
                [[q.a / q.b**2 for q in ends[name]] for name in forms], form, size, place
            ),
            "final_shape": over([[q.a[0] for q in ends[name]] for name in forms], form, size),
            "sample_mean": over([d.mean for d in data], size, place),
            "biased_variance": over([d.biased for d in data], size, place),
        }
        if self._flat:
            found["unbiased_variance"] = over(
                [d.biased * d.N / (d.N - 1) for d in data], size, place
            )
            return Outcome(**found)
        found["final_bound"] = over(
            [
                [
                    gaussian_gamma.bound(d, prior, q)
                    for d, q in zip(data, ends[name], strict=True)
                ]
                for name, (prior, _) in forms.items()
            ],
            form, size, place,
        )  # fmt: skip
        return Outcome(**found, **self._checked(x, data, given), **self._sampled(data, given, rng))

    def _rested(self, data: Data, prior: Prior, printed: bool) -> Factors:
        """Converged updates; the first guess is one over the variance."""
        guess = 1 / np.maximum(data.biased, 0.1)
        return gaussian_gamma.climb(data, prior, guess, steps=STEPS, printed=printed)[-1]

    def _checked(self, x: Floats, data: list[Data], prior: Prior) -> dict[str, Quantity]:
        """Starts, searches and grids."""
        size = axis("points", [d.N for d in data])
        some = axis("checked", min(GRIDS, self.sets))
        small = [d for d in data if d.N <= SEARCHED] or data[:1]
        both = axis("parameter_of", ["mean", "precision"])
        few = axis("searched_points", [d.N for d in small])
        starts = [
            [
                gaussian_gamma.climb(d, prior, np.full(self.sets, tau), steps=STEPS)
                for tau in self.first_precisions
            ]
            for d in data
        ]
        last = [
            [gaussian_gamma.bound(d, prior, q[-1]) for q in row]
            for d, row in zip(data, starts, strict=True)
        ]
        course = [
            [[gaussian_gamma.bound(d, prior, q) for q in path[:SHOWN]] for path in row]
            for d, row in zip(data, starts, strict=True)
        ]
        guess, half = axis("guess", self.first_precisions), axis("half_step", SHOWN)
        place = axis("set", self.sets)
        grids = [[gaussian_gamma.on_grid(d, prior, k) for k in range(len(some))] for d in data]
        found = {
            "start_gap": over(np.ptp(np.array(last), axis=1), size, place),
            "bound_course": over(course, size, guess, half, place),
            "dependence": over([[g.information for g in row] for row in grids], size, some),
            "checked_bound": over([row[0][: len(some)] for row in last], size, some),
            "log_evidence_grid": over([[g.log_evidence for g in row] for row in grids], size, some),
            "mean_grid": over(
                [[(g.mass.sum(1) @ g.mu, g.mass.sum(0) @ g.tau) for g in row] for row in grids],
                size, some, both,
            ),
            "divergence_grid": over(
                [
                    [_divergence(g, path[0][-1], k) for k, g in enumerate(row)]
                    for path, row in zip(starts, grids, strict=True)
                ],
                size, some,
            ),
            "shape": over(
                [[gaussian_gamma.shape(prior, d.N, p) for d in small] for p in (True, False)],
                axis("shape_form", ["printed", "corrected"]), few,
            ),
            "searched": over(
                [
                    [_searched(d, prior, row[0][-1], k) for k in range(len(some))]
                    for d, row in zip(small, starts, strict=False)
                ],
                few, some, axis("of", ["shape", "rate"]),
            ),
        }  # fmt: skip
        if prior.conjugate:
            closed = [gaussian_gamma.exact(d, prior) for d in data]
            n = len(some)
            found["log_evidence"] = over([e.log_evidence[:n] for e in closed], size, some)
            found["mean_exact"] = over(
                [np.stack([e.mean, e.a / e.b], axis=-1)[:n] for e in closed], size, some, both
            )
            found["rate_displayed"] = over(
                [
                    [_rate(x[k, : d.N], self.constants, row[0][-1], k) for k in range(n)]
                    for d, row in zip(small, starts, strict=False)
                ],
                few, some,
            )  # fmt: skip
        shown, first = grids[0][0], starts[0][0]
        step_mu, step_tau = axis("mu", shown.mu[::3]), axis("tau", shown.tau[::3])
        found["shown_mass"] = over(shown.mass[::3, ::3], step_mu, step_tau)
        stages = [first[0], first[1], first[2], first[-1]]
        found["shown_factors"] = over(
            [[q.mean[0], q.precision[0], q.a[0], q.b[0]] for q in stages],
            axis("stage", ["start", "q of tau", "q of mu", "at rest"]),
            axis("parameter", ["mean", "precision", "shape", "rate"]),
        )
        return found

    def _sampled(self, data: list[Data], prior: Prior, rng: Generator) -> dict[str, Quantity]:
        """Gibbs sampling of the smallest data sets against a grid."""
        if not self.sweeps:
            return {}
        d, some = data[0], min(GRIDS, self.sets)
        samples = gaussian_gamma.gibbs(d, prior, self.sweeps, rng)[..., :some]
        kept = samples[self.sweeps // 10 :]
        kept = kept[: len(kept) // BATCHES * BATCHES].reshape(BATCHES, -1, 2, some).mean(1)
        grids = [gaussian_gamma.on_grid(d, prior, k) for k in range(some)]
        exact = [[g.mass.sum(1) @ g.mu, g.mass.sum(0) @ g.tau] for g in grids]
        what, checked = axis("parameter_of", ["mean", "precision"]), axis("checked", some)
        return {
            "gibbs_mean": over(kept.mean(0), what, checked),
            "gibbs_error": over(kept.std(0, ddof=1) / np.sqrt(BATCHES), what, checked),
            "exact_mean": over(np.array(exact).T, what, checked),
            "conditional_gap": checked.of(
                [_conditional_gap(d, prior, k, rng) for k in range(some)]
            ),
        }


def _divergence(on: OnGrid, q: Factors, k: int) -> float:
    """KL(q||p) of data set k, by the same grid as its posterior."""
    log = norm.logpdf(on.mu[:, None], q.mean[k], q.precision[k] ** -0.5)
    log = log + gamma.logpdf(on.tau, q.a[k], scale=1 / q.b[k]) + np.log(on.tau)
    log = log - logsumexp(log)
    return float((np.exp(log) * (log - np.log(np.maximum(on.mass, 1e-300)))).sum())


def _rate(x: Floats, constants: list[float], q: Factors, k: int) -> float:
    """The right side of (10.30), from the points and the moments of q(mu)."""
    mu, width, _, b = constants
    squares = ((x - q.mean[k]) ** 2).sum() + width * (q.mean[k] - mu) ** 2
    return float(b + (squares + (len(x) + width) / q.precision[k]) / 2)


def _searched(data: Data, prior: Prior, q: Factors, k: int) -> Floats:
    """Shape and rate of q(tau) of the largest bound, with q(mu) held, of data set k."""
    one = Data(data.N, data.mean[k : k + 1], data.square[k : k + 1])
    held = q.mean[k : k + 1], q.precision[k : k + 1]

    def cost(at: Floats) -> float:
        a, b = np.exp(at)
        return -float(gaussian_gamma.bound(one, prior, Factors(*held, a[None], b[None]))[0])

    start = np.log([q.a[k] * 0.8, q.b[k] * 0.8])
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000, "maxfev": 4000}
    return np.asarray(np.exp(minimize(cost, start, method="Nelder-Mead", options=options).x))


def _conditional_gap(data: Data, prior: Prior, k: int, rng: Generator) -> float:
    """Change of the joint over a conditional along it, at drawn places of data set k."""
    one = Data(data.N, data.mean[k : k + 1], data.square[k : k + 1])
    mu, tau = rng.normal(0, 2, 5), rng.gamma(2, 1, 5)
    fixed_tau, fixed_mu = np.full(5, tau[0]), np.full(5, mu[0])
    along_mu = gaussian_gamma.log_joint(one, prior, 0, mu, fixed_tau)
    along_tau = gaussian_gamma.log_joint(one, prior, 0, fixed_mu, tau)
    of_mu = gaussian_gamma.log_conditionals(one, prior, mu, fixed_tau)[0]
    of_tau = gaussian_gamma.log_conditionals(one, prior, fixed_mu, tau)[1]
    return float(max(np.ptp(along_mu - of_mu), np.ptp(along_tau - of_tau)))
