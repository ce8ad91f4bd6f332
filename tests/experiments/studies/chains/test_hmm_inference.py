"""The gaps must vanish for the real recursions and open for broken ones; costs in closed form."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.chains import hmm_inference
from bythebook.experiments.studies.chains.hmm_inference import HmmInference
from bythebook.models.chains import hmm
from bythebook.models.types import Floats

Run = Callable[..., Any]


@pytest.mark.parametrize(
    "study",
    [
        HmmInference(sequences=20),
        HmmInference(states=2, symbols=3, length=2, sequences=5),
        HmmInference(model="casino", length=8, sequences=20),
    ],
)
def test_messages_agree_with_all_paths(run: Run, study: HmmInference) -> None:
    outcome = run(study)
    assert np.all(outcome["gap"].values < 1e-12)
    messages, all_paths = np.moveaxis(outcome["last_state"].values, 1, 0)
    assert_allclose(messages, all_paths, rtol=0, atol=1e-12)
    assert_allclose(outcome["last_state_two_filters"].values, messages[1], rtol=0, atol=1e-12)


def test_a_smoother_that_is_wrong_is_found_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = hmm.smoother

    def forgets_the_first_step(pi: Floats, A: Floats, log_lik: Floats, *_: object) -> hmm.Smoothed:
        return right(np.full(pi.shape, 1 / pi.shape[-1]), A, log_lik)

    monkeypatch.setattr(hmm_inference.hmm, "smoother", forgets_the_first_step)
    gap = run(HmmInference(sequences=20))["gap"]
    for name in ("evidence", "filtered", "smoothed", "pairs"):
        assert gap.sel(of=name).item > 1e-3
    assert gap.sel(of="two_filters").item < 1e-12  # its own recursion


def test_error_rates_count_wrong_states(run: Run) -> None:
    study = HmmInference(sequences=400, length=5)
    rate = run(study)["error_rate"]
    wrong = 0
    for pi, A, lik, states in zip(*study._chains(5, 400, make_rng(0)), strict=True):
        belief = pi
        for t in range(5):
            belief = (belief if t == 0 else belief @ A) * lik[t]
            wrong += int(np.argmax(belief) != states[t])
    assert rate.sel(estimate="filtered").item == pytest.approx(wrong / 2000, rel=1e-12)
    assert rate.sel(estimate="smoothed").item < rate.sel(estimate="prior").item


def test_costs_have_closed_forms(run: Run) -> None:
    outcome = run(HmmInference(ask=["marginals", "path"], sequences=2))
    K, T = np.arange(2, 9)[:, None], np.arange(1, 13)
    for name in ("forward_products", "viterbi_sums"):
        assert_array_equal(outcome[name].values, K + (T - 1) * (K * K + K))
    T = np.arange(2, 5)  # of a path: one pi, T - 1 entries of A, T likelihoods
    assert_array_equal(outcome["path_products"].values, (2 * T - 1) * K**T)


def test_paths_agree_with_all_paths_and_the_printed_recursion_does_not(run: Run) -> None:
    outcome = run(HmmInference(ask=["path"], length=4, forbidden=1, sequences=300))
    path, states, printed, best = outcome["joint"].values
    assert_allclose(path, best, rtol=1e-12)
    assert_allclose(outcome["log_joint"].values, np.log(best), rtol=1e-12)
    assert np.any(printed < best * (1 - 1e-9))
    assert 0 < np.mean(states < best * (1 - 1e-9)) < 1
    assert np.any(outcome["shown_transitions"].values == 0) == np.any(states == 0)
    free = run(HmmInference(ask=["path"], length=4, sequences=300))
    assert np.all(free["joint"].values > 0)


def test_a_viterbi_that_is_wrong_is_found_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def modes(pi: Floats, A: Floats, log_lik: Floats, *_: object) -> hmm.Path:
        states = hmm.smoother(pi, A, log_lik).smoothed.argmax(axis=-1)
        return hmm.Path(states, np.zeros(len(states)))

    monkeypatch.setattr(hmm_inference.hmm, "viterbi", modes)
    outcome = run(HmmInference(ask=["path"], length=4, forbidden=1, sequences=300))
    path, *_, best = outcome["joint"].values
    assert np.max(1 - path / best) > 0.01
    assert np.abs(outcome["log_joint"].values - np.log(best)).max() > 0.01


def test_scaling_saves_what_underflows(run: Run) -> None:
    study = HmmInference(ask=["scaling"], dimensions=[5], long=500, sequences=30, length=6)
    outcome = run(study)
    for name in ("evidence", "filtered", "smoothed", "pair", "printed_sum", "log_evidence"):
        assert np.all(outcome[f"{name}_gap"].values < 1e-12)
    assert np.isfinite(outcome["underflow"].values).all()
    assert not outcome["not_finite"].values.any()
    for name in ("dice", "gaussian_5"):
        # The step at which the log evidence passes the smallest double, to a step or two.
        nats = outcome["first_log_evidence"].sel(emission=name).values
        passed = int(np.argmax(nats < math.log(5e-324)))
        assert abs(outcome["underflow"].sel(emission=name, sequence=0).item - passed) <= 3
    short = run(HmmInference(ask=["scaling"], long=100, sequences=5))
    assert np.all(short["underflow"].values == math.inf)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"states": 8, "length": 8}, "8\\^8 paths"),
        ({"model": "poker"}, "study.model"),
        ({"length": 1}, "study.length"),
        ({"ask": []}, "study.ask"),
        ({"forbidden": 3}, "below study.states=3"),
        ({"ask": ["path"], "length": 16}, "study.length=16"),
        ({"ask": ["scaling"], "dimensions": [2], "length": 12}, "study.length=12"),
        ({"ask": ["scaling", "path"], "length": 12}, "study.length=12"),
        ({"ask": ["scaling"], "dimensions": [0]}, "study.dimensions"),
    ],
)
def test_knobs_have_rules(knobs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        HmmInference(**knobs)


def test_the_casino_may_be_enumerated_further() -> None:
    HmmInference(model="casino", states=8, length=16)
    HmmInference(ask=["scaling"], length=16)


def test_runs_repeat(run: Run) -> None:
    study = HmmInference(ask=["path", "marginals", "scaling"], sequences=30, forbidden=1, long=60)
    assert not diff_outcomes(run(study), run(study))
