"""EM's starts against a naive evidence, exact zeros and counts; what the metrics say."""

import math

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome, differences
from experiments.contract.study import Study, generator
from experiments.drawing.canvas import style
from experiments.studies import hmm_em
from experiments.studies.chains.hmm_em import HmmStarts
from experiments.studies.chains.hmm_em_starts import CATEGORICAL, GAUSSIAN, make_data
from experiments.studies.chains.labelled_training import LabelledTraining
from models.chains import baum_welch as bw
from models.chains.casino import book_game
from models.types import Floats

SMALL = {"chain": "lilypad", "length": 60, "restarts": 4, "max_iter": 200}


def run(study: Study, seed: int = 0) -> Outcome:
    return study.run(generator(study.name, seed))


def naive_log_evidence(rolls: list[int], pi: Floats, A: Floats, B: Floats) -> float:
    total, belief = 0.0, pi
    for t, x in enumerate(rolls):
        joint = (belief if t == 0 else belief @ A) * B[:, x]
        total += math.log(joint.sum())
        belief = joint / joint.sum()
    return total


@pytest.fixture(scope="module")
def casino() -> Outcome:
    starts = ["random", "truth", "labelled", "identical", "perturbed", "zeros"]
    return run(HmmStarts(starts=starts, restarts=12))


def test_starts_and_optima_on_the_book_game(casino: Outcome) -> None:
    metrics = casino.metrics
    rolls = book_game().rolls.tolist()
    A = np.array([[0.95, 0.05], [0.10, 0.90]])
    B = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])
    truth = naive_log_evidence(rolls, np.array([0.5, 0.5]), A, B)
    assert metrics["first_truth"] == pytest.approx(truth, rel=1e-13)
    assert metrics["final_truth"] == pytest.approx(-504.814, abs=5e-4)  # the catalogue's
    counts = np.bincount(rolls)
    independent = float((counts * np.log(counts / 300)).sum())
    assert metrics["final_identical"] == pytest.approx(independent, rel=1e-12)
    assert metrics["gain_identical"] == pytest.approx(0, abs=1e-9)
    assert metrics["zeros_stay_zero"] is True
    assert metrics["objective_never_falls"] is True
    assert metrics["step_error"] < 1e-14


def test_metrics_are_those_of_the_runs(casino: Outcome) -> None:
    metrics, table = casino.metrics, casino.tables["starts"]
    for i, start in enumerate(table["start"]):
        gap = casino.arrays[f"gap_{start}"]
        assert gap.size == (1 if start in ("truth", "labelled", "identical") else 12)
        assert metrics[f"share_best_{start}"] == pytest.approx(np.mean(gap < 1), rel=1e-12)
        assert table["mean_gap"][i] == pytest.approx(gap.mean(), rel=1e-12)
        assert metrics["best"] - gap.min() == pytest.approx(metrics[f"final_{start}"], rel=1e-12)
        assert metrics["best"] - gap.max() == pytest.approx(metrics[f"lowest_{start}"], rel=1e-12)
    assert min(casino.arrays[f"gap_{start}"].min() for start in table["start"]) == 0
    assert metrics["optima_random"] > 1
    assert metrics["starts_end_apart"] is True


def test_statements_follow_the_shares() -> None:
    study = HmmStarts(starts=["random", "labelled", "viterbi", "annealed", "switched"])
    share = {"random": 0.5, "labelled": 0.6, "viterbi": 0.4, "annealed": 0.5, "switched": 0.1}
    gap = {"random": 1.0, "labelled": 0.0, "viterbi": 3.0, "annealed": 1.0, "switched": 2.0}
    metrics = {f"share_best_{start}": value for start, value in share.items()}
    metrics |= {f"mean_gap_{start}": value for start, value in gap.items()}
    metrics |= {"optima_random": 1, "final_random": 5.0, "lowest_random": 2.0}
    assert study._statements(metrics) == {
        "starts_end_apart": False,
        "spread_random": 3.0,
        "careful_starts_help": True,
        "viterbi_first_hurts": True,
        "annealing_helps": False,
        "viterbi_last_is_safer": True,
    }


def test_a_wrong_m_step_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    right = bw.reestimate

    def slips(theta: bw.CategoricalHMM, *rest: object) -> bw.CategoricalHMM:
        return right(theta, *rest)._replace(A=theta.A)  # type: ignore[arg-type]

    monkeypatch.setattr(bw, "reestimate", slips)
    assert run(HmmStarts(length=30, restarts=2)).metrics["step_error"] > 1e-3


def test_a_falling_objective_is_seen() -> None:
    rising = np.array([[-10.0, -9.0, -9.0, np.nan]])
    assert hmm_em._never_falls(rising)
    assert not hmm_em._never_falls(rising - [[0, 0, 1e-6, 0]])


