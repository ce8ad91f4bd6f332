"""Maximum likelihood with sampled expectations (MLAPP 19.5.5, Algorithm 19.1)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import root

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.boltzmann import all_states, features, log_likelihood, probabilities
from bythebook.models.graphs.field_estimates import gibbs_sweep, swept
from bythebook.models.graphs.pairwise import grid
from bythebook.models.graphs.proportional_fitting import newton
from bythebook.models.types import Floats, Ints

METHODS = ("persistent", "contrastive")
KEPT = 20  # epochs at which the likelihood is kept


class Data(NamedTuple):
    """One data set: its cases, the share of each state, and the features of all states."""

    cases: Floats  # (case, spin)
    share: Floats  # (state,)
    phi: Floats  # (state, parameter)
    links: Ints


class Course(NamedTuple):
    """All runs of one method: parameters and likelihoods after some epochs, and the steps."""

    path: Floats  # (kept epoch, run, parameter)
    level: Floats  # (run, kept epoch)
    moved: Floats  # (step,) total variation of each step of the first run


@dataclass
class StochasticLikelihood(Study):
    """Stochastic maximum likelihood, with steps of 1 / epoch (MLAPP 19.5.5).

    The runs are repeated on one data set, from random weights and with minibatches. Chains continue
    from step to step, or start at cases of the data at each step (contrastive divergence). Expected
    updates are exact, with the probabilities of all states, for several data sets.
    """

    headline = {"error": "max(abs(mean(estimate['persistent'], over='run') - maximum))"}
    quantities = {
        "maximum": quantity("parameters of the largest likelihood", "parameter"),
        "estimate": quantity("parameters at the end of a run", "method gibbs_steps run parameter"),
        "rms_distance": quantity(
            "root mean square distance of the parameters from the maximum",
            "method gibbs_steps epoch",
        ),
        "course": quantity(
            "mean log likelihood of a case", "method gibbs_steps epoch", unit="nats"
        ),
        "step_distance": quantity("total variation over a step, first run", "step"),
        "total_distance": quantity("total variation from the start to the end of this run"),
        "expected_gradient": quantity(
            "expected update at the maximum likelihood estimate",
            "method gibbs_steps draw parameter",
        ),
        "bias": quantity(
            "fixed point of contrastive divergence minus the maximum likelihood estimate",
            "gibbs_steps draw parameter",
        ),
    }
    axes = {
        "method": axis_of("where the chains start at each step"),
        "gibbs_steps": axis_of("sweeps per step"),
        "run": axis_of("run"),
        "parameter": axis_of("weight or field"),
        "epoch": axis_of("epoch"),
        "step": axis_of("step"),
        "draw": axis_of("data set"),
    }

    rows: int = knob(3, "of the lattice", at_least=2, at_most=3)
    columns: int = knob(3, "of the lattice", at_least=2, at_most=4)
    strength: float = knob(0.5, "standard deviation of weights and fields", at_least=0, at_most=2)
    cases: int = knob(200, "N", at_least=20, at_most=100_000)
    batch: int = knob(20, "B, cases of a minibatch", at_least=1, at_most=100_000)
    epochs: int = knob(60, "passes over the data", at_least=2, at_most=100_000)
    samples: int = knob(20, "S, chains side by side", at_least=1, at_most=10_000)
    gibbs_steps: list[int] = knob([1, 5], "sweeps per step", at_least=1, at_most=100, distinct=True)
    repetitions: int = knob(30, "runs on the first data set", at_least=2, at_most=1000)
    draws: int = knob(5, "data sets with exact updates", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        data = self._data(rng)
        start = rng.normal(0, 0.1, (self.repetitions, data.phi.shape[1]))
        courses = [
            [self._course(data, start, name, k, rng) for k in self.gibbs_steps] for name in METHODS
        ]
        first = courses[0][0]
        ends = probabilities(np.array([start[0], first.path[-1, 0]]), data.phi)
        maximum = newton(data.share[None], data.phi.T)[0]
        found = np.array([[c.path for c in row] for row in courses])
        sets = [data, *(self._data(rng) for _ in range(self.draws - 1))]
        exact = [self._exact(one) for one in sets]
        return outcome(
            {
                "method": METHODS,
                "gibbs_steps": self.gibbs_steps,
                "run": self.repetitions,
                "parameter": len(maximum),
                "epoch": _kept(self.epochs),
                "step": len(first.moved),
                "draw": self.draws,
            },
            maximum=("parameter", maximum),
            estimate=("method gibbs_steps run parameter", found[:, :, -1]),
            rms_distance=(
                "method gibbs_steps epoch",
                np.sqrt(((found - maximum) ** 2).mean((-1, -2))),
            ),
            course=(
                "method gibbs_steps epoch",
                [[c.level.mean(0) for c in row] for row in courses],
            ),
            step_distance=("step", first.moved),
            total_distance=float(np.abs(ends[1] - ends[0]).sum() / 2),
            expected_gradient=(
                "method gibbs_steps draw parameter",
                np.stack([g for g, _ in exact], axis=2),
            ),
            bias=("gibbs_steps draw parameter", np.stack([b for _, b in exact], axis=1)),
        )

    def _data(self, rng: Generator) -> Data:
        links, N = grid(self.rows, self.columns), self.rows * self.columns
        y = all_states(N)
        phi = features(y, links)
        p = probabilities(rng.normal(0, self.strength, (1, phi.shape[1])), phi)[0]
        drawn = rng.choice(len(y), self.cases, p=p / p.sum())
        share = np.bincount(drawn, minlength=len(y)) / self.cases
        return Data(y[drawn], share, phi, links)

    def _exact(self, data: Data) -> tuple[Floats, Floats]:
        """Expected updates at the maximum, and the bias of contrastive divergence."""
        shape = [2] * data.cases.shape[1]
        best = newton(data.share[None], data.phi.T)[0]

        def update(theta: Floats, start: Floats, steps: int) -> Floats:
            q = probabilities(theta, data.phi).reshape(shape)
            p = start.reshape(shape)
            for _ in range(steps):
                p = swept(p, q)
            return np.asarray((data.share - p.ravel()) @ data.phi)

        starts = probabilities(best, data.phi), data.share
        expected = [[update(best, start, k) for k in self.gibbs_steps] for start in starts]
        ends = [
            root(update, best, args=(data.share, k), options={"xtol": 1e-11}).x
            for k in self.gibbs_steps
        ]
        return np.array(expected), np.array(ends) - best

    def _course(self, data: Data, start: Floats, method: str, steps: int, rng: Generator) -> Course:
        theta, phi = start.copy(), features(data.cases, data.links)
        y = rng.choice(np.array([-1.0, 1.0]), (len(start), self.samples, data.cases.shape[1]))
        p = probabilities(theta[0], data.phi)
        paths, levels, moved = [], [], []
        for epoch in range(1, self.epochs + 1):
            order = rng.permuted(np.tile(np.arange(self.cases), (len(start), 1)), axis=1)
            for at in range(0, self.cases, self.batch):
                if method == "contrastive":
                    y = data.cases[rng.integers(self.cases, size=y.shape[:2])]
                for _ in range(steps):
                    gibbs_sweep(y, theta, data.links, rng)
                wanted = phi[order[:, at : at + self.batch]].mean(1)
                g = wanted - features(y, data.links).mean(1)  # lines 7 to 10
                theta = theta + 1 / epoch * g  # line 11, its sign corrected
                before, p = p, probabilities(theta[0], data.phi)
                if epoch > 1:
                    moved.append(np.abs(p - before).sum() / 2)
            if epoch in _kept(self.epochs):
                paths.append(theta)
                levels.append(log_likelihood(theta, data.phi, data.share))
        return Course(np.array(paths), np.array(levels).T, np.array(moved))


def _kept(epochs: int) -> Ints:
    """Epochs from the first to the last, evenly on a logarithmic scale, each once."""
    return np.unique(np.rint(np.geomspace(1, epochs, KEPT)).astype(np.int64))
