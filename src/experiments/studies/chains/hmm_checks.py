"""The recursions of hidden Markov models against the sum over all paths (PRML 13.2, MLAPP 17.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.studies.regression.operation_counts import recursion_costs
from models.chains import hmm, hmm_enumeration
from models.chains.casino import casino
from models.chains.hmm_recursions import backward_unscaled, forward_unscaled
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

MOST_PATHS = 2**16
ENUMERATED = 300  # sequences of a run whose paths are all weighed


class Chains(NamedTuple):
    """Models, each with a sequence of states and symbols that it made."""

    pi: Floats  # (N, K)
    A: Floats  # (N, K, K)
    lik: Floats  # (N, T, K) p(x_t | z_t = k) of the symbols seen
    states: Ints  # (N, T) the states behind them


def draw_chains(
    model: str, shape: tuple[int, int, int], sequences: int, rng: Generator, forbidden: int = 0
) -> Chains:
    """Sequences of K states, L symbols and T steps; random models come one to a sequence.

    Transitions k -> k + 1 of the first `forbidden` states are impossible.
    """
    K, L, T = shape
    if model == "casino":
        one = casino()
        pi, A, B = (np.broadcast_to(part, (sequences, *part.shape)) for part in one)
    else:
        pi, A = rng.dirichlet(np.ones(K), sequences), rng.dirichlet(np.ones(K), (sequences, K))
        B = rng.dirichlet(np.ones(L), (sequences, K))
        A[:, range(forbidden), range(1, forbidden + 1)] = 0.0
        A /= A.sum(axis=-1, keepdims=True)
    states, lik = [], []
    for n in range(sequences):
        z = hmm.sample_states(pi[n], A[n], rng.random(T))
        states.append(z)
        lik.append(B[n].T[hmm.sample_symbols(B[n], z, rng.random(T))])
    return Chains(pi, A, np.stack(lik), np.stack(states))


@dataclass
class ForwardBackward(Study):
    """Evidence and marginals by messages along the chain, and by all paths (PRML 13.2.2)."""

    model: str = knob("random", "whose parameters", choices=("random", "casino"))
    states: int = knob(3, "states K of a random model", at_least=2, at_most=8)
    symbols: int = knob(4, "symbols of a random model", at_least=2, at_most=50)
    length: int = knob(6, "steps N of a sequence", at_least=2, at_most=16)
    sequences: int = knob(300, "sequences, each from a model of its own", at_least=1, at_most=5000)

    def problems(self) -> "Iterator[str]":
        if self._states**self.length > MOST_PATHS:
            yield (
                f"study.states={self._states}, study.length={self.length}: {self._states}^"
                f"{self.length} paths are too many to enumerate; allowed: up to {MOST_PATHS}"
            )

    @property
    def _states(self) -> int:
        return 2 if self.model == "casino" else self.states

    def run(self, rng: Generator) -> Outcome:
        K, T = self._states, self.length
        every = draw_chains(self.model, (K, self.symbols, T), self.sequences, rng)
        first = slice(ENUMERATED)
        chains = Chains(every.pi[first], every.A[first], every.lik[first], every.states[first])
        pi, A, lik = chains.pi, chains.A, chains.lik
        posterior = hmm.smoother(pi, A, np.log(lik))
        paths = hmm_enumeration.enumerate_paths(pi, A, lik)
        evidence = paths.evidence
        exact = {
            "filtered": hmm_enumeration.filtered_marginals(pi, A, lik),
            "smoothed": hmm_enumeration.state_marginals(paths, K),
        }
        # (13.41): the same number at every step, from the messages as they are first written
        by_step = np.sum(forward_unscaled(pi, A, lik) * backward_unscaled(A, lik), axis=-1)
        two = hmm.two_filter_smoother(pi[:, None], A[:, None], np.log(lik)[:, None])[:, 0]
        pairs = hmm.pairwise_marginals(A, posterior)
        metrics: dict[str, Scalar] = {
            "paths": K**T,
            "evidence_error": largest_difference(
                np.exp(posterior.forward.log_evidence) / evidence, 1.0
            ),
            "evidence_spread": largest_difference(by_step / by_step[:, -1:], 1.0),
            "filtered_error": largest_difference(posterior.forward.filtered, exact["filtered"]),
            "smoothed_error": largest_difference(posterior.smoothed, exact["smoothed"]),
            "pairwise_error": largest_difference(pairs, hmm_enumeration.pair_marginals(paths, K)),
            "two_filter_error": largest_difference(two, exact["smoothed"]),
            "mixture_error": self._mixture_error(chains),
            "column_error": largest_difference(_evidence_by_columns(chains) / evidence, 1.0),
            "column_sum_error": largest_difference(np.swapaxes(A, -1, -2).sum(axis=-2), 1.0),
        }
        metrics |= self._errors(every)
        # The figure shows where looking back changes most.
        change = np.abs(posterior.smoothed - posterior.forward.filtered).max(axis=(1, 2))
        show = int(np.argmax(change))
        costs, statements = recursion_costs(forward_unscaled, "products")
        return Outcome(
            metrics | statements,
            tables={"cost": costs},
            arrays={
                "smoothed": posterior.smoothed[show],
                "smoothed_enumerated": exact["smoothed"][show],
                "filtered": posterior.forward.filtered[show],
                "filtered_enumerated": exact["filtered"][show],
                "two_filter": two[show],
            },
        )

    def _mixture_error(self, chains: Chains) -> float:
        """With equal rows the chain forgets: the posterior is that of a mixture, point by point."""
        rows = np.broadcast_to(chains.pi[:, None, :], chains.A.shape)
        chained = hmm.smoother(chains.pi, rows, np.log(chains.lik)).smoothed
        joint = chains.pi[:, None, :] * chains.lik
        return largest_difference(chained, joint / joint.sum(axis=-1, keepdims=True))  # 9.13

    def _errors(self, chains: Chains) -> dict[str, Scalar]:
        """How often the most probable state is wrong: given no data, the data so far, all data."""
        posterior = hmm.smoother(chains.pi, chains.A, np.log(chains.lik))
        nothing = hmm.forward_filter(chains.pi, chains.A, np.zeros(chains.lik.shape)).filtered
        beliefs = {
            "prior": nothing,
            "filtered": posterior.forward.filtered,
            "smoothed": posterior.smoothed,
        }
        rate = {
            name: float(np.mean(p.argmax(axis=-1) != chains.states)) for name, p in beliefs.items()
        }
        return {
            **{f"error_rate_{name}": value for name, value in rate.items()},
            "smoothing_beats_filtering": rate["smoothed"] < rate["filtered"],
            "filtering_beats_prior": rate["filtered"] < rate["prior"],
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, (left, right) = panels(1, 2)
        arrays, cost = outcome.arrays, outcome.tables["cost"]
        step = np.arange(1, self.length + 1)
        for i, (name, mark) in enumerate((("filtered", "s"), ("smoothed", "o"))):
            left.plot(step, arrays[name][:, -1], color=f"C{i}", label=f"{name}, recursion")
            exact = arrays[f"{name}_enumerated"][:, -1]
            left.plot(
                step, exact, mark, color=f"C{i}", fillstyle="none", label=f"{name}, all paths"
            )
        left.plot(step, arrays["two_filter"][:, -1], "x", color="black", label="two filters")
        left.set(xlabel="Step", ylabel="p(last state | data)", ylim=(-0.02, 1.02), xticks=step)
        left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8)
        right.plot(cost["length"], cost["all_paths"], "--", color="C3", label="all paths")
        right.plot(cost["length"], cost["recursion"], color="C2", label="recursion")
        right.set(xlabel="Length of the chain", ylabel="Products", yscale="log")
        right.set_title(f"Cost for {cost['states'][0]} states")
        right.legend()
        return {"messages": figure}


def largest_difference(a: Floats, b: Floats | float) -> float:
    return float(np.abs(a - b).max())


def _evidence_by_columns(chains: Chains) -> Floats:
    """p(x) with Ghahramani's A_ij = p(s_t = i | s_{t-1} = j), whose columns sum to one."""
    A = np.swapaxes(chains.A, -1, -2)
    alpha = chains.pi * chains.lik[:, 0]
    for t in range(1, chains.lik.shape[1]):
        alpha = chains.lik[:, t] * (A @ alpha[..., None])[..., 0]
    return np.asarray(alpha.sum(axis=-1))
