"""Forward messages that leave double precision, and scaled ones that do not (PRML 13.2.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.studies.chains.hmm_checks import MOST_PATHS, largest_difference
from models.chains import hmm, hmm_enumeration
from models.chains.baum_welch import GaussianHMM
from models.chains.casino import book_game, casino, simulate
from models.chains.hmm_examples import three_regions, walk
from models.chains.hmm_recursions import forward_unscaled
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class ScaledForward(Study):
    """When forward messages leave double precision, and what scaling them saves (PRML 13.2.4)."""

    dimensions: list[int] = knob(
        [2, 5, 10], "of unit Gaussians, beside the casino's dice",
        at_least=1, at_most=50, distinct=True, may_be_empty=True,
    )  # fmt: skip
    length: int = knob(1000, "steps of a sequence", at_least=20, at_most=20_000)
    sequences: int = knob(100, "sequences of each kind", at_least=1, at_most=2000)
    enumerated: int = knob(8, "first steps that are summed over all paths", at_least=2, at_most=16)

    def problems(self) -> "Iterator[str]":
        K = 3 if self.dimensions else 2
        if K**self.enumerated > MOST_PATHS:
            yield f"study.enumerated={self.enumerated}: more than {MOST_PATHS} paths; take fewer"

    def run(self, rng: Generator) -> Outcome:
        metrics: dict[str, Scalar] = {}
        arrays: dict[str, Floats] = {}
        prefix: dict[str, list[float]] = {}
        finite, lost = True, True
        for name, (pi, A, log_lik) in self._sequences(rng).items():
            alive = forward_unscaled(pi, A, np.exp(log_lik)).any(axis=-1)
            underflow = np.where(alive.all(axis=-1), np.inf, alive.argmin(axis=-1) + 1)
            posterior = hmm.smoother(pi, A, log_lik)
            scaled = posterior.forward.log_scale.cumsum(axis=-1)
            finite &= all(np.isfinite(part).all() for part in (posterior.smoothed, scaled))
            lost &= bool(np.isfinite(underflow).all())
            in_logs = _evidence_in_logs(pi, A, log_lik)
            metrics[f"underflow_length_{name}"] = float(np.median(underflow))
            metrics[f"long_evidence_error_{name}"] = largest_difference(scaled[:, -1] / in_logs, 1)
            arrays |= {f"underflow_{name}": underflow, f"log_evidence_{name}": scaled[0]}
            for quantity, value in _prefix_errors(pi, A, log_lik[:5, : self.enumerated]).items():
                prefix.setdefault(quantity, []).append(value)
        model = casino()
        book = hmm.categorical_log_likelihood(model.B, book_game().rolls)
        log_evidence = float(hmm.forward_filter(model.pi, model.A, book).log_evidence)
        metrics |= {
            **{name: max(values) for name, values in prefix.items()},
            "scaled_stays_finite": bool(finite),
            "unscaled_underflows": bool(lost),
            "book_log_evidence": log_evidence,
            "book_log_evidence_error": abs(
                log_evidence / float(_evidence_in_logs(model.pi, model.A, book)) - 1
            ),
        }
        return Outcome(metrics, arrays=arrays)

    def _sequences(self, rng: Generator) -> dict[str, tuple[Floats, Floats, Floats]]:
        """Initial and transition probabilities and log likelihoods (N, T, K), by emission."""
        model, shape = casino(), (self.sequences, self.length)
        rolls = simulate(model, *shape, rng).rolls
        found = {"dice": (model.pi, model.A, hmm.categorical_log_likelihood(model.B, rolls))}
        chain = three_regions()
        for D in self.dimensions:
            mu, Sigma = 2 * rng.standard_normal((3, D)), np.tile(np.eye(D), (3, 1, 1))
            gaussians = GaussianHMM(chain.pi, chain.A, mu, Sigma)
            points = walk(gaussians, *shape, rng).points
            log_lik = hmm.gaussian_log_likelihood(mu, Sigma, points)
            found[f"gaussian_{D}"] = (chain.pi, chain.A, log_lik)
        return found

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        floor = np.log(np.nextafter(0, 1))
        figure, ax = panels()
        ends = []
        for i, D in enumerate([0, *self.dimensions]):
            name, label = (f"gaussian_{D}", f"Gaussian, {D}-d") if D else ("dice", "casino's dice")
            curve, end = outcome.arrays[f"log_evidence_{name}"], outcome.arrays[f"underflow_{name}"]
            median = outcome.metrics[f"underflow_length_{name}"]
            shown = f"{label}: lost after {median:.0f} steps (median)"
            ax.plot(np.arange(1, len(curve) + 1), curve, color=f"C{i}", label=shown)
            if np.isfinite(end[0]):
                ax.plot(end[0], curve[int(end[0]) - 1], "X", color=f"C{i}", markersize=8)
                ends.append(end[0])
        ax.axhline(floor, color="0.4", linestyle=":", linewidth=1)
        right = min(1.25 * max(ends, default=self.length), self.length)
        ax.set(xlabel="Steps of the chain", ylabel="Log evidence so far (nats)", xlim=(0, right))
        ax.set_ylim(-1000, 20)
        ax.text(right, floor + 10, "smallest double", color="0.3", fontsize=9, ha="right")
        ax.legend(loc="upper right")
        return {"underflow": figure}


def _evidence_in_logs(pi: Floats, A: Floats, log_lik: Floats) -> Floats:
    """The log evidence of (..., T, K) with sums of exponentials in place of scale factors."""
    log_alpha = np.log(pi) + log_lik[..., 0, :]
    for t in range(1, log_lik.shape[-2]):
        log_alpha = log_lik[..., t, :] + logsumexp(log_alpha[..., None] + np.log(A), axis=-2)
    return np.asarray(logsumexp(log_alpha, axis=-1))


def _prefix_errors(pi: Floats, A: Floats, log_lik: Floats) -> dict[str, float]:
    """The scaled quantities of a few short sequences against sums over all paths."""
    K, T, lik = len(pi), log_lik.shape[-2], np.exp(log_lik)
    posterior = hmm.smoother(pi, A, log_lik)
    alpha, beta, log_c = posterior.forward.filtered, posterior.backward, posterior.forward.log_scale
    prefixes = [hmm_enumeration.enumerate_paths(pi, A, lik[:, :t]) for t in range(1, T + 1)]
    evidence = np.stack([paths.evidence for paths in prefixes], axis=-1)
    product = alpha[:, :-1, :, None] * A * (lik * beta)[:, 1:, None, :]
    c = np.exp(log_c)[:, 1:, None, None]
    exact = hmm_enumeration.pair_marginals(prefixes[-1], K)
    filtered = hmm_enumeration.filtered_marginals(pi, A, lik)
    as_printed = (c * product).sum(axis=(-2, -1))  # 13.65 to the letter
    return {
        "evidence_error": largest_difference(np.exp(log_c.cumsum(axis=-1)) / evidence, 1),
        "filtered_error": largest_difference(alpha, filtered),
        "pairwise_error": largest_difference(product / c, exact),  # 13.103
        "printed_pairwise_error": largest_difference(c * product, exact),
        "printed_pairwise_sum": float(as_printed.max()),
        "printed_sum_over_c_squared_error": largest_difference(as_printed / c[..., 0, 0] ** 2, 1),
    }
