"""Exact evidence of small mixtures by enumeration, and its approximations.

Ghahramani 10 and 11.4, PRML 10.1.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import variational_bernoulli as variational
from bythebook.models.approximation.variational_bernoulli import Prior
from bythebook.models.clustering import bernoulli_evidence as exact
from bythebook.models.em import EMFit, smallest_gain, take
from bythebook.models.types import AnyArray, Floats

_LARGEST = 20_000  # assignments at most that are enumerated
_CHANGES = 1000  # of a factor that was updated
_TRIED = 5  # data sets at most in which q(Z|m) is found by a search
_FEW = 4  # points of the data sets in which q(Z|m) is a table
_OTHER = Prior(1.7, 2.3)  # neither parameter is one, which would hide terms


@dataclass
class MixtureEvidence(Study):
    """Exact and approximate evidence of mixtures of Bernoulli products (Ghahramani 10, 11.4).

    In a cluster every variable is one with the same probability. Priors are Dir(alpha0) and
    Beta(b, b), b from study.beta_priors.
    """

    headline = {"mean_gap": "mean(log_evidence - bound)"}
    more_quantities = True
    quantities = {
        "bound": quantity(
            "variational lower bound on the log evidence", "beta_prior n set k", unit="nats"
        ),
        "log_evidence": quantity("exact log evidence", "beta_prior n set k", unit="nats"),
    }

    levels: list[float] = knob([0.85, 0.2], "chance of a one in each cluster", above=0, below=1)
    variables: int = knob(6, "binary variables", at_least=1, at_most=50)
    sizes: list[int] = knob([9], "points in a data set", at_least=2, distinct=True)
    k: list[int] = knob([1, 2, 3], "numbers of components", at_least=1, at_most=6, distinct=True)
    beta_priors: list[float] = knob([1.0], "of the chances: Beta(b, b)", above=0, distinct=True)
    alpha0: float = knob(1.0, "of the Dirichlet prior", above=0)
    sets: int = knob(20, "data sets to draw", at_least=1, at_most=1000)
    restarts: int = knob(10, "starts of each fit; the best is kept", at_least=1, at_most=1000)
    random_q: int = knob(0, "factorised q drawn at random, for bounds", at_least=0)
    temperatures: list[int] = knob(
        [], "of annealed runs, with the last k", at_least=2, distinct=True, may_be_empty=True
    )
    models: bool = knob(False, "also a joint bound over the models of all k")

    def problems(self) -> Iterator[str]:
        most = max(self.k) ** max(self.sizes)
        if most > _LARGEST:
            yield f"study.k, study.sizes: {most} assignments; allowed: at most {_LARGEST}"
        if self.models and len(self.k) < 2:
            yield f"study.models with study.k={self.k}; allowed: two numbers or more"

    def run(self, rng: Generator) -> Outcome:
        prior, n, sets = axis("beta_prior", self.beta_priors), axis("n", self.sizes), self._sets()
        k = axis("k", self.k)
        axes = prior, n, sets, k
        evidence, bound, gap, tight, gain = np.empty((5, *map(len, axes)))
        likelihood, information = np.empty((2, *map(len, axes[1:])))
        evaluations = np.empty((len(n), len(sets)), dtype=int)
        ones = np.empty((len(n), len(sets), self.variables))
        found: dict[str, Quantity] = {}
        runs: list[Floats] = []
        for j, N in enumerate(self.sizes):
            X = self._data(N, rng)
            ones[j] = X.sum(axis=1)
            for m, K in enumerate(self.k):
                start = rng.dirichlet(np.ones(K), (self.sets, self.restarts, N))
                highest = self._by_set(exact.max_log_likelihood(*self._flat(X, start)))
                likelihood[j, :, m] = highest.max(-1)
                information[j, :, m] = exact.bic(likelihood[j, :, m], K, N, self.variables)
                counts = [exact.all_assignments(x, K) for x in X]
                for i, b in enumerate(self.beta_priors):
                    given = Prior(self.alpha0, b)
                    em = variational.fit(*self._flat(X, start), given)
                    best = self._by_set(em.final).argmax(-1) + self.restarts * np.arange(self.sets)
                    bound[i, j, :, m] = em.final[best]
                    gain[i, j, :, m] = [smallest_gain(em.objective[r : r + 1]) for r in best]
                    for s, one in enumerate(counts):
                        log_p = exact.log_joint(one, given)
                        theta = take(em.theta, best[s : s + 1])
                        evidence[i, j, s, m] = logsumexp(log_p)
                        gap[i, j, s, m] = exact.divergence(one, log_p, theta, given)
                        p = np.exp(log_p - evidence[i, j, s, m])  # q = the posterior
                        tight[i, j, s, m] = p @ (log_p - np.log(p))
                    if (i, K) == (0, self.k[-1]):
                        steps = self._by_set(em.iterations + 1).sum(-1)
                        evaluations[j] = steps * N * K
                        if j == 0:
                            found |= self._any_q(X, em, given, sets, rng)
            if self.temperatures:
                runs.append(self._annealed(X, rng))
        if self.temperatures:
            found |= self._at_cost(np.stack(runs, axis=1), evaluations, n, sets)
        if self.models:
            found |= self._models(bound[0, 0], gap[0, 0], evidence[0, 0], sets, k, rng)
        if self.random_q:
            found["other_prior"] = self._with_another_prior(rng.spawn(1)[0])
        return Outcome(
            log_evidence=over(evidence, *axes),
            bound=over(bound, *axes),
            divergence=over(gap, *axes),
            exact_bound=over(tight, *axes),
            smallest_gain=over(gain, *axes),
            max_log_likelihood=over(likelihood, n, sets, k),
            bic=over(information, n, sets, k),
            ones=over(ones, n, sets, axis("variable", self.variables)),  # in a data set
            variational_evaluations=over(evaluations, n, sets),
            **found,
        )

    def _sets(self) -> Axis:
        return axis("set", self.sets)

    def _data(self, N: int, rng: Generator) -> Floats:
        """Data sets (sets, N, D), every cluster equally probable."""
        z = rng.integers(len(self.levels), size=(self.sets, N))
        chance = np.array(self.levels)[z][..., None]
        return (rng.random((self.sets, N, self.variables)) < chance).astype(np.float64)

    def _flat(self, X: Floats, start: Floats) -> tuple[Floats, Floats]:
        """Data and responsibilities of all sets and starts along one axis."""
        return np.repeat(X, self.restarts, axis=0), start.reshape(-1, *start.shape[2:])

    def _by_set(self, values: AnyArray) -> AnyArray:
        return values.reshape(self.sets, self.restarts)

    def _any_q(
        self,
        X: Floats,
        em: EMFit[variational.VariationalBernoulli],
        prior: Prior,
        sets: Axis,
        rng: Generator,
    ) -> dict[str, Quantity]:
        """Bounds of q drawn at random, and gains by changes of updated factors."""
        if not self.random_q:
            return {}
        _, K, D = em.theta.a.shape
        bounds = np.empty((self.sets, self.random_q))
        for s, x in enumerate(X):
            data = np.repeat(x[None], self.random_q, axis=0)
            r = rng.dirichlet(np.full(K, 0.3), (self.random_q, len(x)))
            alpha, a, b = (
                rng.gamma(2.0, 2.0, (self.random_q, K, *more)) for more in ((), (D,), (D,))
            )
            q = variational.VariationalBernoulli(alpha, a, b, data)
            bounds[s] = variational.free_energy(r, q, prior)
        few = variational.fit(
            *self._flat(X, self._rough(X, K, rng)), prior, tol=-np.inf, max_iter=3
        )
        gains = [
            variational.largest_perturbed_gain(take(few.theta, [r]), prior, _CHANGES, rng)
            for r in range(0, len(few.final), self.restarts)
        ]
        factor = axis("factor", ["latent", "parameters"])
        return {
            "random_bound": over(bounds, sets, axis("q", self.random_q)),
            "perturbed_gain": over(gains, sets, factor),
        }

    def _with_another_prior(self, rng: Generator) -> Quantity:
        """Log evidence, bound and divergence of a small data set and a fit with the last k."""
        X, K = self._data(_FEW, rng)[:1], self.k[-1]
        em = variational.fit(X, rng.dirichlet(np.ones(K), (1, _FEW)), _OTHER)
        counts = exact.all_assignments(X[0], K)
        log_p = exact.log_joint(counts, _OTHER)
        gap = exact.divergence(counts, log_p, em.theta, _OTHER)
        parts = axis("part", ["evidence", "bound", "divergence"])
        return parts.of([logsumexp(log_p), em.final[0], gap])

    def _rough(self, X: Floats, K: int, rng: Generator) -> Floats:
        return rng.dirichlet(np.ones(K), (self.sets, self.restarts, X.shape[1]))

    def _annealed(self, X: Floats, rng: Generator) -> Floats:
        """Estimates (temperatures, set) with the last number of components and the first prior."""
        prior, K = Prior(self.alpha0, self.beta_priors[0]), self.k[-1]
        return np.stack([exact.annealed(X, K, prior, T, rng) for T in self.temperatures])

    def _at_cost(
        self, values: Floats, evaluations: AnyArray, n: Axis, sets: Axis
    ) -> dict[str, Quantity]:
        """Annealed estimates (temperatures, n, set), and that at the cost of the fit by set."""
        steps = axis("temperatures", self.temperatures)
        # A sweep evaluates each point in each component; the first labels take one as well.
        cost = np.outer(self.temperatures, np.array(self.sizes) * self.k[-1])
        same = np.empty(evaluations.shape)
        for j, s in np.ndindex(same.shape):
            affordable = np.flatnonzero(cost[:, j] <= evaluations[j, s])
            place = affordable[cost[affordable, j].argmax()] if len(affordable) else 0
            same[j, s] = values[place, j, s]
        return {
            "annealed": over(values, steps, n, sets),
            "annealed_evaluations": over(cost, steps, n),
            "annealed_at_cost": over(same, n, sets),
        }

    def _models(
        self, bound: Floats, gap: Floats, evidence: Floats, sets: Axis, k: Axis, rng: Generator
    ) -> dict[str, Quantity]:
        """The joint bound of PRML 10.1.4: equal p(m), and the fits' q for each model."""
        M, drawn = len(k), axis("drawn", 20)
        q = rng.dirichlet(np.ones(M), (len(sets), len(drawn)))
        log_ratio = np.log(q) + np.log(M)  # ln q(m) / p(m)
        joint = (q * (bound[:, None] - log_ratio)).sum(-1)  # PRML 10.35
        posterior = evidence - logsumexp(evidence, axis=1, keepdims=True)
        divergence = (q * (gap[:, None] + np.log(q) - posterior[:, None])).sum(-1)
        found = [exact.search_model_probabilities(row - row.max()) for row in bound]
        shifts, errors = [], []
        for x in self._data(_FEW, rng)[:_TRIED]:
            prior = Prior(self.alpha0, self.beta_priors[0])
            log_p = exact.log_joint(exact.all_assignments(x, 2), prior)
            best = [
                exact.best_assignment_factor(log_p, share, rest, rng)
                for share, rest in ((0.5, 0.0), (0.1, -3.0), (0.9, 5.0))
            ]
            shifts.append(np.ptp(best, axis=0).max())
            errors.append(np.abs(best - np.exp(log_p - logsumexp(log_p))).max())
        tried = axis("tried", len(shifts))
        return {
            "joint_bound": over(joint, sets, drawn),
            "joint_divergence": over(divergence, sets, drawn),
            "searched_model_probability": over(found, sets, k),
            "solution_shift": tried.of(shifts),
            "solution_error": tried.of(errors),  # against q(Z|m) = p(Z|X, m)
        }
