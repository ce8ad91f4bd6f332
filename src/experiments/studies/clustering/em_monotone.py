"""EM never lowers the log likelihood, whatever the latent-variable model (Ghahramani 3)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.em import held
from models.em_examples import EXAMPLES


@dataclass
class EmMonotone(Study):
    """The log likelihood along EM for six latent-variable models, each from random starts."""

    models: list[str] = knob(list(EXAMPLES), "models", choices=tuple(EXAMPLES), distinct=True)
    restarts: int = knob(10, "random starts of each model", at_least=1, at_most=1000)
    iterations: int = knob(100, "iterations at most", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        # Every model has its own stream, whichever are chosen.
        streams = dict(zip(EXAMPLES, rng.spawn(len(EXAMPLES)), strict=True))
        size = self.restarts, self.iterations
        found = [EXAMPLES[name](*size, streams[name]) for name in self.models]
        longest = max(L.shape[1] for L in found)
        model, start = axis("model", self.models), axis("start", self.restarts)
        return Outcome(
            log_likelihood=over(
                [held(L, longest) for L in found], model, start, axis("iteration", longest)
            ),
            iterations=over([(~np.isnan(L)).sum(axis=1) - 1 for L in found], model, start),
        )
