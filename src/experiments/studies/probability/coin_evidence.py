"""Every count of heads under beta priors: marginal likelihood and beliefs (FCML 3.4, EX 3.8)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.probability._beta_priors import BetaPriors
from models.probability import coin
from models.probability.coin import Beta
from models.types import Floats

SHOWN = ("heads", "contours", "simulation")


@dataclass
class CoinEvidence(BetaPriors, Study):
    """Compare and optimise beta priors by the marginal likelihood of the tosses (FCML 3.4)."""

    heads: int | None = knob(14, "heads seen; null: none in particular", at_least=0)
    tosses: int = knob(20, "tosses seen", at_least=1, at_most=10_000)
    alpha_max: int = knob(50, "the search ends here", at_least=2, at_most=500)
    beta_max: int = knob(30, "the search ends here", at_least=2, at_most=500)
    r: float | None = knob(None, "simulate tosses of a coin with this r", above=0, below=1)
    repetitions: int = knob(10_000, "simulated sets of tosses", at_least=100, at_most=1_000_000)
    show: list[str] = knob(["heads"], "what to draw", choices=SHOWN, distinct=True)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.heads is None and {"heads", "contours"} & set(self.show):
            yield f"study.show={self.show} needs study.heads=<heads seen>"
        if self.heads is not None and self.heads > self.tosses:
            yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
        if "simulation" in self.show and self.r is None:
            yield "study.show=simulation needs study.r=<probability of a head>"

    def run(self, rng: Generator) -> Outcome:
        y = np.arange(self.tosses + 1)  # all the sets there are: only the number of heads matters
        prior, heads = self.prior_axis, axis("heads", y)
        belief = coin.update(self.prior, y, self.tosses)  # (P, N + 1)
        found = {
            "posterior_mean": coin.mean(belief),
            "win_probability": coin.expected_win_probability(
                belief, self.game_tosses, self.win_at_most
            ),
            "evidence": np.exp(coin.log_beta_binomial(y, self.tosses, self.prior)),  # FCML 3.14
        }
        quantities = {name: over(values, prior, heads) for name, values in found.items()}
        if self.r is not None:
            quantities |= self._simulated(self.r, found, rng)
        best = {} if self.heads is None else self._optimised(self.heads)
        return Outcome(**quantities, **best)

    def _optimised(self, y: int) -> dict[str, object]:
        """The marginal likelihood over a box of parameters, and where it is highest."""
        # Whole parameters, as the book's; zero is left out, where the prior does not exist.
        alpha = axis("alpha", np.arange(1, self.alpha_max + 1))
        beta = axis("beta", np.arange(1, self.beta_max + 1))
        box = Beta(alpha.values[:, None].astype(float), beta.values.astype(float))
        best = coin.best_prior(y, self.tosses, self.alpha_max, self.beta_max)
        seen = y, self.tosses
        return {
            "evidence_of_parameters": over(np.exp(coin.log_beta_binomial(*seen, box)), alpha, beta),
            "best_alpha": float(best.alpha),  # these need not be whole
            "best_beta": float(best.beta),
            "best_evidence": float(np.exp(coin.log_beta_binomial(*seen, best))),
            "evidence_limit": float(np.exp(coin.log_binomial(*seen, y / self.tosses))),
        }

    def _simulated(self, r: float, found: dict[str, Floats], rng: Generator) -> dict[str, Quantity]:
        """Averages over all sets of tosses of a known coin, exactly and by simulation."""
        chance = np.exp(coin.log_binomial(np.arange(self.tosses + 1), self.tosses, r))
        drawn = rng.binomial(self.tosses, r, self.repetitions)
        values = np.array(list(found.values()))  # (quantity, P, N + 1)
        exact = values @ chance
        variance = (values - exact[..., None]) ** 2 @ chance
        axes = axis("averaged", list(found)), self.prior_axis
        return {
            "chance": axis("heads", self.tosses + 1).of(chance),
            "drawn_heads": axis("repetition", self.repetitions).of(drawn),
            "average": over(exact, *axes),
            "simulated_average": over(values[..., drawn].mean(-1), *axes),
            "standard_error": over(np.sqrt(variance / self.repetitions), *axes),
            "true_win_probability": Quantity(
                coin.win_probability(r, self.game_tosses, self.win_at_most)
            ),
        }
