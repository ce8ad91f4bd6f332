"""Properties of EM on data: the bound ln p(X) = L(q) + KL(q || p), its limit and its increase.

PRML 9.3.2 and 9.4, Ghahramani 2.5 and 3, Notes 3.3.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters, place_problems
from bythebook.models.clustering import kmeans_limit
from bythebook.models.clustering.gaussian_mixture import GaussianMixture, fit, log_joint
from bythebook.models.clustering.gaussian_mixture_starts import start_at, start_at_points
from bythebook.models.clustering.gaussian_mixture_variants import (
    fit_in_orders,
    half_step_bounds,
    renewal,
)
from bythebook.models.clustering.half_steps import (
    arbitrary_q,
    gains_of_q,
    half_steps,
    neighbour_gains,
)
from bythebook.models.clustering.mixture import free_energy, kl_to_posterior, posterior
from bythebook.models.em import first_reached, held, path, smallest_gain, take
from bythebook.models.em_examples import EXAMPLES, maximum_of_ppca
from bythebook.models.latent.factor_analysis import FactorModel, fit_factors, random_start
from bythebook.models.types import Floats

Found = dict[str, float | Quantity]


@dataclass
class EmTheory(Clusters, Study):
    """The bound after each half step of EM for a Gaussian mixture, and for arbitrary q.

    Optional, from the same start: EM point by point, and EM with covariances held at epsilon I,
    which is K-means in the limit. Also the increase of the log likelihood by EM for other models.
    """

    headline = {
        "final_log_likelihood": "last(log_likelihood[:, 'M'])",
        "median_incremental_passes": "median(incremental_passes)",
        "final_difference": "max(last(difference, over='epsilon'))",
    }
    more_quantities = True
    quantities = {
        "difference": quantity(
            "largest difference of a centre from that of K-means", "epsilon weighting"
        ),
        "incremental_passes": quantity(
            "passes until incremental EM is close to the optimum", "order"
        ),
        "log_likelihood": quantity(
            "log likelihood after each half step", "iteration step", unit="nats"
        ),
    }

    k: int = knob(2, "components", at_least=1, at_most=20)
    start: list[list[float]] = knob([], "initial means; random points if empty", may_be_empty=True)
    iterations: int = knob(40, "iterations of EM: passes over the data", at_least=1, at_most=10_000)
    random_q: int = knob(200, "arbitrary distributions q to try the bound on", at_least=1)
    orders: int = knob(0, "random orders of EM point by point; 0 is none", at_least=0, at_most=1000)
    close: float = knob(1e-3, "log units below the maximum that count as close", above=0)
    epsilons: list[float] = knob(
        [], "values of epsilon for the limit", above=0, distinct=True, may_be_empty=True
    )
    weights: list[list[float]] = knob(
        [], "mixing weights for the limit, one list per run; equal if empty", may_be_empty=True
    )
    fixed_weights: bool = knob(False, "hold the mixing weights at their initial values")
    models: list[str] = knob(
        [], "other models", choices=tuple(EXAMPLES), distinct=True, may_be_empty=True
    )
    restarts: int = knob(10, "random starts of each other model", at_least=1, at_most=1000)

    def rules(self) -> Iterator[str]:
        if self.k > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more components"
        yield from place_problems("start", self.start, self.size[1], self.k)
        for weights in self.weights:
            if len(weights) != self.k or min(weights) <= 0 or abs(sum(weights) - 1) > 1e-9:
                yield f"study.weights: {weights}; allowed: {self.k} numbers > 0 that sum to one"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        given, unit = self.start, np.eye(X.shape[1])
        start = start_at([given], unit) if given else start_at_points(X, self.k, rng)
        em = fit(X, start, tol=0, max_iter=self.iterations, snapshots=range(self.iterations + 1))
        further = self._one_by_one(X, start, em.objective, rng) if self.orders else {}
        further |= self._limit(X, start.mu[0]) if self.epsilons else {}
        further |= self._climbs(rng) if self.models else {}
        further |= _factors(rng.spawn(1)[0]) if "factors" in self.models else {}
        along = path(em, int(em.iterations[0]))
        joint = log_joint(X, along)  # (T + 1, N, K)
        found, q = half_steps(joint), arbitrary_q(len(X), self.k, self.random_q, rng)
        half = axis("iteration", range(1, len(joint))), axis("step", ["E", "M"])
        any_q = axis("q", self.random_q)
        after = take(along, slice(1, None)), posterior(joint)[0][:-1]  # an M step, and its q
        return Outcome(
            **{name: over(values, *half) for name, values in found._asdict().items()},
            random_bound=any_q.of(free_energy(joint[:1], q)),  # at the start's theta
            random_divergence=any_q.of(kl_to_posterior(joint[:1], q)),
            certainty=any_q.of(q.max(axis=2).mean(axis=1)),  # of a label, on average over points
            largest_neighbour_gain=half[0].of(neighbour_gains(X, *after, rng.spawn(1)[0])),
            largest_gain_of_q=half[0].of(gains_of_q(joint[:-1], after[1], rng.spawn(1)[0])),
            **further,
            **_one_of(X, take(start, [0]), q[0]),
        )

    def _one_by_one(
        self, X: Floats, start: GaussianMixture, batch: Floats, rng: Generator
    ) -> Found:
        """EM that updates one point at a time, in the order of the file and in random orders."""
        maximum = float(fit(X, start, tol=0, max_iter=10_000).final[0])
        N, R = len(X), self.orders + 1
        orders = np.stack([np.arange(N), *(rng.permutation(N) for _ in range(self.orders))])
        L, bound = fit_in_orders(X, start, orders, self.iterations)
        order = axis("order", R)  # 0 is the order of the file
        return {
            "maximum": maximum,
            "batch_passes": int(first_reached(batch, maximum - self.close)[0]),
            "incremental_log_likelihood": over(L, order, axis("passes", L.shape[1])),
            "incremental_passes": order.of(first_reached(L, maximum - self.close)),
            "smallest_gain": smallest_gain(bound),  # of the bound, in one pass
            "smallest_half_step_gain": smallest_gain(half_step_bounds(X, start, orders)),
            "renewed_mean": self._renewed(X, start, rng),
        }

    def _renewed(self, X: Floats, start: GaussianMixture, rng: Generator) -> Quantity:
        """Means after an update of one point's responsibilities: by (9.78), and from scratch."""
        by = axis("mean_by", ["update", "scratch"])
        variable = axis("variable", X.shape[1])
        return over(renewal(X, start.mu, rng), by, axis("component", self.k), variable)

    def _limit(self, X: Floats, centres: Floats) -> Found:
        """EM with covariances epsilon I against K-means from the same centres."""
        D, weights = X.shape[1], np.array(self.weights or [[1 / self.k] * self.k])
        epsilon = axis("epsilon", np.sort(np.array(self.epsilons))[::-1])
        found = kmeans_limit.approach(
            X, centres, epsilon.values, weights, fixed_pi=self.fixed_weights
        )
        both = epsilon, axis("weighting", len(weights))
        ends = {name: over(values, *both) for name, values in found.ends._asdict().items()}
        point, component = axis("point", len(X)), axis("component", self.k)
        normalisers = [kmeans_limit.integral(0.5, D, power) for power in (1, D)]
        return {
            **ends,
            "path_difference": axis("cycle", len(found.path_difference)).of(found.path_difference),
            "distortion": axis("half_step", len(found.distortion)).of(found.distortion),
            "expected_complete": epsilon.of(found.expected_complete),
            "constant_terms": epsilon.of(found.constant_terms),
            # Where EM ends with the largest epsilon.
            "soft_responsibilities": over(found.gamma, point, component),
            "soft_weights": component.of(found.pi),
            "soft_means": over(found.mu, component, axis("variable", D)),
            "density_integral": axis("normaliser", ["printed", "corrected"]).of(normalisers),
        }

    def _climbs(self, rng: Generator) -> Found:
        """The log likelihood by iteration of EM. Each model has its own random stream."""
        streams = dict(zip(EXAMPLES, rng.spawn(len(EXAMPLES)), strict=True))
        size = self.restarts, self.iterations
        found = [EXAMPLES[name](*size, streams[name]) for name in self.models]
        longest = max(L.shape[1] for L in found)
        ways = axis("model", self.models), axis("restart", self.restarts)
        objectives = [held(L, longest) for L in found]
        return {
            "climb": over(objectives, *ways, axis("steps", longest)),
            "maximum_of_ppca": maximum_of_ppca(),
            "climb_iterations": over([(~np.isnan(L)).sum(axis=1) - 1 for L in found], *ways),
        }


