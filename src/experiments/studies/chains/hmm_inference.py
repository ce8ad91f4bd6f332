"""Inference in hidden Markov models against the sum over all paths (PRML 13.2, MLAPP 17.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.chains import hmm
from models.chains import hmm_enumeration as by_paths
from models.chains.baum_welch import CategoricalHMM
from models.chains.casino import casino
from models.chains.hmm_examples import Chains, one_sequence_each, random_models
from models.chains.hmm_recursions import backward_unscaled, forward_unscaled, log, viterbi_values
from models.chains.operation_counts import recursion_costs
from models.types import Floats, Ints

ASKED = ("marginals", "path")
ENUMERATED = 300  # sequences of a run for which the marginals of all paths are summed


@dataclass
class HmmInference(Study):
    """Marginals by messages along the chain (13.2.2), and the most probable path (13.2.5)."""

    headline = {
        "error_rate_filtered": "error_rate['filtered']",
        "error_rate_smoothed": "error_rate['smoothed']",
        "error_rate_path": "error_rate['path']",
    }

    ask: list[str] = knob(["marginals"], "what to infer", choices=ASKED, distinct=True)
    model: str = knob("random", "whose parameters", choices=("random", "casino"))
    states: int = knob(3, "states K of a random model", at_least=2, at_most=8)
    symbols: int = knob(4, "symbols of a random model", at_least=2, at_most=50)
    forbidden: int = knob(0, "random states that cannot lead to their successor", at_least=0)
    length: int = knob(6, "steps N of a sequence", at_least=2, at_most=16)
    sequences: int = knob(300, "sequences, each from its own model", at_least=1, at_most=20_000)
    long: int = knob(2000, "steps of one long path", at_least=10, at_most=100_000)

    def problems(self) -> Iterator[str]:
        K, T, most = self._shape[0], self.length, by_paths.MOST_PATHS
        if most < K**T:
            yield f"study.states={K}, study.length={T}: {K}^{T} paths; allowed: up to {most}"
        if self.forbidden >= K:
            yield f"study.forbidden={self.forbidden}; allowed: below study.states={K}"

    @property
    def _shape(self) -> tuple[int, int]:
        return (2, 6) if self.model == "casino" else (self.states, self.symbols)

    def run(self, rng: Generator) -> Outcome:
        chains = self._chains(self.length, self.sequences, rng)
        pi, A, log_lik = chains.pi, chains.A, np.log(chains.lik)
        posterior, best = hmm.smoother(pi, A, log_lik), hmm.viterbi(pi, A, log_lik)
        told = {
            "prior": hmm.forward_filter(pi, A, np.zeros(log_lik.shape)).filtered.argmax(axis=-1),
            "filtered": posterior.forward.filtered.argmax(axis=-1),
            "smoothed": posterior.smoothed.argmax(axis=-1),
            "path": best.states,
        }
        wrong = [np.mean(states != chains.states) for states in told.values()]
        found: dict[str, Any] = {"error_rate": axis("estimate", list(told)).of(wrong)}
        if "marginals" in self.ask:
            found |= _marginals(pi[:ENUMERATED], A[:ENUMERATED], chains.lik[:ENUMERATED])
        if "path" in self.ask:
            found |= _paths(chains, best, told["smoothed"])
            pi, A, lik, _ = self._chains(self.long, 1, rng)
            found["long_log_joint"] = hmm.viterbi(pi, A, np.log(lik)).log_joint[0]
        states, length = axis("states", np.arange(2, 9)), axis("length", np.arange(1, 13))
        K, T = states.values[:, None], length.values
        forward = recursion_costs(forward_unscaled, "products", states.values, T)
        viterbi = recursion_costs(viterbi_values, "sums", states.values, T)
        return Outcome(
            forward_products=over(forward, states, length),
            viterbi_sums=over(viterbi, states, length),
            path_products=over((2 * T - 1) * K**T, states, length),  # of one path, times the paths
            **found,
        )

    def _chains(self, T: int, sequences: int, rng: Generator) -> Chains:
        if self.model == "casino":
            copies = (np.broadcast_to(part, (sequences, *part.shape)) for part in casino())
            models = CategoricalHMM(*copies)
        else:
            models = random_models(*self._shape, sequences, rng, self.forbidden)
        return one_sequence_each(models, T, rng)


def _marginals(pi: Floats, A: Floats, lik: Floats) -> dict[str, Any]:
    """The largest gaps between messages and all paths; the sequence where looking back tells most.

    Likelihoods are compared as ratios to one, probabilities as they are.
    """
    T, K = lik.shape[1:]
    posterior, paths = hmm.smoother(pi, A, np.log(lik)), by_paths.enumerate_paths(pi, A, lik)
    filtered, smoothed = posterior.forward.filtered, posterior.smoothed
    exact = by_paths.filtered_marginals(pi, A, lik), by_paths.state_marginals(paths, K)
    # (13.41): the same number at every step, from the messages as they are first written
    by_step = np.sum(forward_unscaled(pi, A, lik) * backward_unscaled(A, lik), axis=-1)
    two = hmm.two_filter_smoother(pi[:, None], A[:, None], np.log(lik)[:, None])[:, 0]
    # With equal rows the chain forgets: the posterior is that of a mixture, point by point.
    rows, joint = np.broadcast_to(pi[:, None, :], A.shape), pi[:, None, :] * lik
    forgetful = hmm.smoother(pi, rows, np.log(lik)).smoothed
    columns = np.swapaxes(A, -1, -2)  # Ghahramani's A_ij = p(s_t = i | s_{t-1} = j)
    alpha = pi * lik[:, 0]
    for t in range(1, T):
        alpha = lik[:, t] * (columns @ alpha[..., None])[..., 0]
    pairs = hmm.pairwise_marginals(A, posterior), by_paths.pair_marginals(paths, K)
    gaps = {
        "evidence": np.exp(posterior.forward.log_evidence) / paths.evidence - 1.0,
        "evidence_by_step": by_step / by_step[:, -1:] - 1.0,
        "filtered": filtered - exact[0],
        "smoothed": smoothed - exact[1],
        "pairs": pairs[0] - pairs[1],
        "two_filters": two - exact[1],
        "mixture": forgetful - joint / joint.sum(axis=-1, keepdims=True),  # 9.13
        "columns": alpha.sum(axis=-1) / paths.evidence - 1.0,
        "column_sums": columns.sum(axis=-2) - 1.0,
    }
    show = int(np.argmax(np.abs(smoothed - filtered).max(axis=(1, 2))))
    belief, way = axis("belief", ["filtered", "smoothed"]), axis("way", ["messages", "all_paths"])
    step = axis("step", np.arange(1, T + 1))
    shown = [[filtered, exact[0]], [smoothed, exact[1]]]
    return {
        "gap": axis("of", list(gaps)).of([np.abs(gap).max() for gap in gaps.values()]),
        "last_state": over(np.array(shown)[:, :, show, :, -1], belief, way, step),
        "last_state_two_filters": step.of(two[show, :, -1]),
    }


def _paths(chains: Chains, best: hmm.Path, modes: Ints) -> dict[str, Any]:
    """Joint probabilities of the paths chosen, and of the best of all; one sequence to show."""
    T, K = chains.lik.shape[1:]
    paths = by_paths.enumerate_paths(chains.pi, chains.A, chains.lik)
    choices = {"path": best.states, "states": modes, "printed": _viterbi_as_printed(chains)}
    places = [by_paths.path_index(states, K)[:, None] for states in choices.values()]
    joint = [np.take_along_axis(paths.joint, place, axis=-1)[:, 0] for place in places]
    choice, sequence = axis("choice", [*choices, "best"]), axis("sequence", len(modes))
    step, state = axis("step", np.arange(1, T + 1)), axis("state", np.arange(1, K + 1))
    show = int(np.argmax(joint[1] == 0))  # the first impossible sequence of states, or the first
    shown = chains.A[show][modes[show, :-1], modes[show, 1:]]
    return {
        "joint": over(np.stack([*joint, paths.joint.max(axis=-1)]), choice, sequence),
        "log_joint": sequence.of(best.log_joint),
        "shown_marginals": over(by_paths.state_marginals(paths, K)[show], step, state),
        "shown_path": step.of(best.states[show] + 1),
        "shown_states": step.of(modes[show] + 1),
        "shown_transitions": step.of([np.nan, *shown]),  # into each step along the states
    }


def _viterbi_as_printed(chains: Chains) -> Ints:
    """PRML (13.68) to the letter: ln p(x_{n+1} | z_n) where ln p(z_{n+1} | z_n) belongs."""
    log_lik = np.log(chains.lik)
    omega = log(chains.pi) + log_lik[:, 0]  # 13.69
    path = np.empty(log_lik.shape[:2], dtype=np.int64)
    for t in range(1, log_lik.shape[1]):
        arriving = log_lik[:, t] + omega  # the same for every z_{n+1}
        path[:, t - 1] = arriving.argmax(axis=-1)
        omega = log_lik[:, t] + arriving.max(axis=-1, keepdims=True)
    path[:, -1] = omega.argmax(axis=-1)
    return path
