"""Posterior of a coin, toss by toss, and the resulting bet (FCML 3.1.2-3.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.probability._beta_priors import BetaPriors
from bythebook.models.datasets import load
from bythebook.models.probability import coin
from bythebook.models.probability.coin import Beta
from bythebook.models.types import Floats, Ints

R = np.linspace(0, 1, 501)


@dataclass
class CoinGame(BetaPriors, Study):
    """The posterior of a coin's bias as it is tossed, and the winning probability (FCML 3.3)."""

    headline = {
        "posterior_mean": "first(last(posterior_mean, over='toss'))",
        "win_probability": "first(last(win_probability, over='stage'))",
        "evidence": "first(last(evidence, over='stage'))",
    }
    quantities = {
        "posterior_mean": quantity("posterior mean of the probability of heads", "prior toss"),
        "win_probability": quantity("probability of winning the game", "prior stage"),
        "evidence": quantity("probability of the tosses under the prior", "prior stage"),
        "posterior_alpha": quantity("first parameter of the posterior (heads)", "prior toss"),
        "posterior_beta": quantity("second parameter of the posterior (tails)", "prior toss"),
        "posterior_variance": quantity(
            "posterior variance of the probability of heads", "prior toss"
        ),
        "heads": quantity("heads up to a toss", "toss"),
        "customer_heads": quantity("heads of a customer", "customer"),
        "customer_tosses": quantity("tosses of a customer", "customer"),
        "mass_in_interval": quantity(
            "posterior probability that heads are in the interval", "prior stage"
        ),
        "mass_above_half": quantity(
            "posterior probability that heads are more probable than tails", "prior stage"
        ),
        "plugin_win_probability": quantity(
            "probability of winning at the posterior mean", "prior stage"
        ),
        "win_sd": quantity(
            "posterior standard deviation of the probability of winning", "prior stage"
        ),
        "prior_density": quantity("prior density of the probability of heads", "prior r"),
        "previous_density": quantity(
            "density of the probability of heads before the stage", "prior stage r"
        ),
        "density": quantity("density of the probability of heads after the stage", "prior stage r"),
    }
    axes = {
        "prior": axis_of("prior"),
        "toss": axis_of("number of tosses"),
        "stage": axis_of("stage of the game"),
        "r": axis_of("probability of heads"),
        "customer": axis_of("customer"),
    }

    alphas: list[float] = knob([1.0], "first parameter of each prior (heads)", above=0)
    betas: list[float] = knob([1.0], "second parameter of each prior (tails)", above=0)
    data: str | None = knob(
        "coin-tosses", "the tosses, last column, head = 1; null: only their count", dataset=True
    )
    customers: list[int] = knob(
        [], "customers whose tosses are used, in order; none: all", may_be_empty=True, distinct=True
    )
    heads: int | None = knob(None, "number of heads, without data", at_least=0)
    tosses: int | None = knob(None, "number of tosses, without data", at_least=1, at_most=1_000_000)
    stages: list[int] = knob([0], "tosses seen when bets are placed", at_least=0)
    interval: list[float] = knob([0.4, 0.6], "report the probability of this range of r")

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if len(self.interval) != 2 or not 0 <= self.interval[0] < self.interval[1] <= 1:
            yield f"study.interval={self.interval}; allowed: two numbers, 0 <= low < high <= 1"
        found = list(self._toss_problems())
        yield from found
        known = [] if found else self._counts()[0].tolist()
        if known and (self.stages != sorted(set(self.stages)) or not set(self.stages) <= {*known}):
            allowed = f"0 to {known[-1]}" if len(known) > 2 else f"0 and {known[-1]}"
            yield f"study.stages={self.stages}; allowed: ascending, from {allowed}"

    def _toss_problems(self) -> Iterator[str]:
        if self.data is None:
            if self.heads is None or self.tosses is None or self.customers:
                yield "study.data=null needs study.heads and study.tosses, and no customers"
            elif self.heads > self.tosses:
                yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
            return
        if self.heads is not None or self.tosses is not None:
            yield "study.heads and study.tosses are for study.data=null"
        columns = load(self.data).columns
        if not set(np.unique(list(columns.values())[-1])) <= {0.0, 1.0}:
            yield f"study.data={self.data} has no tosses: its last column is not 0 and 1"
        known = np.unique(columns.get("customer", np.array([]))).astype(int).tolist()
        if not set(self.customers) <= set(known):
            yield f"study.customers={self.customers}; allowed with {self.data}: {known}"

    def _tosses(self) -> list[Floats]:
        """The tosses of each customer, head = 1."""
        assert self.data is not None
        columns = load(self.data).columns
        head = list(columns.values())[-1]
        return [head[columns["customer"] == c] for c in self.customers] or [head]

    def _counts(self) -> tuple[Ints, Floats]:
        """Tosses N and heads y_N from N = 0 on, toss by toss if the tosses are known."""
        if self.data is None:
            return np.array([0, self.tosses or 0]), np.array([0.0, self.heads or 0])
        head = np.concatenate(self._tosses())
        return np.arange(len(head) + 1), np.concatenate([[0.0], np.cumsum(head)])

    def run(self, rng: Generator) -> Outcome:
        N, y = self._counts()
        path, at = coin.update(self.prior, y, N), np.searchsorted(N, self.stages)  # (P, T), (S,)
        belief = Beta(path.alpha[:, at], path.beta[:, at])
        before = np.maximum(at - 1, 0)
        previous = Beta(path.alpha[:, before], path.beta[:, before])
        win = coin.expected_win_probability(belief, *self.bet)
        square = coin.expectation(lambda r: coin.win_probability(r, *self.bet) ** 2, belief)
        coords = {"prior": self.labels, "toss": N, "stage": self.stages, "r": R}
        customers = {}
        if self.customers:
            coords["customer"] = self.customers
            customers = {
                "customer_heads": ("customer", [int(t.sum()) for t in self._tosses()]),
                "customer_tosses": ("customer", [len(t) for t in self._tosses()]),
            }
        plug_in = coin.win_probability(coin.mean(belief), *self.bet)
        return outcome(
            coords,
            posterior_alpha=("prior toss", path.alpha),
            posterior_beta=("prior toss", path.beta),
            posterior_mean=("prior toss", coin.mean(path)),
            posterior_variance=("prior toss", coin.variance(path)),
            heads=("toss", y.astype(int)),
            mass_in_interval=("prior stage", coin.mass(belief, *self.interval)),
            mass_above_half=("prior stage", coin.mass(belief, 0.5, 1.0)),
            win_probability=("prior stage", win),
            plugin_win_probability=("prior stage", plug_in),
            win_sd=("prior stage", np.sqrt(np.maximum(square - win**2, 0))),
            evidence=("prior stage", np.exp(coin.log_beta_binomial(y[at], N[at], self.prior))),
            prior_density=("prior r", _density(self.prior)[:, 0]),
            previous_density=("prior stage r", _density(previous)),
            density=("prior stage r", _density(belief)),
            **customers,
        )


def _density(belief: Beta) -> Floats:
    """p(r) over a grid, (..., r)."""
    alpha, beta = belief
    return np.exp(coin.log_density(Beta(alpha[..., None], beta[..., None]), R))
