"""."""

from benchmarks.case import Case

CASES: list[Case] = []
