"""The recursions of hidden Markov models against the sum over all paths (PRML 13.2, MLAPP 17.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.outcome import Scalar
from experiments.studies.operation_counts import count_operations, degree
from experiments.study import Outcome, Study, knob
from models import hmm, hmm_enumeration
from models.casino import casino
from models.hmm_recursions import backward_unscaled, forward_unscaled
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

MOST_PATHS = 2**16


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
        chains = draw_chains(self.model, (K, self.symbols, T), self.sequences, rng)
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
            "evidence_error": _off(np.exp(posterior.forward.log_evidence) / evidence, 1.0),
            "evidence_spread": _off(by_step / by_step[:, -1:], 1.0),
            "filtered_error": _off(posterior.forward.filtered, exact["filtered"]),
            "smoothed_error": _off(posterior.smoothed, exact["smoothed"]),
            "pairwise_error": _off(pairs, hmm_enumeration.pair_marginals(paths, K)),
            "two_filter_error": _off(two, exact["smoothed"]),
            "mixture_error": self._mixture_error(chains),
            "column_error": _off(_evidence_by_columns(chains) / evidence, 1.0),
            "column_sum_error": _off(np.swapaxes(A, -1, -2).sum(axis=-2), 1.0),
        }
        metrics |= self._errors(chains, posterior)
        costs, statements = _costs(forward_unscaled, "products")
        return Outcome(
            metrics | statements,
            tables={"cost": costs},
            arrays={
                "smoothed": posterior.smoothed[0],
                "smoothed_enumerated": exact["smoothed"][0],
                "filtered": posterior.forward.filtered[0],
                "filtered_enumerated": exact["filtered"][0],
                "states": chains.states[0],
            },
        )

    def _mixture_error(self, chains: Chains) -> float:
        """With equal rows the chain forgets: the posterior is that of a mixture, point by point."""
        rows = np.broadcast_to(chains.pi[:, None, :], chains.A.shape)
        chained = hmm.smoother(chains.pi, rows, np.log(chains.lik)).smoothed
        joint = chains.pi[:, None, :] * chains.lik
        return _off(chained, joint / joint.sum(axis=-1, keepdims=True))  # 9.13

    def _errors(self, chains: Chains, posterior: hmm.Smoothed) -> dict[str, Scalar]:
        """How often the most probable state is wrong: given no data, the data so far, all data."""
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
        from experiments.plotting import panels

        figure, (left, right) = panels(1, 2)
        arrays, cost = outcome.arrays, outcome.tables["cost"]
        step = np.arange(1, self.length + 1)
        for i, (name, mark) in enumerate((("filtered", "s"), ("smoothed", "o"))):
            left.plot(step, arrays[name][:, 0], color=f"C{i}", label=f"{name}, recursion")
            left.plot(
                step, arrays[f"{name}_enumerated"][:, 0], mark, color=f"C{i}", fillstyle="none",
                label=f"{name}, all paths",
            )  # fmt: skip
        left.set(xlabel="Step", ylabel="p(first state | data)", ylim=(-0.02, 1.02), xticks=step)
        left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8)
        right.plot(cost["length"], cost["all_paths"], "--", color="C3", label="all paths")
        right.plot(cost["length"], cost["recursion"], color="C2", label="recursion")
        right.set(xlabel="Length of the chain", ylabel="Products", yscale="log")
        right.set_title(f"Cost for {cost['states'][0]} states")
        right.legend()
        return {"messages": figure}


@dataclass
class MostProbablePath(Study):
    """The most probable path against the individually most probable states (PRML 13.2.5)."""

    states: int = knob(3, "states K", at_least=2, at_most=8)
    symbols: int = knob(4, "symbols", at_least=2, at_most=50)
    length: int = knob(4, "steps N of a sequence", at_least=2, at_most=16)
    forbidden: int = knob(1, "states that cannot lead to their successor", at_least=0)
    sequences: int = knob(2000, "sequences, each from its own model", at_least=1, at_most=20_000)
    long: int = knob(2000, "steps of one long sequence", at_least=10, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        if self.states**self.length > MOST_PATHS:
            yield f"study.length={self.length}: more than {MOST_PATHS} paths; take fewer steps"
        if self.forbidden >= self.states:
            yield f"study.forbidden={self.forbidden}; allowed: below study.states={self.states}"

    def run(self, rng: Generator) -> Outcome:
        K, T = self.states, self.length
        chains = draw_chains("random", (K, self.symbols, T), self.sequences, rng, self.forbidden)
        pi, A, log_lik = chains.pi, chains.A, np.log(chains.lik)
        best = hmm.viterbi(pi, A, log_lik)
        modes = hmm.smoother(pi, A, log_lik).smoothed.argmax(axis=-1)
        paths = hmm_enumeration.enumerate_paths(pi, A, chains.lik)
        top = paths.joint.max(axis=-1)
        printed, value = _viterbi_as_printed(chains)

        def joint(states: Ints) -> Floats:
            where = hmm_enumeration.path_index(states, K)[:, None]
            return np.take_along_axis(paths.joint, where, axis=-1)[:, 0]

        long = draw_chains("random", (K, self.symbols, self.long), 1, rng, self.forbidden)
        ends = hmm.viterbi(long.pi, long.A, np.log(long.lik))
        impossible = joint(modes) == 0
        errors = {"modes": modes != chains.states, "path": best.states != chains.states}
        rate = {name: float(np.mean(wrong)) for name, wrong in errors.items()}
        metrics: dict[str, Scalar] = {
            "path_shortfall": float((1 - joint(best.states) / top).max()),
            "log_joint_error": _off(best.log_joint, np.log(top)),
            "share_modes_differ": float(np.mean(joint(modes) < top * (1 - 1e-12))),
            "share_modes_impossible": float(np.mean(impossible)),
            "modes_can_differ": bool(np.any(joint(modes) < top * (1 - 1e-12))),
            "modes_can_be_impossible": bool(impossible.any()),
            "error_rate_modes": rate["modes"],
            "error_rate_path": rate["path"],
            "modes_err_no_more": rate["modes"] <= rate["path"],
            "long_log_joint": float(ends.log_joint[0]),
            "long_path_needs_no_scaling": bool(
                np.isfinite(ends.log_joint[0]) and np.exp(ends.log_joint[0]) == 0
            ),
            "printed_finds_best_path": bool(np.all(joint(printed) >= top * (1 - 1e-12))),
            "share_printed_finds_best_path": float(np.mean(joint(printed) >= top * (1 - 1e-12))),
            "printed_value_error": _off(value, np.log(top)),
            "omega_is_joint": bool(np.allclose(best.log_joint, top, rtol=1e-9)),
        }
        _, statements = _costs(_viterbi_values, "sums")
        metrics["cost_linear_in_length"] = statements["cost_linear_in_length"]
        show = int(np.argmax(impossible))  # the first such, or the first of all
        return Outcome(
            metrics,
            arrays={
                "marginals": hmm_enumeration.state_marginals(paths, K)[show],
                "path": best.states[show],
                "modes": modes[show],
                "A": A[show],
            },
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.plotting import panels

        arrays, step = outcome.arrays, np.arange(1, self.length + 1)
        figure, ax = panels()
        image = ax.imshow(
            arrays["marginals"].T, aspect="auto", cmap="Greys", vmin=0, vmax=1.4, origin="lower",
            extent=(0.5, self.length + 0.5, 0.5, self.states + 0.5),
        )  # fmt: skip
        for t, row in enumerate(arrays["marginals"]):
            for k, p in enumerate(row):
                ax.text(t + 1, k + 0.75, f"{p:.2f}", ha="center", va="center", fontsize=9)
        image.set_rasterized(True)
        ax.plot(step, arrays["path"] + 1.06, "-o", color="C0", label="most probable path")
        ax.plot(step, arrays["modes"] + 0.98, "--D", color="C1", label="most probable states")
        ax.grid(visible=False)
        ax.set(xlabel="Step", ylabel="State", xticks=step, yticks=np.arange(1, self.states + 1))
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        return {"path": figure}


def _off(a: Floats, b: Floats | float) -> float:
    return float(np.abs(a - b).max())


def _evidence_by_columns(chains: Chains) -> Floats:
    """p(x) with Ghahramani's A_ij = p(s_t = i | s_{t-1} = j), whose columns sum to one."""
    A = np.swapaxes(chains.A, -1, -2)
    alpha = chains.pi * chains.lik[:, 0]
    for t in range(1, chains.lik.shape[1]):
        alpha = chains.lik[:, t] * (A @ alpha[..., None])[..., 0]
    return np.asarray(alpha.sum(axis=-1))


