"""The most probable path of a hidden Markov model and its most probable states (PRML 13.2.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import hmm, hmm_examples


@dataclass
class HmmPaths(Study):
    """Viterbi paths and individually most probable states in random models (PRML 13.2.5)."""

    headline = {"wrong_states": "error_rate['states']", "wrong_path": "error_rate['path']"}
    quantities = {
        "error_rate": quantity("share of the hidden states that are wrong", "choice"),
        "log_joint": quantity("log probability of the chosen states and the data", "choice n"),
        "long_log_joint": quantity("log probability of the best path of a long sequence"),
        "marginal": quantity("posterior probability of each state in one sequence", "step state"),
        "path": quantity("most probable path of that sequence", "step"),
        "modes": quantity("most probable state of each step in that sequence", "step"),
        "transition": quantity("probability of the transition between two such states", "step"),
    }
    axes = {
        "choice": axis_of("how the states are chosen"),
        "n": axis_of("model and sequence"),
        "step": axis_of("step"),
        "state": axis_of("state"),
    }

    states: int = knob(3, "states of a model", at_least=2, at_most=50)
    symbols: int = knob(4, "symbols of a model", at_least=2, at_most=50)
    forbidden: int = knob(0, "states that cannot lead to their successor", at_least=0)
    length: int = knob(6, "steps of a sequence", at_least=2, at_most=10_000)
    sequences: int = knob(300, "models, each with a sequence", at_least=1, at_most=20_000)
    long: int = knob(2000, "steps of a long sequence", at_least=20, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if self.forbidden >= self.states:
            yield f"study.forbidden={self.forbidden}; allowed: below study.states={self.states}"

    def run(self, rng: Generator) -> Outcome:
        chains = self._chains(self.length, self.sequences, rng)
        log_lik = np.log(chains.lik)
        posterior, best = hmm.decode(chains.pi, chains.A, log_lik)
        modes = posterior.smoothed.argmax(axis=-1)
        of_modes = [
            hmm.log_joint(*model) for model in zip(chains.pi, chains.A, log_lik, modes, strict=True)
        ]
        pi, A, lik, _ = self._chains(self.long, 1, rng)
        show = int(np.argmin(of_modes))  # the first impossible sequence of states, if there is one
        return outcome(
            {
                "choice": ["path", "states"],
                "n": self.sequences,
                "step": np.arange(1, self.length + 1),
                "state": np.arange(1, self.states + 1),
            },
            error_rate=("choice", [np.mean(z != chains.states) for z in (best.states, modes)]),
            log_joint=("choice n", np.stack([best.log_joint, of_modes])),
            long_log_joint=hmm.viterbi(pi, A, np.log(lik)).log_joint[0],
            marginal=("step state", posterior.smoothed[show]),
            path=("step", best.states[show] + 1),
            modes=("step", modes[show] + 1),
            transition=("step", [np.nan, *chains.A[show][modes[show, :-1], modes[show, 1:]]]),
        )

    def _chains(self, T: int, sequences: int, rng: Generator) -> hmm_examples.Chains:
        """Sequences, each drawn from its own model."""
        shape = self.states, self.symbols, sequences
        models = hmm_examples.random_models(*shape, rng, self.forbidden)
        return hmm_examples.one_sequence_each(models, T, rng)
