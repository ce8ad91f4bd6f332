"""A printed draw compared with repetitions, for real numbers and for integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.judging import Verdict, judge
from bythebook.experiments.core.outcome import Outcome, axis


def drawn(values: object, printed: str) -> Verdict:
    outcome = Outcome(d=axis("draw", len(values)).of(values))  # type: ignore[arg-type]
    return judge(Claim("x", draws="d", printed=printed), outcome, "book")


def test_a_draw_is_compared_with_tails_that_include_its_rounding_interval() -> None:
    draws = np.arange(1000) + 0.5
    assert drawn(draws, "25.0").verdict == "consistent"  # 25 of a thousand are below 25.05
    assert drawn(draws, "24.4").verdict == "differs"
    assert drawn(draws, "975.5").verdict == "consistent"
    assert drawn(draws, "975.7").verdict == "differs"
    assert drawn(draws, "24").verdict == "consistent"  # 24.5 rounds to it
    assert drawn([0.99, 1.0, 1.01], "1").weak is False
    assert drawn([0.1, 1.0, 10.0], "1").weak is True
    claim = Claim("x", draws="max(d)", printed="1")
    with pytest.raises(InputError, match="an array of repetitions is required"):
        judge(claim, Outcome(d=axis("draw", 2).of([1, 2])), "book")


def test_a_drawn_integer_is_compared_with_all_values_at_most_as_frequent() -> None:
    draws = np.repeat([1, 2, 3, 4, 7], [500, 440, 30, 29, 1])
    # of 3, 4 and 7 together there are 60 in a thousand; of 4 and 7 only 30
    passes = {"1": True, "2": True, "3": True, "4": False, "7": False, "5": False}
    for printed, consistent in passes.items():
        found = drawn(draws, printed)
        assert found.verdict == ("consistent" if consistent else "differs"), printed
    assert drawn(draws, "3").weak is False  # three of the five values that occur would pass
    odd = np.repeat(np.arange(1, 27, 2), [9] * 12 + [1])  # 1, 3, ..., 23 would pass, not 25
    assert drawn(odd, "5").weak is True  # 12 of the 13 values that occur, of 25 integers
    assert drawn(np.repeat([1, 2, 3], 100), "2").weak is True
    assert drawn([3] * 100, "3").weak is False


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(0, 6))
def test_the_rule_for_integers_is_its_definition(values: list[int], printed: int) -> None:
    share = {v: values.count(v) / len(values) for v in set(values)}
    chance = sum(s for s in share.values() if s <= share.get(printed, 0) + 1e-12)
    expected = printed in share and chance >= 0.05 - 1e-12
    assert (drawn(values, str(printed)).verdict == "consistent") is expected
