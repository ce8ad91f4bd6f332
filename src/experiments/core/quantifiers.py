"""How often a statement about draws must be true: the words of the key `in`, and their bounds.

    holds: argmin(loo_loss, over='order') == 3
    in: nearly every draw

A text rarely says how often. "Nearly every draw" stands for always, never and in general, "most
draws" for usually and often, "one experiment" for what is said of one figure or one experiment.
"""

import math
from typing import NamedTuple

NEARLY_EVERY, MOST, ONE = WORDS = ("nearly every draw", "most draws", "one experiment")
MIN_SHARES = {NEARLY_EVERY: 0.95, ONE: 0.05}
# A share within so many standard errors of one half does not decide what holds in most draws.
STANDARD_ERRORS = 2
MEANINGS = {
    NEARLY_EVERY: f"true in at least {100 * MIN_SHARES[NEARLY_EVERY]:g} % of the draws",
    MOST: "true in more than half of the draws, by two standard errors",
    ONE: f"true in at least {100 * MIN_SHARES[ONE]:g} % of the draws",
}


class Decision(NamedTuple):
    """Whether a statement holds, and the rule in words."""

    holds: bool | None  # None if the draws do not decide
    rule: str


def decide(word: str, true: int, draws: int) -> Decision:
    """Whether a statement that is true in some of the draws holds in the sense of `word`."""
    rule = MEANINGS[word]
    if word != MOST:
        return Decision(true >= MIN_SHARES[word] * draws - 1e-9, rule)
    above = true / draws - 1 / 2
    margin = STANDARD_ERRORS / (2 * math.sqrt(draws))  # of a share whose expectation is one half
    if abs(above) <= margin:
        undecided = f"{true} of {draws} is within two standard errors of one half, so not decided"
        return Decision(None, f"{rule}; {undecided}")
    return Decision(above > 0, rule)
