"""Heads in some tosses: of a known coin, as a likelihood, under beta priors (FCML 3.1, 3.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.probability._beta_priors import BetaPriors
from bythebook.models.probability import coin
from bythebook.models.types import Floats, Ints

AVERAGED = ["posterior_mean", "win_probability", "evidence"]


@dataclass
class CoinCounts(BetaPriors, Study):
    """A bet on a coin, the likelihood of r, and the marginal likelihood of priors (FCML 3.4)."""

    quantities = {
        "r_of_the_coin": quantity("probability of heads of the coin"),
        "game_chance": quantity("probability of a number of heads in the game", "game_heads"),
        "win_probability_of_r": quantity(
            "probability of winning with a coin of probability r", "r"
        ),
        "likelihood": quantity("likelihood of r for a number of heads", "seen r"),
        "area": quantity("area under the likelihood of r", "seen"),
        "range_low": quantity(
            "smallest r with a likelihood that is not negligible", "seen negligible"
        ),
        "range_high": quantity(
            "largest r with a likelihood that is not negligible", "seen negligible"
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
        "seen": axis_of("heads and tosses"),
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

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.heads and len(self.heads) != len(self.tosses):
            yield f"study.heads={self.heads}, study.tosses={self.tosses}; allowed: equally many"
        elif any(y > n for y, n in zip(self.heads, self.tosses, strict=False)):
            yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
        if not self.heads and self.r is None:
            yield "study.heads=[] and study.r=null; allowed: a count of heads, or r"

    def run(self, rng: Generator) -> Outcome:
        coin_r = self.heads[0] / self.tosses[0] if self.r is None else self.r  # maximum of 3.2
        game, r = np.arange(self.game_tosses + 1), np.linspace(0, 1, 4001)
        r[np.abs(r - coin_r).argmin()] = coin_r  # the curves pass through the coin itself
        coords: dict[str, Any] = {"game_heads": game, "r": r}
        found: dict[str, Any] = {
            "r_of_the_coin": coin_r,
            "game_chance": ("game_heads", np.exp(coin.log_binomial(game, game[-1], coin_r))),
            "win_probability_of_r": ("r", coin.win_probability(r, *self.bet)),
        }
        if self.heads:
            pairs = list(zip(self.heads, self.tosses, strict=True))
            coords |= {"seen": [f"{y} of {n}" for y, n in pairs], "negligible": self.negligible}
            # Whole parameters, as in the text; zero is left out, where the prior does not exist.
            coords |= {"alpha": np.arange(1, self.alpha_max + 1), "parameter": ["alpha", "beta"]}
            coords |= {"beta": np.arange(1, self.beta_max + 1)}
            found |= self._likelihoods(r) | self._best_prior(coords["alpha"], coords["beta"])
        if self.alphas:
            coords |= {"prior": self.labels, "heads": self.tosses[0] + 1}
            found |= self._priors()
        if self.alphas and self.repetitions:
            coords |= {"averaged": AVERAGED, "repetition": self.repetitions}
            found |= self._simulated(found, coin_r, rng)
        return outcome(coords, **found)

    def _likelihoods(self, r: Floats) -> dict[str, Any]:
        """Each likelihood, its area, and the range of r in which it is not negligible."""
        pairs = zip(self.heads, self.tosses, strict=True)
        likelihood = np.exp([coin.log_binomial(y, n, r) for y, n in pairs])
        ends = [[r[c >= s * c.max()][[0, -1]] for s in self.negligible] for c in likelihood]
        return {
            "likelihood": ("seen r", likelihood),
            "area": ("seen", np.trapezoid(likelihood, r, axis=-1)),
            "range_low": ("seen negligible", np.array(ends)[..., 0]),
            "range_high": ("seen negligible", np.array(ends)[..., 1]),
        }

    def _best_prior(self, alpha: Ints, beta: Ints) -> dict[str, Any]:
        """The marginal likelihood of the first count over a box of parameters, and its maximum."""
        box = coin.Beta(alpha[:, None].astype(float), beta.astype(float))
        y, N = self.heads[0], self.tosses[0]
        best = coin.best_prior(y, N, self.alpha_max, self.beta_max)  # these need not be whole
        return {
            "evidence_of_parameters": ("alpha beta", np.exp(coin.log_beta_binomial(y, N, box))),
            "best_parameters": ("parameter", np.stack(best)),
        }

    def _priors(self) -> dict[str, Any]:
        """All possible counts under each prior."""
        N = self.tosses[0]
        y = np.arange(N + 1)  # all possible sets: only the number of heads matters
        belief = coin.update(self.prior, y, N)
        win = coin.expected_win_probability(belief, *self.bet)
        evidence = np.exp(coin.log_beta_binomial(y, N, self.prior))  # FCML 3.14
        return {
            "posterior_mean": ("prior heads", coin.mean(belief)),
            "win_probability": ("prior heads", win),
            "evidence": ("prior heads", evidence),
        }

    def _simulated(self, found: dict[str, Any], r: float, rng: Generator) -> dict[str, Any]:
        """Averages over tosses of the coin, exact and simulated."""
        N, S = self.tosses[0], self.repetitions
        chance, drawn = np.exp(coin.log_binomial(np.arange(N + 1), N, r)), rng.binomial(N, r, S)
        values = np.array([found[name][1] for name in AVERAGED])  # (quantity, P, N + 1)
        exact = values @ chance
        variance = (values - exact[..., None]) ** 2 @ chance
        return {
            "average": ("averaged prior", exact),
            "simulated_average": ("averaged prior", values[..., drawn].mean(-1)),
            "standard_error": ("averaged prior", np.sqrt(variance / S)),
            "chance": ("heads", chance),
            "drawn_heads": ("repetition", drawn),
        }
