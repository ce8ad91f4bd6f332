"""What came of the faults, as a page."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tools.mutants.faults import Fault

EQUIVALENT = Path(__file__).with_name("equivalent.txt")
HEADER = """# Planted faults

`make mutants` plants one small fault at a time into a copy of `src/models` (a sign, an operator, a
constant, a comparison, an index, a function) and runs the tests of the module and the results that
call the function. It wrote this page.

| column | counts | of |
| --- | --- | --- |
| crash | a result raises or hangs, and no claim of another comes out otherwise | all |
| tests | a test below `tests/models` fails | all |
| claims | a claim of any kind comes out otherwise | those that do not crash |
| stated | so does one that a text makes | those that do not crash |
| printed | and one of these that is not so by construction | those that do not crash |
| together | a test fails, a claim comes out otherwise or a result raises | all |

What a sample shows is mended, so its own share of tests says nothing of other faults: for that take
a seed that nobody has looked at, `python -m tools.mutants --seed <number>`.
"""


class Tried(NamedTuple):
    """A fault and all that noticed it."""

    fault: Fault
    crashed: bool
    raised: bool  # some result raises
    tests: bool
    claims: bool
    stated: bool
    printed: bool
    met: bool  # some result calls the function

    @property
    def noticed(self) -> bool:
        return self.tests or self.claims or self.raised


def tried(fault: Fault, tests: dict[str, Any], claims: dict[str, Any]) -> Tried:
    """The two rows of a fault as one."""
    return Tried(
        fault,
        crashed=bool(claims["crashed"]),
        raised=bool(claims["raised"]),
        tests=bool(tests["tests"]),
        claims=bool(claims["claims"]),
        stated=bool(claims["stated"]),
        printed=bool(claims["printed"]),
        met=bool(claims["tried"]),
    )


def equivalents(path: Path = EQUIVALENT) -> dict[str, str]:
    """The words of the faults that nobody could observe, and why not."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    found = {}
    for line in lines:
        words, _, reason = line.rpartition(" | ")
        found[words] = reason
    return found


def page(found: list[Tried], same: Iterable[Fault], seed: int) -> str:
    """The table by topic and the faults that were not noticed."""
    same = list(same)
    kinds = "equivalent to the code as it is and named in `tools/mutants/equivalent.txt`"
    parts = [
        HEADER,
        f"{len(found)} faults with seed {seed}; {len(same)} more are {kinds}.\n",
        table(found),
        _listed("Noticed by nothing", [t for t in found if not t.noticed]),
        _listed("Not noticed by tests", [t for t in found if not t.tests and t.noticed]),
        _listed(
            "Not noticed by claims",
            [t for t in found if not t.claims and not t.crashed and t.noticed],
        ),
    ]
    return "\n".join(parts)


def table(found: list[Tried]) -> str:
    """Counts and shares by topic."""
    lines = [
        "| topic | faults | crash | tests | claims | stated | printed | together |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    topics = sorted({one.fault.topic for one in found})
    for topic in topics:
        lines.append(_line(topic, [one for one in found if one.fault.topic == topic]))
    return "\n".join([*lines, _line("all", found)]) + "\n"


def _line(name: str, found: list[Tried]) -> str:
    running = [one for one in found if not one.crashed]
    cells = [
        name,
        str(len(found)),
        str(len(found) - len(running)),
        _share([one.tests for one in found]),
        _share([one.claims for one in running]),
        _share([one.stated for one in running]),
        _share([one.printed for one in running]),
        _share([one.noticed for one in found]),
    ]
    return f"| {' | '.join(cells)} |"


def _share(noticed: list[bool]) -> str:
    if not noticed:
        return "-"
    return f"{sum(noticed)} of {len(noticed)}, {sum(noticed) / len(noticed):.0%}"


def _listed(title: str, found: list[Tried]) -> str:
    if not found:
        return f"## {title}\n\nNone.\n"
    lines = [
        "| fault | function | instead of | stands | |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in found:
        fault = one.fault
        texts = [_code(fault.before), _code(fault.after)]
        remark = "" if one.met else "no result calls it"
        cells = [f"`{fault.id}`", _code(fault.function or "(module)"), *texts, remark]
        lines.append(f"| {' | '.join(cells)} |")
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """A piece of code in a cell, cut where it is long."""
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return f"`{short}`".replace("|", "\\|")