def _one_of(X: Floats, theta: GaussianMixture, q: Floats) -> Found:
    """The points, the start, and the first arbitrary q, whose bound can be written out."""
    (N, D), K = X.shape, q.shape[1]
    point, component, variable = axis("point", N), axis("component", K), axis("variable", D)
    other = axis("other_variable", D)
    return {
        "points": over(X, point, variable),
        "start_means": over(theta.mu[0], component, variable),
        "start_precision": over(np.linalg.inv(theta.Sigma[0]), component, variable, other),
        "start_weights": component.of(theta.pi[0]),
        "one_q": over(q, point, component),
    }


def _factors(rng: Generator) -> Found:
    """One factor of few data: log likelihoods by EM and of its Gaussian, and the end of EM."""
    x = rng.standard_normal((60, 1)) @ [[2.0, -1.0, 1.0, 0.5]] + rng.standard_normal((60, 4))
    start = random_start(x, 1, 200, rng)
    em = fit_factors(x, start, tol=1e-12, max_iter=5000, snapshots=[0, 1])
    steps, by = axis("factor_step", [0, 1]), axis("likelihood_by", ["fit", "density"])
    density = [_gaussian_log_likelihood(x, em.snapshots[t]) for t in (0, 1)]
    variable = axis("observed", x.shape[1])
    W, psi = em.theta.W[0], em.theta.psi[0]
    explained = np.square(start.W).sum(axis=2) / x.var(axis=0)
    return {
        "factor_log_likelihood": over([em.objective[0, :2], density], by, steps),
        "factor_variance": variable.of(np.diagonal(W @ W.T) + psi),
        "observed_variance": variable.of(x.var(axis=0)),
        "start_explains": over(explained, axis("factor_start", len(explained)), variable),
        "start_noise": variable.of(start.psi[0] / x.var(axis=0)),
    }


def _gaussian_log_likelihood(x: Floats, theta: FactorModel) -> float:
    """Log likelihood of the first of R models: x ~ N(mu, W W^T + Psi)."""
    covariance = theta.W[0] @ theta.W[0].T + np.diag(theta.psi[0])
    return float(multivariate_normal(theta.mu[0], covariance).logpdf(x).sum())
