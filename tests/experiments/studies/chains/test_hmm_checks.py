"""The checks must pass on the real recursions and fail on broken ones; costs have closed forms."""

import math

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome, differences
from experiments.contract.study import Study, generator
from experiments.drawing.canvas import style
from experiments.studies import hmm_checks, most_probable_path
from experiments.studies.chains.hmm_checks import Chains, ForwardBackward, draw_chains
from experiments.studies.chains.most_probable_path import MostProbablePath
from experiments.studies.chains.scaled_forward import ScaledForward
from experiments.studies.regression.operation_counts import count_operations, degree
from models.chains import hmm
from models.chains.hmm_recursions import forward_unscaled
from models.types import Floats

ERRORS = ("evidence", "filtered", "smoothed", "pairwise", "two_filter", "mixture", "column")


def run(study: Study, seed: int = 0) -> Outcome:
    return study.run(generator(study.name, seed))


@pytest.mark.parametrize(
    "study",
    [
        ForwardBackward(sequences=20),
        ForwardBackward(states=2, symbols=3, length=2, sequences=5),
        ForwardBackward(model="casino", length=8, sequences=20),
    ],
)
def test_recursions_agree_with_all_paths(study: ForwardBackward) -> None:
    metrics = run(study).metrics
    for name in ERRORS:
        assert metrics[f"{name}_error"] < 1e-12
    assert metrics["evidence_spread"] < 1e-12
    assert metrics["paths"] == (2 if study.model == "casino" else study.states) ** study.length


def test_a_smoother_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    right = hmm.smoother

    def forgets_the_first_step(pi: Floats, A: Floats, log_lik: Floats) -> hmm.Smoothed:
        return right(np.full(pi.shape, 1 / pi.shape[-1]), A, log_lik)

    monkeypatch.setattr(hmm_checks.hmm, "smoother", forgets_the_first_step)
    metrics = run(ForwardBackward(sequences=20)).metrics
    for name in ("evidence", "filtered", "smoothed", "pairwise"):
        assert metrics[f"{name}_error"] > 1e-3
    assert metrics["two_filter_error"] < 1e-12  # its own recursion


def test_error_rates_count_wrong_states() -> None:
    study = ForwardBackward(sequences=400, length=5)
    metrics, rng = run(study).metrics, generator(study.name, 0)
    chains = draw_chains("random", (3, 4, 5), 400, rng)
    wrong = 0
    for pi, A, lik, states in zip(*chains, strict=True):
        belief = pi
        for t in range(5):
            belief = (belief if t == 0 else belief @ A) * lik[t]
            wrong += int(np.argmax(belief) != states[t])
    assert metrics["error_rate_filtered"] == pytest.approx(wrong / 2000, rel=1e-12)
    assert metrics["error_rate_smoothed"] < metrics["error_rate_prior"]


def test_chains_can_be_forbidden_transitions() -> None:
    chains = draw_chains("random", (3, 4, 60), 30, np.random.default_rng(0), forbidden=2)
    np.testing.assert_array_equal(chains.A[:, [0, 1], [1, 2]], 0.0)
    np.testing.assert_allclose(chains.A.sum(axis=-1), 1.0, rtol=1e-14)
    step = chains.states[:, 1:] - chains.states[:, :-1]
    assert not np.any(step == 1)
    assert np.any(step == 2)


def test_operations_are_counted_one_by_one() -> None:
    for K, T in ((1, 1), (2, 1), (2, 5), (4, 3)):
        tally = count_operations(forward_unscaled, np.ones(K), np.ones((K, K)), np.ones((T, K)))
        assert tally["products"] == K + (T - 1) * (K * K + K)
        tally = count_operations(
            most_probable_path._viterbi_values, np.ones(K), np.ones((K, K)), np.ones((T, K))
        )
        assert tally["sums"] == K + (T - 1) * (K * K + K)
        assert tally["comparisons"] >= (T - 1) * K * (K - 1)


def test_degrees_are_those_of_polynomials() -> None:
    sizes = range(2, 9)
    assert degree([7 for _ in sizes]) == 0
    assert degree([3 * n + 1 for n in sizes]) == 1
    assert degree([n * n - n for n in sizes]) == 2
    assert degree([2**n for n in sizes]) is None


def test_scaling_saves_what_underflows() -> None:
    study = ScaledForward(dimensions=[5], length=500, sequences=30, enumerated=6)
    outcome = run(study)
    metrics = outcome.metrics
    for name in ("evidence", "filtered", "pairwise", "printed_sum_over_c_squared"):
        assert metrics[f"{name}_error"] < 1e-12
    assert metrics["unscaled_underflows"] is True
    assert metrics["scaled_stays_finite"] is True
    for name in ("dice", "gaussian_5"):
        # The step at which the log evidence passes the smallest double, to a step or two.
        nats = outcome.arrays[f"log_evidence_{name}"]
        passed = int(np.argmax(nats < math.log(5e-324)))
        assert abs(outcome.arrays[f"underflow_{name}"][0] - passed) <= 3
    short = run(ScaledForward(dimensions=[], length=100, sequences=5))
    assert short.metrics["unscaled_underflows"] is False
    assert short.metrics["underflow_length_dice"] == math.inf


