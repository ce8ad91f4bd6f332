"""Forward messages that leave double precision, and scaled ones that do not (PRML 13.2.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.chains import hmm
from models.chains import hmm_enumeration as by_paths
from models.chains.baum_welch import GaussianHMM
from models.chains.casino import book_game, casino, simulate
from models.chains.hmm_examples import three_regions, walk
from models.chains.hmm_recursions import evidence_in_logs, forward_unscaled
from models.types import Floats


@dataclass
class ScaledForward(Study):
    """When forward messages leave double precision, and what scaling them saves (PRML 13.2.4)."""

    headline = {"underflow_length_dice": "median(underflow['dice'])"}

    dimensions: list[int] = knob(
        [2, 5, 10], "of unit Gaussians, beside the casino's dice",
        at_least=1, at_most=50, distinct=True, may_be_empty=True,
    )  # fmt: skip
    length: int = knob(1000, "steps of a sequence", at_least=20, at_most=20_000)
    sequences: int = knob(100, "sequences of each kind", at_least=1, at_most=2000)
    enumerated: int = knob(8, "first steps that are summed over all paths", at_least=2, at_most=16)

    def problems(self) -> Iterator[str]:
        K, most = 3 if self.dimensions else 2, by_paths.MOST_PATHS
        if K**self.enumerated > most:
            yield f"study.enumerated={self.enumerated}: more than {most} paths; take fewer"

    def run(self, rng: Generator) -> Outcome:
        underflow, first, not_finite, in_logs, prefixes = [], [], [], [], []
        chains = self._chains(rng)
        for pi, A, log_lik in chains.values():
            alive = forward_unscaled(pi, A, np.exp(log_lik)).any(axis=-1)
            underflow.append(np.where(alive.all(axis=-1), np.inf, alive.argmin(axis=-1) + 1))
            posterior = hmm.smoother(pi, A, log_lik)
            scaled = posterior.forward.log_scale.cumsum(axis=-1)
            first.append(scaled[0])
            not_finite.append(sum(np.sum(~np.isfinite(a)) for a in (posterior.smoothed, scaled)))
            ratio = scaled[:, -1] / evidence_in_logs(pi, A, log_lik)
            in_logs.append(np.abs(ratio - 1).max())
            prefixes.append(_prefixes(pi, A, log_lik[:5, : self.enumerated]))
        emission, step = axis("emission", list(chains)), axis("step", np.arange(1, self.length + 1))
        model = casino()
        book = hmm.categorical_log_likelihood(model.B, book_game().rolls)
        return Outcome(
            underflow=over(underflow, emission, axis("sequence", self.sequences)),
            first_log_evidence=over(first, emission, step),
            not_finite=emission.of(not_finite),  # scaled messages and log evidences that are lost
            log_evidence_gap=emission.of(in_logs),
            book_log_evidence=hmm.forward_filter(model.pi, model.A, book).log_evidence,
            **{name: emission.of([prefix[name] for prefix in prefixes]) for name in prefixes[0]},
        )

    def _chains(self, rng: Generator) -> dict[str, tuple[Floats, Floats, Floats]]:
        """Initial and transition probabilities and log likelihoods (N, T, K), by emission."""
        model, shape = casino(), (self.sequences, self.length)
        rolls = simulate(model, *shape, rng).rolls
        found = {"dice": (model.pi, model.A, hmm.categorical_log_likelihood(model.B, rolls))}
        chain = three_regions()
        for D in self.dimensions:
            mu, Sigma = 2 * rng.standard_normal((3, D)), np.tile(np.eye(D), (3, 1, 1))
            points = walk(GaussianHMM(chain.pi, chain.A, mu, Sigma), *shape, rng).points
            log_lik = hmm.gaussian_log_likelihood(mu, Sigma, points)
            found[f"gaussian_{D}"] = (chain.pi, chain.A, log_lik)
        return found


def _prefixes(pi: Floats, A: Floats, log_lik: Floats) -> dict[str, Floats]:
    """The scaled quantities of a few short sequences against sums over all paths."""
    T, K = log_lik.shape[-2:]
    lik, posterior = np.exp(log_lik), hmm.smoother(pi, A, log_lik)
    alpha, log_c = posterior.forward
    prefixes = [by_paths.enumerate_paths(pi, A, lik[:, :t]) for t in range(1, T + 1)]
    evidence = np.stack([paths.evidence for paths in prefixes], axis=-1)
    product = alpha[:, :-1, :, None] * A * (lik * posterior.backward)[:, 1:, None, :]
    c = np.exp(log_c)[:, 1:, None, None]
    pairs = by_paths.pair_marginals(prefixes[-1], K)
    as_printed = (c * product).sum(axis=(-2, -1))  # 13.65 to the letter
    gaps = {
        "evidence_gap": np.exp(log_c.cumsum(axis=-1)) / evidence - 1,
        "filtered_gap": alpha - by_paths.filtered_marginals(pi, A, lik),
        "pair_gap": product / c - pairs,  # 13.103
        "printed_sum_gap": as_printed / c[..., 0, 0] ** 2 - 1,
    }
    largest = {name: np.abs(gap).max() for name, gap in gaps.items()}
    return {**largest, "printed_sum": as_printed.max()}
