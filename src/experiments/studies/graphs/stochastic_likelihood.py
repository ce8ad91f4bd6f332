"""Maximum likelihood with sampled expectations (MLAPP 19.5.5, Algorithm 19.1)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.boltzmann import all_states, features, log_likelihood, probabilities
from bythebook.models.graphs.field_estimates import gibbs_sweep
from bythebook.models.graphs.pairwise import grid
from bythebook.models.graphs.proportional_fitting import newton
from bythebook.models.types import Floats, Ints

WAYS = ("persistent", "contrastive")
KEPT = 20  # epochs at which the likelihood is kept
EXACT = 20_000  # states drawn exactly and moved on by one sweep


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
    """Stochastic maximum likelihood on one data set, with steps of 1 / epoch (MLAPP 19.5.5).

    Runs start from random weights and use minibatches. Chains continue from step to step, or start
    at cases of the data at each step (contrastive divergence). One variant uses the step as
    printed, which decreases the likelihood. A step of Gibbs sampling is a sweep over all spins.
    """

    headline = {"error": "max(abs(mean(estimate['persistent'], over='run') - maximum))"}
    more_quantities = True
    quantities = {
        "estimate": quantity("parameters at the end of a run", "way gibbs_steps run parameter"),
        "maximum": quantity("parameters of the largest likelihood", "parameter"),
    }

    rows: int = knob(3, "of the lattice", at_least=2, at_most=3)
    columns: int = knob(3, "of the lattice", at_least=2, at_most=4)
    strength: float = knob(0.5, "standard deviation of weights and fields", at_least=0, at_most=2)
    cases: int = knob(200, "N", at_least=20, at_most=100_000)
    batch: int = knob(20, "B, cases of a minibatch", at_least=1, at_most=100_000)
    epochs: int = knob(60, "passes over the data", at_least=2, at_most=100_000)
    samples: int = knob(20, "S, chains side by side", at_least=1, at_most=10_000)
    gibbs_steps: list[int] = knob([1, 5], "sweeps per step", at_least=1, at_most=100, distinct=True)
    runs: int = knob(30, "repetitions on the same data", at_least=2, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        data = self._data(rng)
        start = rng.normal(0, 0.1, (self.runs, data.phi.shape[1]))
        courses = [
            [self._course(data, start, way, k, rng) for k in self.gibbs_steps] for way in WAYS
        ]
        way, steps = axis("way", WAYS), axis("gibbs_steps", self.gibbs_steps)
        one, parameter = axis("run", self.runs), axis("parameter", start.shape[1])
        kept = axis("epoch", _kept(self.epochs))
        first = courses[0][0]
        ends = probabilities(np.array([start[0], first.path[-1, 0]]), data.phi)
        path = np.array([[c.level for c in row] for row in courses])
        printed = self._course(data, start, "persistent", self.gibbs_steps[0], rng, sign=-1.0)
        maximum = newton(data.share[None], data.phi.T)[0]
        found = np.array([[c.path for c in row] for row in courses])
        distance = np.sqrt(((found - maximum) ** 2).mean((-1, -2)))
        return Outcome(
            maximum=parameter.of(maximum),
            estimate=over(found[:, :, -1], way, steps, one, parameter),
            distance=over(distance, way, steps, kept),
            start_log_likelihood=one.of(log_likelihood(start, data.phi, data.share)),
            log_likelihood=over(path[..., -1], way, steps, one),
            printed_log_likelihood=one.of(printed.level[:, -1]),
            course=over(path.mean(2), way, steps, kept),
            step_distance=axis("step", len(first.moved)).of(first.moved),
            whole_distance=float(np.abs(ends[1] - ends[0]).sum() / 2),
            sweep_deviation=parameter.of(_sweep_deviation(maximum, data, rng)),
        )

    def _data(self, rng: Generator) -> Data:
        links, N = grid(self.rows, self.columns), self.rows * self.columns
        y = all_states(N)
        phi = features(y, links)
        p = probabilities(rng.normal(0, self.strength, (1, phi.shape[1])), phi)[0]
        drawn = rng.choice(len(y), self.cases, p=p / p.sum())
        share = np.bincount(drawn, minlength=len(y)) / self.cases
        return Data(y[drawn], share, phi, links)

    def _course(
        self, data: Data, start: Floats, way: str, steps: int, rng: Generator, sign: float = 1.0
    ) -> Course:
        theta, phi = start.copy(), features(data.cases, data.links)
        y = rng.choice(np.array([-1.0, 1.0]), (self.runs, self.samples, data.cases.shape[1]))
        p = probabilities(theta[0], data.phi)
        paths, levels, moved = [], [], []
        for epoch in range(1, self.epochs + 1):
            order = rng.permuted(np.tile(np.arange(self.cases), (self.runs, 1)), axis=1)
            for at in range(0, self.cases, self.batch):
                if way == "contrastive":
                    y = data.cases[rng.integers(self.cases, size=y.shape[:2])]
                for _ in range(steps):
                    gibbs_sweep(y, theta, data.links, rng)
                wanted = phi[order[:, at : at + self.batch]].mean(1)
                g = wanted - features(y, data.links).mean(1)  # lines 7 to 10
                theta = theta + sign / epoch * g  # line 11, whose printed sign is minus
                before, p = p, probabilities(theta[0], data.phi)
                if epoch > 1:
                    moved.append(np.abs(p - before).sum() / 2)
            if epoch in _kept(self.epochs):
                paths.append(theta)
                levels.append(log_likelihood(theta, data.phi, data.share))
        return Course(np.array(paths), np.array(levels).T, np.array(moved))


def _sweep_deviation(theta: Floats, data: Data, rng: Generator) -> Floats:
    """Mean features after a sweep from exact draws minus exact means, in standard errors."""
    p = softmax(data.phi @ theta)
    y = all_states(data.cases.shape[1])[rng.choice(len(p), EXACT, p=p)]
    gibbs_sweep(y, theta, data.links, rng)
    mean = p @ data.phi
    return np.asarray((features(y, data.links).mean(0) - mean) / np.sqrt((1 - mean**2) / EXACT))


def _kept(epochs: int) -> Ints:
    """Epochs from the first to the last, evenly on a logarithmic scale, each once."""
    return np.unique(np.rint(np.geomspace(1, epochs, KEPT)).astype(np.int64))
