"""Where the messages of a long hidden Markov chain underflow (PRML 13.2.4, MLAPP 17.4.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import hmm, hmm_examples
from bythebook.models.chains.hmm_recursions import forward_unscaled


@dataclass
class HmmUnderflow(Study):
    """Steps at which unscaled messages vanish, and scaled messages that are lost."""

    headline = {"underflow_dice": "median(underflow['dice'])"}
    quantities = {
        "underflow": quantity(
            "first step at which every unscaled forward message is zero",
            "emission sequence",
            unit="steps",
        ),
        "lost": quantity("scaled messages that are not finite, or zero for all states", "emission"),
        "log_evidence": quantity(
            "log probability of the data so far in the first sequence", "emission step", unit="nats"
        ),
    }
    axes = {
        "emission": axis_of("emission distribution"),
        "sequence": axis_of("sequence"),
        "step": axis_of("step of the chain"),
    }

    dimensions: list[int] = knob(
        [],
        "dimensions of unit Gaussians, in addition to the casino's dice",
        at_least=1,
        at_most=50,
        distinct=True,
        may_be_empty=True,
    )
    sequences: int = knob(100, "sequences of each kind", at_least=1, at_most=20_000)
    length: int = knob(1000, "steps of a sequence", at_least=20, at_most=100_000)

    def run(self, rng: Generator) -> Outcome:
        drawn = hmm_examples.dice_and_gaussians(self.dimensions, self.sequences, self.length, rng)
        underflow, lost, log_evidence = [], [], []
        for (pi, A), log_lik in drawn.values():
            alive = forward_unscaled(pi, A, np.exp(log_lik)).any(axis=-1)
            underflow.append(np.where(alive.all(axis=-1), np.inf, alive.argmin(axis=-1) + 1))
            posterior = hmm.smoother(pi, A, log_lik)
            messages = posterior.forward.filtered, posterior.backward
            so_far = posterior.forward.log_scale.cumsum(axis=-1)  # 13.63
            log_evidence.append(so_far[0])
            lost.append(
                sum(np.sum(~np.isfinite(a)) for a in (*messages, posterior.smoothed, so_far))
                + sum(np.sum(~a.any(axis=-1)) for a in messages)
            )
        return outcome(
            {
                "emission": list(drawn),
                "sequence": self.sequences,
                "step": np.arange(1, self.length + 1),
            },
            underflow=("emission sequence", underflow),
            lost=("emission", lost),
            log_evidence=("emission step", log_evidence),
        )
