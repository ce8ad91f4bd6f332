"""The results of a campaign as a Markdown page."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tools.mutation_testing.faults import Fault

EQUIVALENT = Path(__file__).with_name("equivalent.txt")
HEADER = """# Mutation testing

`make mutation-test` changes a copy of `src/models` in one place at a time (a sign, an operator, a
constant, a comparison, an index, a function), runs the tests of the module and the results that
call the function, and writes this page.

| column | counts | of |
| --- | --- | --- |
| crash | a result raises an exception or does not end, and no other verdict changes | all |
| tests | a test below `tests/models` fails | all |
| claims | a claim of any kind gets another verdict | faults without a crash |
| stated | a claim that a text makes gets another verdict | faults without a crash |
| printed | the same, without claims that hold by construction | faults without a crash |
| together | a test fails, a claim gets another verdict, or a result raises an exception | all |

The faults that a sample reveals lead to new tests, so the share for a sample says nothing about
other faults. For an unbiased estimate use a seed that was not used before:
`python -m tools.mutation_testing --seed <number>`.
"""


class FaultOutcome(NamedTuple):
    """A fault and the checks that detected it."""

    fault: Fault
    crashed: bool
    raised: bool  # a result raises an exception
    tests: bool
    claims: bool
    stated: bool
    printed: bool
    called: bool  # a result calls the function

    @property
    def detected(self) -> bool:
        return self.tests or self.claims or self.raised


def combine(fault: Fault, tests: dict[str, Any], claims: dict[str, Any]) -> FaultOutcome:
    """The outcome of a fault from its rows of both stages."""
    return FaultOutcome(
        fault,
        crashed=bool(claims["crashed"]),
        raised=bool(claims["raised"]),
        tests=bool(tests["tests"]),
        claims=bool(claims["claims"]),
        stated=bool(claims["stated"]),
        printed=bool(claims["printed"]),
        called=bool(claims["tried"]),
    )


def equivalents(path: Path = EQUIVALENT) -> dict[str, str]:
    """The words of the equivalent faults, which no test can detect, with the reasons."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    reasons = {}
    for line in lines:
        words, _, reason = line.rpartition(" | ")
        reasons[words] = reason
    return reasons


def page(outcomes: list[FaultOutcome], equivalent: Iterable[Fault], seed: int) -> str:
    """The table by topic and the lists of undetected faults."""
    excluded = len(list(equivalent))
    reason = "equivalent to the code and are listed in `tools/mutation_testing/equivalent.txt`"
    parts = [
        HEADER,
        f"{len(outcomes)} faults with seed {seed}; {excluded} more are {reason}.\n",
        table(outcomes),
        _listed("Detected by nothing", [t for t in outcomes if not t.detected]),
        _listed("Not detected by tests", [t for t in outcomes if not t.tests and t.detected]),
        _listed(
            "Not detected by claims",
            [t for t in outcomes if not t.claims and not t.crashed and t.detected],
        ),
    ]
    return "\n".join(parts)


def table(outcomes: list[FaultOutcome]) -> str:
    """Counts and shares by topic."""
    lines = [
        "| topic | faults | crash | tests | claims | stated | printed | together |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    topics = sorted({one.fault.topic for one in outcomes})
    for topic in topics:
        lines.append(_line(topic, [one for one in outcomes if one.fault.topic == topic]))
    return "\n".join([*lines, _line("all", outcomes)]) + "\n"


def _line(name: str, outcomes: list[FaultOutcome]) -> str:
    running = [one for one in outcomes if not one.crashed]
    cells = [
        name,
        str(len(outcomes)),
        str(len(outcomes) - len(running)),
        _share([one.tests for one in outcomes]),
        _share([one.claims for one in running]),
        _share([one.stated for one in running]),
        _share([one.printed for one in running]),
        _share([one.detected for one in outcomes]),
    ]
    return f"| {' | '.join(cells)} |"


def _share(noticed: list[bool]) -> str:
    if not noticed:
        return "-"
    return f"{sum(noticed)} of {len(noticed)}, {sum(noticed) / len(noticed):.0%}"


def _listed(title: str, outcomes: list[FaultOutcome]) -> str:
    if not outcomes:
        return f"## {title}\n\nNone.\n"
    lines = [
        "| fault | function | original | fault | |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in outcomes:
        fault = one.fault
        texts = [_code(fault.before), _code(fault.after)]
        remark = "" if one.called else "no result calls it"
        cells = [f"`{fault.id}`", _code(fault.function or "(module)"), *texts, remark]
        lines.append(f"| {' | '.join(cells)} |")
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """Code in a table cell, shortened if it is long."""
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return f"`{short}`".replace("|", "\\|")
