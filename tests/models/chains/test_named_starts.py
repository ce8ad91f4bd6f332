"""Data are the book's or new; starts without chance come once, all others R times."""

import numpy as np
import pytest
from hmm_in_logs import evidence_in_logs
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import baum_welch_starts as starts
from bythebook.models.chains.casino import book_game
from bythebook.models.chains.named_starts import (
    CATEGORICAL,
    GAUSSIAN,
    ONCE,
    em_from,
    make_data,
    make_start,
)


def test_gaussian_starts_include_the_categorical() -> None:
    assert set(CATEGORICAL) < set(GAUSSIAN)


def test_data_are_the_books_or_new() -> None:
    rng = np.random.default_rng(0)
    (book,) = make_data("casino-book", 50, 1, rng)
    assert_array_equal(book.x, book_game().rolls[:50])
    many = make_data("three-regions", 20, 3, rng)
    assert [data.x.shape for data in many] == [(20, 2)] * 3
    assert not np.array_equal(many[0].x, many[1].x)


@pytest.mark.parametrize("chain", ["casino", "lilypad"])
def test_every_start_is_a_model(chain: str) -> None:
    rng = np.random.default_rng(0)
    (data,) = make_data(chain, 80, 1, rng)
    for kind in CATEGORICAL if chain == "casino" else GAUSSIAN:
        theta = make_start(kind, data, 4, 1.0, None, rng)
        assert len(theta.pi) == (1 if kind in ONCE else 4)
        for rows in (theta.pi, theta.A):
            assert_allclose(rows.sum(axis=-1), 1.0, rtol=1e-12)


def test_viterbi_training_takes_ten_steps_before_em(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    (data,) = make_data("casino", 60, 1, rng)
    theta = make_start("viterbi", data, 2, 1.0, None, rng)
    hard = bw.baum_welch(theta, data.x, inverse_temperature=np.inf, tol=-np.inf, max_iter=10).theta
    soft = bw.baum_welch(hard, data.x, tol=-np.inf, max_iter=5)
    found = em_from("viterbi", theta, data.x, bw.FLAT, -np.inf, 5, rng)
    assert_allclose(found.final, soft.final, rtol=1e-12)
    steps = []
    plain = bw.baum_welch

    def noted(*given: object, **options: object) -> object:
        steps.append((options["inverse_temperature"], options["max_iter"]))
        return plain(*given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(bw, "baum_welch", noted)
    em_from("viterbi", theta, data.x, bw.FLAT, 1e-6, 5, rng)
    assert steps == [(np.inf, 10), (1.0, 5)]


def test_training_before_or_after_em() -> None:
    rng = np.random.default_rng(0)
    (data,) = make_data("casino", 60, 1, rng)
    theta = make_start("random", data, 3, 1.0, None, rng)
    ends = {
        kind: em_from(kind, theta, data.x, bw.FLAT, 1e-6, 50, np.random.default_rng(1))
        for kind in ("random", "viterbi", "annealed", "switched")
    }
    for end in ends.values():
        for pi, A, rows, final in zip(
            end.theta.pi, end.theta.A, end.theta.log_likelihood(data.x), end.final, strict=True
        ):
            assert_allclose(evidence_in_logs(pi, A, rows), [final], rtol=1e-12)
    assert_array_equal(ends["switched"].soft.final, ends["random"].final)  # then it goes on
    assert np.all(ends["switched"].final <= ends["random"].final)
    hard = bw.baum_welch(theta, data.x, inverse_temperature=np.inf, tol=1e-6, max_iter=10).theta
    after = bw.baum_welch(hard, data.x, tol=1e-6, max_iter=50)
    assert_array_equal(ends["viterbi"].final, after.final)
    assert not np.array_equal(ends["annealed"].final, ends["random"].final)


@pytest.mark.parametrize("chain", ["casino", "lilypad"])
@pytest.mark.parametrize("kind", GAUSSIAN)
def test_a_name_is_its_recipe(chain: str, kind: str) -> None:
    (data,) = make_data(chain, 90, 1, np.random.default_rng(2))
    symbols = chain == "casino"
    if symbols and kind not in CATEGORICAL:
        return
    K = 2 if symbols else 3
    found = make_start(kind, data, 3, 2.0, 40, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    if symbols:
        alike = starts.identical_categorical(data.x, K, 6, 3)
        random = starts.random_categorical(K, 6, 3, rng, 2.0)
    else:
        alike = starts.identical_gaussian(data.x, K, 3)
        random = starts.random_gaussian(data.x, K, 3, rng, 2.0)
    recipes = {
        "truth": lambda: data.truth,
        "identical": lambda: alike._replace(**{n: getattr(alike, n)[:1] for n in alike._fields}),
        "perturbed": lambda: starts.perturb(alike, np.random.default_rng(3), 0.01),
        "zeros": lambda: starts.with_zeros(random),
        "kmeans": lambda: starts.kmeans_gaussian(data.x, K, 3, np.random.default_rng(3)),
        "mixture": lambda: starts.mixture_gaussian(data.x, K, 3, np.random.default_rng(3)),
    }
    if kind == "labelled":  # counts of the first forty, one more of each
        z = data.states[:40]
        counts = np.ones((K, K))
        np.add.at(counts, (z[:-1], z[1:]), 1)
        assert_allclose(found.A[0], counts / counts.sum(axis=1, keepdims=True), rtol=1e-12)
        return
    for mine, theirs in zip(found, recipes.get(kind, lambda: random)(), strict=True):
        assert_allclose(mine, theirs, rtol=1e-12)


def test_states_and_observations_are_not_exchanged() -> None:
    (book,) = make_data("casino-book", 60, 1, np.random.default_rng(0))
    assert_array_equal(book.states, book_game().dice[:60])
    for chain, K in (("casino", 2), ("lilypad", 3)):
        for data in make_data(chain, 400, 2, np.random.default_rng(1)):
            assert set(data.states) == set(range(K))
            assert data.truth.pi.shape == (1, K)
            stays = np.mean(data.states[1:] == data.states[:-1])
            assert stays > 0.7


def test_an_annealed_run_cools_in_nine_steps_of_twenty() -> None:
    (data,) = make_data("casino", 60, 1, np.random.default_rng(4))
    theta = make_start("random", data, 2, 1.0, None, np.random.default_rng(5))
    found = em_from("annealed", theta, data.x, bw.FLAT, 1e-6, 30, np.random.default_rng(6))
    rng = np.random.default_rng(6)
    for tenth in range(1, 10):
        warm = bw.baum_welch(
            theta, data.x, inverse_temperature=tenth / 10, tol=1e-6, max_iter=20
        ).theta
        theta = starts.perturb(warm, rng, 0.01)
    expected = bw.baum_welch(theta, data.x, tol=1e-6, max_iter=30)
    assert_allclose(found.final, expected.final, rtol=1e-9)
    hard = em_from("switched", theta, data.x, bw.FLAT, 1e-6, 30, rng)
    after = bw.baum_welch(
        expected.theta, data.x, inverse_temperature=np.inf, tol=1e-6, max_iter=30
    ).theta
    assert_allclose(hard.theta.A, after.A, rtol=1e-9)


def test_a_face_that_never_came_has_its_place_all_the_same() -> None:
    (data,) = make_data("casino", 40, 1, np.random.default_rng(0))
    unseen = data._replace(x=np.minimum(data.x, 3))
    for kind in ("identical", "random", "perturbed", "labelled", "zeros"):
        assert make_start(kind, unseen, 2, 1.0, None, np.random.default_rng(1)).B.shape[1:] == (
            2,
            6,
        )
