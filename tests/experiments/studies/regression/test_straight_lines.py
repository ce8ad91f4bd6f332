"""Lines by hand, and where two of them meet by a search over the games."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.drawing.registry import figures
from experiments.studies.regression.straight_lines import StraightLines
from models.datasets import load

Run = Callable[..., Outcome]
BOTH = ["olympics-100m-men", "olympics-100m-women"]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"low": 5.0}, "low < high"),
        ({"gradients": [1.0]}, "1 entries; allowed: 3"),
        ({"data": BOTH[:1]}, "two that differ"),
        ({"data": BOTH[:1] * 2}, "two that differ"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        StraightLines(**knobs)  # type: ignore[arg-type]


def test_lines_by_hand(run: Run) -> None:
    study = StraightLines(intercepts=[1.0, -2.0], gradients=[0.5, 3.0], low=-1.0, high=2.0)
    outcome = run(study)
    assert_allclose(outcome["height"], [[0.5, 1, 2], [-5, -2, 4]])
    assert_allclose(outcome["height"].at(x=0), [1, -2])
    (ax,) = figures(study, outcome)["lines"].axes
    assert len(ax.lines) == 2


def test_the_crossing_by_search(run: Run) -> None:
    study = StraightLines(data=BOTH, predict_at=[2588.0, 2592.0])
    found = run(study)
    men, women = (np.poly1d(np.polyfit(*load(name).xt, 1)) for name in BOTH)
    games = next(year for year in range(2008, 3000, 4) if women(year) < men(year))
    assert games - 4 < found["crossing"].item < games == 2592
    assert_allclose(found["crossing"].item, (men - women).roots[0], rtol=1e-9)
    assert_allclose(found["w"], [men.c[::-1], women.c[::-1]], rtol=1e-7)
    assert_allclose(found["prediction"].at(input=games), [men(games), women(games)], rtol=1e-7)
    assert (found["line_of_point"].values == BOTH[1]).sum() == 19
    # The men's line, the flatter one, is drawn until it reaches zero.
    assert_allclose(found["height"].along("x")[-1], men.roots[0], rtol=1e-9)
    (ax,) = figures(study, found)["lines"].axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "Olympics 100m men",
        "Olympics 100m women",
        "the lines meet in 2589.3",
    ]
