"""Exact evidence of small mixtures by enumeration, and its approximations (Ghahramani 10, 11.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import variational_bernoulli as variational
from bythebook.models.approximation.variational_bernoulli import Prior
from bythebook.models.clustering import bernoulli_evidence as exact
from bythebook.models.types import AnyArray, Floats, Ints

_LARGEST = 20_000  # assignments at most that are enumerated
_CELL = "beta_prior n repetition k"


@dataclass
class MixtureEvidence(Study):
    """Exact and approximate evidence of mixtures of Bernoulli products (Ghahramani 10, 11.4).

    In a cluster every variable is one with the same probability. Priors are Dir(alpha0) and
    Beta(b, b), b from study.beta_priors.
    """

    headline = {"mean_gap": "mean(log_evidence - bound)"}
    quantities = {
        "log_evidence": quantity("exact log evidence", _CELL, unit="nats"),
        "bound": quantity("variational lower bound on the log evidence", _CELL, unit="nats"),
        "max_log_likelihood": quantity(
            "largest log likelihood found by EM", "n repetition k", unit="nats"
        ),
        "bic": quantity(
            "log evidence by the Bayesian information criterion", "n repetition k", unit="nats"
        ),
        "ais_log_evidence": quantity(
            "log evidence by annealed importance sampling", "temperatures n repetition", unit="nats"
        ),
        "ais_at_cost": quantity(
            "log evidence by the longest annealed run that costs no more than the variational fit",
            "n repetition",
            unit="nats",
        ),
        "vb_evaluations": quantity(
            "evaluations of a point in a component by the variational fit", "n repetition"
        ),
    }
    axes = {
        "beta_prior": axis_of("parameters of the beta prior"),
        "n": axis_of("points in a data set"),
        "repetition": axis_of("data set"),
        "k": axis_of("number of components"),
        "temperatures": axis_of("temperatures of an annealed run"),
    }

    levels: list[float] = knob([0.85, 0.2], "chance of a one in each cluster", above=0, below=1)
    variables: int = knob(6, "binary variables", at_least=1, at_most=50)
    n: list[int] = knob([9], "points in a data set", at_least=2, distinct=True)
    k: list[int] = knob([1, 2, 3], "numbers of components", at_least=1, at_most=6, distinct=True)
    beta_priors: list[float] = knob([1.0], "of the chances: Beta(b, b)", above=0, distinct=True)
    alpha0: float = knob(1.0, "of the Dirichlet prior", above=0)
    repetitions: int = knob(20, "data sets to draw", at_least=1, at_most=1000)
    restarts: int = knob(10, "starts of each fit; the best is kept", at_least=1, at_most=1000)
    temperatures: list[int] = knob(
        [], "of annealed runs, with the last k", at_least=2, distinct=True, may_be_empty=True
    )

    def problems(self) -> Iterator[str]:
        most = max(self.k) ** max(self.n)
        if most > _LARGEST:
            yield f"study.k, study.n: {most} assignments; allowed: at most {_LARGEST}"

    def run(self, rng: Generator) -> Outcome:
        shape = len(self.n), self.repetitions, len(self.k)
        evidence, bound = np.empty((2, len(self.beta_priors), *shape))
        likelihood, information = np.empty((2, *shape))
        evaluations = np.empty(shape[:2], dtype=int)
        runs: list[Floats] = []
        for j, N in enumerate(self.n):
            X = self._data(N, rng)
            for m, K in enumerate(self.k):
                start = rng.dirichlet(np.ones(K), (self.repetitions, self.restarts, N))
                highest = self._by_set(exact.max_log_likelihood(*self._flat(X, start)))
                likelihood[j, :, m] = highest.max(-1)
                information[j, :, m] = exact.bic(likelihood[j, :, m], K, N, self.variables)
                counts = [exact.all_assignments(x, K) for x in X]
                for i, b in enumerate(self.beta_priors):
                    prior = Prior(self.alpha0, b)
                    em = variational.fit(*self._flat(X, start), prior)
                    bound[i, j, :, m] = self._by_set(em.final).max(-1)
                    evidence[i, j, :, m] = [
                        logsumexp(exact.log_joint(one, prior)) for one in counts
                    ]
                    if (i, K) == (0, self.k[-1]):
                        evaluations[j] = self._by_set(em.iterations + 1).sum(-1) * N * K
            if self.temperatures:
                runs.append(self._annealed(X, rng))
        coords = {"beta_prior": self.beta_priors, "n": self.n, "k": self.k}
        return outcome(
            coords | {"repetition": self.repetitions} | self._coords(),
            log_evidence=(_CELL, evidence),
            bound=(_CELL, bound),
            max_log_likelihood=("n repetition k", likelihood),
            bic=("n repetition k", information),
            vb_evaluations=("n repetition", evaluations),
            **self._sampled(runs, evaluations),
        )

    def _coords(self) -> dict[str, Any]:
        return {"temperatures": self.temperatures} if self.temperatures else {}

    def _sampled(self, runs: list[Floats], evaluations: Ints) -> dict[str, Any]:
        """The estimates of annealed runs, if there are any."""
        if not runs:
            return {}
        values = np.stack(runs, axis=1)
        return {
            "ais_log_evidence": ("temperatures n repetition", values),
            "ais_at_cost": ("n repetition", self._at_cost(values, evaluations)),
        }

    def _data(self, N: int, rng: Generator) -> Floats:
        """Data sets (repetitions, N, D), every cluster equally probable."""
        z = rng.integers(len(self.levels), size=(self.repetitions, N))
        chance = np.array(self.levels)[z][..., None]
        return (rng.random((self.repetitions, N, self.variables)) < chance).astype(np.float64)

    def _flat(self, X: Floats, start: Floats) -> tuple[Floats, Floats]:
        """Data and responsibilities of all sets and starts along one axis."""
        return np.repeat(X, self.restarts, axis=0), start.reshape(-1, *start.shape[2:])

    def _by_set(self, values: AnyArray) -> AnyArray:
        return values.reshape(self.repetitions, self.restarts)

    def _annealed(self, X: Floats, rng: Generator) -> Floats:
        """Estimates (temperatures, set) with the last number of components and the first prior."""
        prior, K = Prior(self.alpha0, self.beta_priors[0]), self.k[-1]
        return np.stack([exact.annealed(X, K, prior, T, rng) for T in self.temperatures])

    def _at_cost(self, values: Floats, evaluations: Ints) -> Floats:
        """Annealed estimates at the cost of the fit, from (temperatures, n, set).

        A sweep evaluates each point in each component; the first labels take one as well.
        """
        cost = np.outer(self.temperatures, np.array(self.n) * self.k[-1])
        same = np.empty(evaluations.shape)
        for j, s in np.ndindex(same.shape):
            affordable = np.flatnonzero(cost[:, j] <= evaluations[j, s])
            place = affordable[cost[affordable, j].argmax()] if len(affordable) else 0
            same[j, s] = values[place, j, s]
        return same