def test_the_printed_pairwise_formula_is_off_by_the_square_of_the_scale() -> None:
    """Two rolls of the casino, both six: c_2 = p(six, six) / p(six)."""
    six = np.array([1 / 6, 0.5])
    first = 0.5 * six.sum()
    both = 0.5 * (six * (np.array([[0.95, 0.05], [0.10, 0.90]]) @ six)).sum()
    c = both / first
    log_lik = np.log(np.tile(six, (1, 2, 1)))
    from experiments.studies.chains.scaled_forward import _prefix_errors
    from models.chains.casino import casino

    model = casino()
    found = _prefix_errors(model.pi, model.A, log_lik)
    assert found["printed_pairwise_sum"] == pytest.approx(c**2, rel=1e-12)
    assert found["pairwise_error"] < 1e-15


def test_paths_agree_with_all_paths_and_the_printed_recursion_does_not() -> None:
    metrics = run(MostProbablePath(sequences=300)).metrics
    assert metrics["path_shortfall"] < 1e-12
    assert metrics["log_joint_error"] < 1e-12
    assert metrics["printed_finds_best_path"] is False
    assert metrics["printed_value_error"] > 1
    assert metrics["omega_is_joint"] is False
    assert 0 < metrics["share_modes_differ"] < 1
    assert metrics["cost_linear_in_length"] is True
    free = run(MostProbablePath(sequences=300, forbidden=0)).metrics
    assert free["share_modes_impossible"] == 0


def test_the_printed_recursion_by_hand() -> None:
    """Transitions that never stay: the printed recursion, blind to them, stays."""
    pi, A = np.array([[0.5, 0.5]]), np.array([[[0.0, 1.0], [1.0, 0.0]]])
    lik = np.array([[[0.9, 0.1], [0.6, 0.4]]])
    chains = Chains(pi, A, lik, np.zeros((1, 2), dtype=np.int64))
    path, value = most_probable_path._viterbi_as_printed(chains)
    np.testing.assert_array_equal(path, [[0, 0]])
    assert value[0] == pytest.approx(math.log(0.5 * 0.9 * 0.6 * 0.6), rel=1e-12)
    np.testing.assert_array_equal(hmm.viterbi(pi, A, np.log(lik)).states, [[0, 1]])


def test_a_viterbi_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def modes(pi: Floats, A: Floats, log_lik: Floats) -> hmm.Path:
        states = hmm.smoother(pi, A, log_lik).smoothed.argmax(axis=-1)
        return hmm.Path(states, np.zeros(len(states)))

    monkeypatch.setattr(most_probable_path.hmm, "viterbi", modes)
    metrics = run(MostProbablePath(sequences=300)).metrics
    assert metrics["path_shortfall"] > 0.01
    assert metrics["log_joint_error"] > 0.01


@pytest.mark.parametrize(
    ("study", "knobs", "complaint"),
    [
        (ForwardBackward, {"states": 8, "length": 8}, "8\\^8 paths"),
        (ForwardBackward, {"model": "poker"}, "study.model"),
        (ForwardBackward, {"length": 1}, "study.length"),
        (MostProbablePath, {"forbidden": 3}, "below study.states=3"),
        (MostProbablePath, {"length": 16}, "study.length=16"),
        (ScaledForward, {"enumerated": 12}, "study.enumerated=12"),
        (ScaledForward, {"dimensions": [0]}, "study.dimensions"),
    ],
)
def test_knobs_have_rules(study: type[Study], knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        study(**knobs)


def test_dice_alone_may_be_enumerated_further() -> None:
    ScaledForward(dimensions=[], enumerated=16)
    ForwardBackward(model="casino", states=8, length=16)


@pytest.mark.parametrize(
    "study",
    [
        ForwardBackward(sequences=5),
        ForwardBackward(model="casino", length=4, sequences=5),
        MostProbablePath(sequences=50),
        ScaledForward(dimensions=[2], length=60, sequences=3),
    ],
    ids=lambda study: study.name,
)
def test_runs_repeat_and_figures_name_their_axes(study: Study) -> None:
    outcome = run(study)
    assert not differences(outcome, run(study))
    with style("screen"):
        for figure in study.draw(outcome).values():
            figure.draw_without_rendering()
            assert all(ax.get_xlabel() and ax.get_ylabel() for ax in figure.axes)
