"""Ranks against eigenvectors of the whole matrix, and walks against ranks."""

import numpy as np
import pytest

from bythebook.models.chains import page_rank as ranks
from bythebook.models.chains.page_rank import Web

SIX = np.array([[1, 2], [1, 6], [2, 3], [2, 4], [3, 4], [3, 5], [3, 6], [4, 1], [6, 1]]) - 1


@pytest.mark.parametrize("seed", range(4))
def test_ranks_are_the_leading_eigenvector(seed: int) -> None:
    web = ranks.draw_web(9, np.random.default_rng(seed))
    M = web.matrix(0.85)
    values, vectors = np.linalg.eig(M)
    leading = vectors[:, values.real.argmax()].real
    leading = leading / leading.sum()
    assert np.allclose(ranks.solve(web, 0.85), leading)
    assert np.allclose(ranks.settle(web, 0.85, 1e-14)[0], leading)
    assert np.allclose(web.step(leading, 0.85), leading)


def test_links_of_a_page() -> None:
    web = Web(SIX, 6)
    assert web.out_links.tolist() == [2, 2, 3, 1, 0, 1]
    assert web.in_links.tolist() == [2, 1, 1, 2, 1, 2]
    assert web.matrix(0.8)[:, 4].tolist() == pytest.approx([1 / 6] * 6)
    assert web.matrix(0.8)[1, 0] == pytest.approx(0.4 + 0.2 / 6)


def test_a_course_of_the_power_method() -> None:
    web = Web(SIX, 6)
    truth = ranks.solve(web, 0.85)
    course = ranks.powers(web, 0.85, 30, truth)
    assert course.error[-1] == pytest.approx(np.abs(course.rank - truth).sum())
    assert (course.error[1:20] < course.error[:19]).all()
    _, steps = ranks.settle(web, 0.85, 1e-4)
    assert course.change[steps - 1] <= 1e-4 < course.change[steps - 2]


def test_a_large_web_is_solved_sparsely() -> None:
    web = Web(np.column_stack([np.arange(1100), (np.arange(1100) + 1) % 1100]), 1100)
    assert np.allclose(ranks.solve(web, 0.85), 1 / 1100)


def test_a_surfer_follows_links_and_jumps() -> None:
    web = Web(SIX, 6)
    seen = ranks.surf(web, 0.85, 60_000, np.random.default_rng(0))
    assert len(seen) == 60_000
    share = np.bincount(seen, minlength=6) / len(seen)
    assert np.abs(share - ranks.solve(web, 0.85)).max() < 0.01
    pairs = np.zeros((6, 6))
    np.add.at(pairs, (seen[1:], seen[:-1]), 1)
    assert np.abs(pairs / pairs.sum(0) - web.matrix(0.85)).max() < 0.03


def test_a_farm_and_places() -> None:
    web = ranks.with_farm(Web(SIX, 6), 4, 10)
    assert web.pages == 16
    assert web.in_links[4] == 11
    assert ranks.place(np.array([3.0, 1.0, 2.0]), 2) == 2


def test_influence_counts_pairs_of_missing_links() -> None:
    # 0 <-> 1, 2 -> 0, 3 -> 2: to each page two others have no link, to page 3 all three.
    web = Web(np.array([[0, 1], [1, 0], [2, 0], [3, 2]]), 4)
    found = ranks.influence(web, 0.85)
    assert len(found.agrees) == 0 + 1 + 1 + 3
    assert all(found.same_out_links)
    rank = ranks.solve(web, 0.85)
    gain = [ranks.settle(web.with_link(a, 3), 0.85, 1e-14)[0][3] for a in (0, 2)]
    assert rank[0] > rank[2]
    assert found.agrees[-2] == (gain[0] > gain[1])


def test_jumps_are_what_links_leave() -> None:
    """By hand, 0.15 / 6 from pages that lead on and 1 / 6 from page 5; with links, M's columns."""
    web = Web(SIX, 6)
    np.testing.assert_allclose(web.z(0.85), [0.025, 0.025, 0.025, 0.025, 1 / 6, 0.025], rtol=1e-15)
    np.testing.assert_allclose(0.85 * web.GD.toarray() + web.z(0.85), web.matrix(0.85), rtol=1e-14)