def _viterbi_as_printed(chains: Chains) -> tuple[Ints, Floats]:
    """PRML (13.68) to the letter: ln p(x_{n+1} | z_n) where ln p(z_{n+1} | z_n) belongs."""
    log_lik = np.log(chains.lik)
    N, T, _ = log_lik.shape
    omega = hmm.log(chains.pi) + log_lik[:, 0]  # 13.69
    path, origin = np.empty((N, T), dtype=np.int64), np.empty((N, T), dtype=np.int64)
    for t in range(1, T):
        arriving = log_lik[:, t] + omega  # the same for every z_{n+1}
        origin[:, t] = arriving.argmax(axis=-1)
        omega = log_lik[:, t] + arriving.max(axis=-1, keepdims=True)
    path[:, -1] = omega.argmax(axis=-1)
    path[:, :-1] = origin[:, 1:]
    return path, omega.max(axis=-1)


def _viterbi_values(log_pi: Floats, log_A: Floats, log_lik: Floats) -> Floats:
    """The values of (13.68), corrected, in operations that can be counted."""
    omega = log_pi + log_lik[0]
    for row in log_lik[1:]:
        omega = row + (omega[:, None] + log_A).max(axis=0)
    return omega


def _costs(function: "Callable[..., Floats]", kind: str) -> "tuple[dict[str, list[int]], dict[str, Scalar]]":
    """Operations of a recursion, by length and by states, and the degree of their growth."""

    def cost(K: int, T: int) -> int:
        return count_operations(function, np.ones(K), np.ones((K, K)), np.ones((T, K)))[kind]

    lengths, states, K = list(range(1, 13)), list(range(2, 9)), 3
    by_length = [cost(K, T) for T in lengths]
    table = {
        "length": lengths,
        "states": [K] * len(lengths),
        "recursion": by_length,
        "all_paths": [(2 * T - 1) * K**T for T in lengths],  # products of one path, times paths
    }
    return table, {
        "cost_linear_in_length": degree(by_length) == 1,
        "cost_quadratic_in_states": degree([cost(K, 4) for K in states]) == 2,
        "cost_of_paths_is_exponential": degree(table["all_paths"]) is None,
    }
