"""Data are the book's or new; starts without chance come once, all others R times."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from models.chains import baum_welch as bw
from models.chains.casino import book_game
from models.chains.named_starts import CATEGORICAL, GAUSSIAN, ONCE, em_from, make_data, make_start


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


def test_training_before_or_after_em() -> None:
    rng = np.random.default_rng(0)
    (data,) = make_data("casino", 60, 1, rng)
    theta = make_start("random", data, 3, 1.0, None, rng)
    ends = {
        kind: em_from(kind, theta, data.x, bw.FLAT, 1e-6, 50, np.random.default_rng(1))
        for kind in ("random", "viterbi", "annealed", "switched")
    }
    for end in ends.values():
        assert_allclose(bw.log_evidence(end.theta, data.x).ravel(), end.final, rtol=1e-12)
    assert_array_equal(ends["switched"].soft.final, ends["random"].final)  # then it goes on
    assert np.all(ends["switched"].final <= ends["random"].final)
    hard = bw.baum_welch(theta, data.x, inverse_temperature=np.inf, tol=1e-6, max_iter=10).theta
    after = bw.baum_welch(hard, data.x, tol=1e-6, max_iter=50)
    assert_array_equal(ends["viterbi"].final, after.final)
    assert not np.array_equal(ends["annealed"].final, ends["random"].final)
