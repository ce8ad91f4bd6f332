"""The most probable path of a hidden Markov model, and the most probable states (PRML 13.2.5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.studies.chains.hmm_checks import (
    MOST_PATHS,
    Chains,
    draw_chains,
    largest_difference,
)
from experiments.studies.regression.operation_counts import recursion_costs
from models.chains import hmm, hmm_enumeration
from models.chains.hmm_recursions import log
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


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
            "log_joint_error": largest_difference(best.log_joint, np.log(top)),
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
            "printed_value_error": largest_difference(value, np.log(top)),
            "omega_is_joint": bool(np.allclose(best.log_joint, top, rtol=1e-9)),
        }
        _, statements = recursion_costs(_viterbi_values, "sums")
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
        from experiments.drawing.canvas import panels

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
        states = arrays["modes"]
        impossible = np.flatnonzero(arrays["A"][states[:-1], states[1:]] == 0)
        ax.plot(
            step[impossible] + 0.5, (states[impossible] + states[impossible + 1]) / 2 + 0.98,
            "X", color="black", markersize=11, linestyle="none", label="impossible step",
        )  # fmt: skip
        ax.grid(visible=False)
        ax.set(xlabel="Step", ylabel="State", xticks=step, yticks=np.arange(1, self.states + 1))
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        return {"path": figure}


def _viterbi_as_printed(chains: Chains) -> tuple[Ints, Floats]:
    """PRML (13.68) to the letter: ln p(x_{n+1} | z_n) where ln p(z_{n+1} | z_n) belongs."""
    log_lik = np.log(chains.lik)
    N, T, _ = log_lik.shape
    omega = log(chains.pi) + log_lik[:, 0]  # 13.69
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
    return np.asarray(omega)
