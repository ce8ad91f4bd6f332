"""The study of two lines: where they meet, against a search over the games."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.line_crossing import LineCrossing
from models.datasets import load


def run(study: LineCrossing) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize("every", [1, 4, 7])
def test_the_first_games_after_the_crossing_by_search(every: int) -> None:
    found = run(LineCrossing(games_every=every)).metrics
    men, women = (
        np.poly1d(np.polyfit(*load(f"olympics-100m-{who}").xt, 1)) for who in ("men", "women")
    )
    games = next(year for year in range(2008, 3000, every) if women(year) < men(year))
    assert found["first_games_after_crossing"] == games
    assert_allclose(found["leader_after_crossing"], men(games), rtol=1e-7)
    assert_allclose(found["challenger_after_crossing"], women(games), rtol=1e-7)
    assert_allclose(found["crossing"], (men - women).roots[0], rtol=1e-9)
    assert_allclose(found["crossing_value"], men(found["crossing"]), rtol=1e-7)
    assert_allclose(found["leader_reaches_zero_at"], men.roots[0], rtol=1e-9)
    assert_allclose(found["challenger_reaches_zero_at"], women.roots[0], rtol=1e-9)
    assert found["challenger_ahead_after_only"] is True
    assert found["challenger_starts_higher"] is True
    assert found["challenger_falls_faster"] is True
    assert found["both_reach_zero"] is True


def test_statements_turn_with_the_roles() -> None:
    study = LineCrossing(leader="olympics-100m-women", challenger="olympics-100m-men")
    found = run(study).metrics
    assert found["challenger_starts_higher"] is False
    assert found["challenger_falls_faster"] is False
    assert found["challenger_ahead_after_only"] is False


def test_a_line_does_not_cross_itself() -> None:
    with pytest.raises(BadInput, match="must differ"):
        LineCrossing(leader="olympics-100m-women")


def test_the_figure_shows_both_lines_down_to_zero() -> None:
    study = LineCrossing()
    outcome = run(study)
    (ax,) = study.draw(outcome)["lines"].axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "Olympics 100m men",
        "Olympics 100m women",
        "the lines meet in 2589.3",
    ]
    assert abs(outcome.arrays["leader_line"][-1]) < 1e-9
