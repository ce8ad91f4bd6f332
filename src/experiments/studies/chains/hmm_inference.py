"""Inference in hidden Markov models against the sum over all paths (PRML 13.2, MLAPP 17.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import casino, hmm, hmm_examples, hmm_recursions
from bythebook.models.chains import hmm_enumeration as by_paths
from bythebook.models.chains.baum_welch import CategoricalHMM
from bythebook.models.chains.hmm_checks import message_gaps, printed_gaps, scaled_gaps, survival
from bythebook.models.operation_counts import recursion_costs
from bythebook.models.types import Floats, Ints

TASKS = ("marginals", "path", "scaling")
ENUMERATED = 300  # sequences of a run for which the marginals of all paths are summed
PREFIXES = 5  # long sequences whose first steps are summed over all paths
STATES, LENGTHS = np.arange(2, 9), np.arange(1, 13)  # of chains whose costs are counted
SHORT = np.arange(2, 5)  # steps of those whose paths are summed one by one


@dataclass
class HmmInference(Study):
    """Marginals by messages (13.2.2), also of long chains (13.2.4); the best path (13.2.5)."""

    headline = {
        "error_rate_filtered": "error_rate['filtered']",
        "error_rate_smoothed": "error_rate['smoothed']",
        "error_rate_path": "error_rate['path']",
        "underflow_length_dice": "median(underflow['dice'])",
    }
    more_quantities = True
    quantities = {
        "error_rate": quantity("share of the hidden states that are wrong", "estimate"),
        "underflow": quantity(
            "length at which messages underflow if they are not scaled",
            "emission sequence",
            unit="steps",
        ),
    }

    ask: list[str] = knob(["marginals"], "what to infer", choices=TASKS, distinct=True)
    model: str = knob("random", "whose parameters", choices=("random", "casino"))
    states: int = knob(3, "states K of a random model", at_least=2, at_most=8)
    symbols: int = knob(4, "symbols of a random model", at_least=2, at_most=50)
    forbidden: int = knob(0, "random states that cannot lead to their successor", at_least=0)
    dimensions: list[int] = knob(
        [], "scaling: of unit Gaussians, in addition to the casino's dice",
        at_least=1, at_most=50, distinct=True, may_be_empty=True,
    )  # fmt: skip
    length: int = knob(6, "steps N that are summed over all paths", at_least=2, at_most=16)
    sequences: int = knob(300, "sequences, of each kind", at_least=1, at_most=20_000)
    long: int = knob(2000, "steps of a long sequence", at_least=20, at_most=100_000)

    def problems(self) -> Iterator[str]:
        K, T, most = self._shape[0], self.length, by_paths.MOST_PATHS
        if "scaling" in self.ask:
            K = max(K if len(self.ask) > 1 else 2, 3 if self.dimensions else 2)
        if most < K**T:
            yield f"study.states={K}, study.length={T}: {K}^{T} paths; allowed: up to {most}"
        if self.forbidden >= self._shape[0]:
            yield f"study.forbidden={self.forbidden}; allowed: below study.states={self._shape[0]}"

    @property
    def _shape(self) -> tuple[int, int]:
        return (2, 6) if self.model == "casino" else (self.states, self.symbols)

    def run(self, rng: Generator) -> Outcome:
        found = self._scaling(rng) if "scaling" in self.ask else {}
        if self.ask == ["scaling"]:
            return Outcome(**found)
        chains = self._chains(self.length, self.sequences, rng)
        pi, A, log_lik = chains.pi, chains.A, np.log(chains.lik)
        posterior, best = hmm.decode(pi, A, log_lik)
        estimates = {
            "prior": hmm.forward_filter(pi, A, np.zeros(log_lik.shape)).filtered.argmax(axis=-1),
            "filtered": posterior.forward.filtered.argmax(axis=-1),
            "smoothed": posterior.smoothed.argmax(axis=-1),
            "path": best.states,
        }
        wrong = [np.mean(states != chains.states) for states in estimates.values()]
        found["error_rate"] = axis("estimate", list(estimates)).of(wrong)
        if "marginals" in self.ask:
            few = slice(ENUMERATED)
            found |= _marginals(pi[few], A[few], chains.lik[few], rng.spawn(1)[0])
        if "path" in self.ask:
            found |= _paths(chains, best, estimates["smoothed"])
            pi, A, lik, _ = self._chains(self.long, 1, rng)
            found["long_log_joint"] = hmm.viterbi(pi, A, np.log(lik)).log_joint[0]
        return Outcome(**found)

    def _chains(self, T: int, sequences: int, rng: Generator) -> hmm_examples.Chains:
        """Sequences, each drawn from its own model."""
        if self.model == "casino":
            copies = (np.broadcast_to(part, (sequences, *part.shape)) for part in casino.casino())
            models = CategoricalHMM(*copies)
        else:
            models = hmm_examples.random_models(*self._shape, sequences, rng, self.forbidden)
        return hmm_examples.one_sequence_each(models, T, rng)

    def _scaling(self, rng: Generator) -> dict[str, Any]:
        """Steps at which messages of long sequences underflow; scaled messages do not."""
        found: dict[str, list[Any]] = {}
        shape = self.sequences, self.long
        sequences = hmm_examples.dice_and_gaussians(self.dimensions, *shape, rng)
        for chain, log_lik in sequences.values():
            first = log_lik[:PREFIXES, : self.length]
            gaps = scaled_gaps(*chain, first)
            lived = survival(*chain, log_lik)._asdict()
            lived["log_evidence_gap"] = np.abs(lived["log_evidence_gap"]).max()
            for name, value in (lived | _largest(gaps)).items():
                found.setdefault(name, []).append(value)
        emission, model = axis("emission", list(sequences)), casino.casino()
        axes = {
            "underflow": (axis("sequence", self.sequences),),
            "first_log_evidence": (axis("long_step", np.arange(1, self.long + 1)),),
        }
        book = hmm.categorical_log_likelihood(model.B, casino.book_game().rolls)
        return {name: over(v, emission, *axes.get(name, ())) for name, v in found.items()} | {
            "book_log_evidence": hmm.forward_filter(model.pi, model.A, book).log_evidence
        }


def _largest(gaps: dict[str, Floats]) -> dict[str, float]:
    return {name: float(np.abs(gap).max()) for name, gap in gaps.items()}


def _marginals(pi: Floats, A: Floats, lik: Floats, rng: Generator) -> dict[str, Any]:
    """Gaps between messages and all paths, the sequence that smoothing changes most, costs."""
    differences, beliefs = message_gaps(pi, A, lik)
    meant, printed = map(_largest, printed_gaps(pi, A, lik, rng))
    gaps = _largest(differences) | meant
    filtered, smoothed, two = beliefs
    show = int(np.argmax(np.abs(smoothed[0] - filtered[0]).max(axis=(1, 2))))
    belief, way = axis("belief", ["filtered", "smoothed"]), axis("way", ["messages", "all_paths"])
    step = axis("step", np.arange(1, lik.shape[1] + 1))
    states, length = axis("states", STATES), axis("length", LENGTHS)
    products = recursion_costs(hmm_recursions.forward_unscaled, "products", STATES, LENGTHS)
    by_path = recursion_costs(by_paths.enumerate_paths, "products", STATES, SHORT)
    return {
        "gap": axis("of", list(gaps)).of(list(gaps.values())),
        "printed_gap": axis("formula", list(printed)).of(list(printed.values())),
        "last_state": over(np.stack([filtered, smoothed])[:, :, show, :, -1], belief, way, step),
        "last_state_two_filters": step.of(two[show, :, -1]),
        "forward_products": over(products, states, length),
        "path_products": over(by_path, states, axis("short_length", SHORT)),
    }


def _paths(chains: hmm_examples.Chains, best: hmm.Path, modes: Ints) -> dict[str, Any]:
    """Joint probabilities of the paths chosen and the best; one sequence to show; the cost."""
    T, K = chains.lik.shape[1:]
    paths = by_paths.enumerate_paths(chains.pi, chains.A, chains.lik)
    printed = hmm_recursions.viterbi_as_printed(chains.pi, np.log(chains.lik))
    choices = {"path": best.states, "states": modes, "printed": printed}
    lik = chains.lik * np.concatenate([chains.lik[:, 1:], np.ones_like(chains.lik[:, :1])], axis=1)
    lik[:, 0] *= chains.pi
    places = [by_paths.path_index(states, K)[:, None] for states in choices.values()]
    joint = [np.take_along_axis(paths.joint, place, axis=-1)[:, 0] for place in places]
    choice, sequence = axis("choice", [*choices, "best"]), axis("sequence", len(modes))
    step, state = axis("step", np.arange(1, T + 1)), axis("state", np.arange(1, K + 1))
    show = int(np.argmax(joint[1] == 0))  # the first impossible sequence of states, or the first
    shown = chains.A[show][modes[show, :-1], modes[show, 1:]]
    plain = [
        hmm_recursions.viterbi_values(*map(hmm_recursions.log, chain)).max()
        for chain in zip(chains.pi, chains.A, chains.lik, strict=True)
    ]
    sums = recursion_costs(hmm_recursions.viterbi_values, "sums", STATES, LENGTHS)
    return {
        "joint": over(np.stack([*joint, paths.joint.max(axis=-1)]), choice, sequence),
        "printed_differs": np.mean(printed != lik.argmax(axis=-1)),  # data point and the next alone
        "log_joint": sequence.of(best.log_joint),
        "plain_log_joint": sequence.of(plain),  # by the recursion whose sums are counted
        "shown_marginals": over(by_paths.state_marginals(paths, K)[show], step, state),
        "shown_path": step.of(best.states[show] + 1),
        "shown_states": step.of(modes[show] + 1),
        "shown_transitions": step.of([np.nan, *shown]),  # into each step along the states
        "viterbi_sums": over(sums, axis("states", STATES), axis("length", LENGTHS)),
    }
