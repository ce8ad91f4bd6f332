"""Heads in some tosses: of a known coin, as a likelihood, under beta priors (FCML 3.1, 3.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.probability._beta_priors import BetaPriors
from bythebook.models.probability import coin
from bythebook.models.types import Floats

SHOWN = ("heads", "likelihood", "contours", "simulation")


@dataclass
class CoinCounts(BetaPriors, Study):
    """A bet on a coin, the likelihood of r, and the marginal likelihood of priors (FCML 3.4)."""

    quantities = {
        "r_of_the_coin": quantity("probability of heads of the coin"),
        "game_chance": quantity("probability of a number of heads in the game", "game_heads"),
        "win_probability_of_r": quantity(
            "probability of winning with a coin of probability r", "r"
        ),
        "likelihood": quantity("likelihood of r for a number of heads", "count r"),
        "area": quantity("area under the likelihood of r", "count"),
        "not_negligible_from": quantity(
            "smallest r with a likelihood that is not negligible", "count negligible"
        ),
        "not_negligible_to": quantity(
            "largest r with a likelihood that is not negligible", "count negligible"
        ),
        "evidence_of_parameters": quantity(
            "probability of the tosses by the parameters of the prior", "alpha beta"
        ),
        "best_parameters": quantity(
            "parameters of the prior with the largest evidence", "parameter"
        ),
        "posterior_mean": quantity("posterior mean of r", "prior heads"),
        "win_probability": quantity(
            "expected probability of winning under the posterior", "prior heads"
        ),
        "evidence": quantity(
            "probability of the heads under a prior", "prior heads", equation="FCML 3.14"
        ),
        "average": quantity("exact average over the number of heads", "averaged prior"),
        "simulated_average": quantity("average over simulated games", "averaged prior"),
        "standard_error": quantity("standard error of the simulated average", "averaged prior"),
        "chance": quantity("probability of a number of heads", "heads"),
        "drawn_heads": quantity("heads in a simulated game", "repetition"),
    }
    axes = {
        "alpha": axis_of("first parameter of the prior"),
        "beta": axis_of("second parameter of the prior"),
        "averaged": axis_of("function that is averaged"),
        "count": axis_of("number of heads"),
        "game_heads": axis_of("number of heads in the game"),
        "heads": axis_of("number of heads"),
        "negligible": axis_of("share of the largest likelihood that is negligible"),
        "parameter": axis_of("parameter of the prior"),
        "prior": axis_of("prior"),
        "r": axis_of("probability of heads"),
        "repetition": axis_of("simulated game"),
    }

    r: float | None = knob(
        None,
        "probability of a head; null: likeliest by the first count",
        at_least=0,
        at_most=1,
    )
    heads: list[int] = knob(
        [14], "heads seen, in each of some counts; none: all possible counts", at_least=0,
        may_be_empty=True,
    )  # fmt: skip
    tosses: list[int] = knob([20], "tosses of each count", at_least=1, at_most=10_000)
    negligible: list[float] = knob(
        [0.05], "shares of its maximum below which a likelihood counts as zero", above=0,
        below=1, distinct=True,
    )  # fmt: skip
    alpha_max: int = knob(50, "the search for a prior ends here", at_least=2, at_most=500)
    beta_max: int = knob(30, "the search for a prior ends here", at_least=2, at_most=500)
    repetitions: int = knob(0, "simulated sets of tosses", at_least=0, at_most=1_000_000)
    show: list[str] = knob(["heads"], "what to draw", choices=SHOWN, distinct=True)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.heads and len(self.heads) != len(self.tosses):
            yield f"study.heads={self.heads}, study.tosses={self.tosses}; allowed: equally many"
        elif any(y > n for y, n in zip(self.heads, self.tosses, strict=False)):
            yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
        drawn = {"likelihood", "contours", *(["heads"] if self.alphas else [])} & set(self.show)
        if not self.heads and (self.r is None or drawn):
            yield f"study.heads=[]; r=null and show={self.show} need a count of heads"
        if "simulation" in self.show and not (self.repetitions and self.alphas):
            yield "study.show=simulation needs study.repetitions=<sets of tosses>, and priors"

    def run(self, rng: Generator) -> Outcome:
        coin_r = self.heads[0] / self.tosses[0] if self.r is None else self.r  # maximum of 3.2
        game, r = axis("game_heads", self.game_tosses + 1), np.linspace(0, 1, 4001)
        r[np.abs(r - coin_r).argmin()] = coin_r  # the curves pass through the coin itself
        found: dict[str, Any] = {
            "r_of_the_coin": coin_r,
            "game_chance": game.of(np.exp(coin.log_binomial(game.values, len(game) - 1, coin_r))),
            "win_probability_of_r": axis("r", r).of(coin.win_probability(r, *self.bet)),
        }
        if self.heads:
            found |= self._likelihoods(r) | self._best_prior()
        if self.alphas:
            found |= self._priors(coin_r, rng)
        return Outcome(**found)

    def _likelihoods(self, r: Floats) -> dict[str, Any]:
        """Each likelihood, its area, and the range of r in which it is not negligible."""
        pairs = list(zip(self.heads, self.tosses, strict=True))
        count = axis("count", [f"{y} of {n}" for y, n in pairs])
        likelihood = np.exp([coin.log_binomial(y, n, r) for y, n in pairs])
        share = axis("negligible", self.negligible)
        ends = [[r[c >= s * c.max()][[0, -1]] for s in self.negligible] for c in likelihood]
        return {
            "likelihood": over(likelihood, count, axis("r", r)),
            "area": count.of(np.trapezoid(likelihood, r, axis=-1)),
            "not_negligible_from": over(np.array(ends)[..., 0], count, share),
            "not_negligible_to": over(np.array(ends)[..., 1], count, share),
        }

    def _best_prior(self) -> dict[str, Any]:
        """The marginal likelihood of the first count over a box of parameters, and its maximum."""
        # Whole parameters, as the book's; zero is left out, where the prior does not exist.
        alpha = axis("alpha", np.arange(1, self.alpha_max + 1))
        beta = axis("beta", np.arange(1, self.beta_max + 1))
        box = coin.Beta(alpha.values[:, None].astype(float), beta.values.astype(float))
        y, N = self.heads[0], self.tosses[0]
        best = coin.best_prior(y, N, self.alpha_max, self.beta_max)  # these need not be whole
        return {
            "evidence_of_parameters": over(np.exp(coin.log_beta_binomial(y, N, box)), alpha, beta),
            "best_parameters": axis("parameter", ["alpha", "beta"]).of(np.stack(best)),
        }

    def _priors(self, r: float, rng: Generator) -> dict[str, Any]:
        """All possible counts under each prior, and averages over tosses of the coin."""
        N, S = self.tosses[0], self.repetitions
        y = np.arange(N + 1)  # all possible sets: only the number of heads matters
        prior, heads, belief = self.prior_axis, axis("heads", y), coin.update(self.prior, y, N)
        of_heads = {
            "posterior_mean": coin.mean(belief),
            "win_probability": coin.expected_win_probability(belief, *self.bet),
            "evidence": np.exp(coin.log_beta_binomial(y, N, self.prior)),  # FCML 3.14
        }
        found = {name: over(values, prior, heads) for name, values in of_heads.items()}
        if not S:
            return found
        chance, drawn = np.exp(coin.log_binomial(y, N, r)), rng.binomial(N, r, S)
        values = np.array(list(of_heads.values()))  # (quantity, P, N + 1)
        exact = values @ chance
        variance = (values - exact[..., None]) ** 2 @ chance
        averages = {
            "average": exact,
            "simulated_average": values[..., drawn].mean(-1),
            "standard_error": np.sqrt(variance / S),
        }
        axes = axis("averaged", list(of_heads)), prior
        found |= {name: over(values, *axes) for name, values in averages.items()}
        return found | {"chance": heads.of(chance), "drawn_heads": axis("repetition", S).of(drawn)}