@pytest.mark.parametrize("start", GAUSSIAN)
def test_every_gaussian_start_runs(start: str) -> None:
    outcome = run(HmmStarts(**SMALL, starts=[start], regularised=True))
    assert np.isfinite(outcome.metrics["best"])
    assert outcome.metrics["rows_sum_to_one"] is True
    assert outcome.metrics["objective_never_falls"] is True
    assert outcome.metrics["zeros_stay_zero"] is True


def test_labels_and_clusters_find_the_optimum_of_separate_clusters() -> None:
    kinds = ["labelled", "kmeans", "mixture", "truth"]
    study = HmmStarts(chain="three-regions", length=300, restarts=4, starts=kinds)
    metrics = run(study).metrics
    for start in kinds:
        assert metrics[f"mean_gap_{start}"] == pytest.approx(0, abs=1e-3)


def test_data_sets_are_judged_each_by_its_best() -> None:
    outcome = run(HmmStarts(**SMALL, sequences=3, starts=["truth"]))
    np.testing.assert_array_equal(outcome.arrays["gap_truth"], np.zeros(3))
    assert outcome.metrics["share_best_truth"] == 1


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"starts": ["kmeans"]}, "kmeans is not for casino-book"),
        ({"length": 301}, "one game of 300 rolls"),
        ({"sequences": 2}, "one game of 300 rolls"),
        ({"labels": 200, "length": 100}, "study.labels=200"),
        ({"starts": []}, "study.starts"),
        ({"tol": 0.0}, "study.tol"),
    ],
)
def test_starts_have_rules(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        HmmStarts(**knobs)  # type: ignore[arg-type]


def test_a_rate_needs_two_lengths() -> None:
    with pytest.raises(BadInput, match="at least two lengths"):
        LabelledTraining(lengths=[100])


def test_gaussian_starts_include_the_categorical() -> None:
    assert set(CATEGORICAL) < set(GAUSSIAN)


def test_data_are_the_books_or_new() -> None:
    rng = np.random.default_rng(0)
    (book,) = make_data("casino-book", 50, 1, rng)
    np.testing.assert_array_equal(book.x, book_game().rolls[:50])
    many = make_data("three-regions", 20, 3, rng)
    assert [data.x.shape for data in many] == [(20, 2)] * 3
    assert not np.array_equal(many[0].states, many[1].states) or not np.array_equal(
        many[0].x, many[1].x
    )


@pytest.fixture(scope="module")
def labelled() -> Outcome:
    return run(LabelledTraining(lengths=[200, 800, 3200], repetitions=30, shakes=50))


def test_counts_moments_and_their_rate(labelled: Outcome) -> None:
    metrics = labelled.metrics
    assert metrics["counts_error"] < 1e-15
    assert metrics["moments_error"] < 1e-10
    for chain in ("casino", "lilypad"):
        assert metrics[f"most_likely_{chain}"] is True
        assert metrics[f"error_falls_{chain}"] is True
        assert -0.7 < metrics[f"error_exponent_{chain}"] < -0.35
    # The loaded six among T / 3 loaded rolls: its binomial standard deviation is of this size.
    steps, errors = labelled.series["rms_error_emission_casino"]
    for T, error in zip(steps, errors, strict=True):
        assert 0.3 * math.sqrt(0.1 / (T / 3)) < error < 3 * math.sqrt(0.1 / (T / 3))


def test_estimates_off_the_counts_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.studies import labelled_training

    right = labelled_training.starts.labelled_categorical

    def smoothed(*options: object) -> bw.CategoricalHMM:
        return right(*options[:3], bw.Prior(5.0, 5.0, 5.0))  # type: ignore[arg-type]

    monkeypatch.setattr(labelled_training.starts, "labelled_categorical", smoothed)
    metrics = run(LabelledTraining(chains=["casino"], lengths=[100, 200], repetitions=2)).metrics
    assert metrics["counts_error"] > 1e-3
    assert metrics["most_likely_casino"] is False


@pytest.mark.parametrize(
    "study",
    [
        HmmStarts(length=60, restarts=3, max_iter=30),
        HmmStarts(**SMALL, starts=["random", "kmeans"]),
        LabelledTraining(lengths=[50, 100], repetitions=3, shakes=3),
    ],
    ids=lambda study: study.name,
)
def test_runs_repeat_and_figures_name_their_axes(study: Study) -> None:
    outcome = run(study)
    assert not differences(outcome, run(study))
    with style("screen"):
        for figure in study.draw(outcome).values():
            figure.draw_without_rendering()
            assert all(ax.get_xlabel() for ax in figure.axes)
