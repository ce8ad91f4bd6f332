"""In how many draws a statement must be true."""

import pytest
from scipy import stats

from bythebook.experiments.core.quantifiers import MEANINGS, MOST, WORDS, decide


@pytest.mark.parametrize(
    ("word", "true", "draws", "holds"),
    [
        ("nearly every draw", 95, 100, True),
        ("nearly every draw", 94, 100, False),
        ("nearly every draw", 19, 20, True),
        ("one experiment", 5, 100, True),
        ("one experiment", 4, 100, False),
        ("one experiment", 1, 20, True),
        ("most draws", 61, 100, True),
        ("most draws", 60, 100, None),  # two standard errors are 0.1
        ("most draws", 40, 100, None),
        ("most draws", 39, 100, False),
        ("most draws", 4, 4, None),  # too few
        ("most draws", 5, 5, True),
    ],
)
def test_bounds(word: str, true: int, draws: int, holds: bool | None) -> None:
    decision = decide(word, true, draws)
    assert decision.holds is holds
    assert decision.rule.startswith(MEANINGS[word])
    undecided = f"{true} of {draws} is within two standard errors of one half, so not decided"
    assert (undecided in decision.rule) is (holds is None)


@pytest.mark.parametrize("draws", [50, 200, 1000])
def test_most_draws_is_a_test_of_a_fair_coin(draws: int) -> None:
    """Two standard errors are the two-sided test at 4.6 %, up to the steps of a binomial."""
    for true in range(draws + 1):
        p = stats.binomtest(true, draws).pvalue
        decided = decide(MOST, true, draws).holds is not None
        if abs(p - 0.0455) > 0.03:
            assert decided is bool(p < 0.0455), true


def test_every_word_has_a_meaning() -> None:
    assert set(MEANINGS) == set(WORDS)
