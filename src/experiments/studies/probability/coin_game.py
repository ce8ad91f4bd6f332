"""Posterior of a coin, toss by toss, and the resulting bet (FCML 3.1.2-3.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.probability._beta_priors import BetaPriors
from bythebook.models.datasets import load
from bythebook.models.probability import coin
from bythebook.models.probability.coin import Beta
from bythebook.models.types import Floats, Ints

SHOWN = ("stages", "overlay", "path", "win", "tosses")
UNIFORM = Beta(np.ones(()), np.ones(()))
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
        "uniform_mean": quantity(
            "posterior mean of the probability of heads, uniform prior", "toss"
        ),
        "uniform_variance": quantity(
            "posterior variance of the probability of heads, uniform prior", "toss"
        ),
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
        "area_as_printed": quantity(
            "expectation of one minus the probability of heads", "prior stage"
        ),
        "quadrature_gap": quantity(
            "difference between a closed form and quadrature", "closed_form prior stage"
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
        "closed_form": axis_of("quantity in closed form"),
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
    show: list[str] = knob(["stages"], "what to draw", choices=SHOWN, distinct=True)

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
            if {"path", "tosses"} & set(self.show):
                yield f"study.show={self.show} needs study.data: each toss, not only their count"
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
        prior, toss = self.prior_axis, axis("toss", N)
        path, uniform = coin.update(self.prior, y, N), coin.update(UNIFORM, y, N)  # (P, T), (T,)
        posterior = {
            "posterior_alpha": path.alpha,
            "posterior_beta": path.beta,
            "posterior_mean": coin.mean(path),
            "posterior_variance": coin.variance(path),
        }
        found = {name: over(values, prior, toss) for name, values in posterior.items()} | {
            "heads": toss.of(y.astype(int)),
            "uniform_mean": toss.of(coin.mean(uniform)),  # to compare any prior with
            "uniform_variance": toss.of(coin.variance(uniform)),
        }
        if self.customers:
            customer = axis("customer", self.customers)
            found["customer_heads"] = customer.of([int(t.sum()) for t in self._tosses()])
            found["customer_tosses"] = customer.of([len(t) for t in self._tosses()])
        return Outcome(**found, **self._stages(path, y, N))

    def _stages(self, path: Beta, y: Floats, N: Ints) -> dict[str, Quantity]:
        """Posterior summaries at each stage under each prior, (P, S), and densities over r."""
        prior, stage, r = self.prior_axis, axis("stage", self.stages), axis("r", R)
        at = np.searchsorted(N, self.stages)
        belief = Beta(path.alpha[:, at], path.beta[:, at])
        win = coin.expected_win_probability(belief, *self.bet)
        evidence = np.exp(coin.log_beta_binomial(y[at], N[at], self.prior))
        square = coin.expectation(lambda r: coin.win_probability(r, *self.bet) ** 2, belief)
        before = np.maximum(at - 1, 0)
        previous = Beta(path.alpha[:, before], path.beta[:, before])
        closed = [coin.mean(belief), coin.variance(belief), win, evidence]
        integrals = coin.by_quadrature(self.prior, y[at], N[at], *self.bet)
        reported = {
            "mass_in_interval": coin.mass(belief, *self.interval),
            "mass_above_half": coin.mass(belief, 0.5, 1.0),
            "win_probability": win,
            "plugin_win_probability": coin.win_probability(coin.mean(belief), *self.bet),
            "win_sd": np.sqrt(np.maximum(square - win**2, 0)),
            "evidence": evidence,
            # 3.6 is printed with one factor of 1 - r too many.
            "area_as_printed": coin.expectation(lambda r: 1 - r, belief),
        }
        gaps = [np.abs(a / b - 1) for a, b in zip(closed, integrals, strict=True)]
        form = axis("closed_form", ["mean", "variance", "win", "evidence"])
        return {name: over(values, prior, stage) for name, values in reported.items()} | {
            "quadrature_gap": over(gaps, form, prior, stage),
            "prior_density": over(_density(self.prior)[:, 0], prior, r),
            "previous_density": over(_density(previous), prior, stage, r),
            "density": over(_density(belief), prior, stage, r),
        }


def _density(belief: Beta) -> Floats:
    """p(r) over a grid, (..., r)."""
    alpha, beta = belief
    return np.exp(coin.log_density(Beta(alpha[..., None], beta[..., None]), R))
