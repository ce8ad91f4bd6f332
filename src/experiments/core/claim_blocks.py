"""Blocks and rows of claims, as the terminal, notebooks, `explore` and the report show them.

They are made from verdicts (the dicts of `Verdict.to_json`) or, before a run, from claims
(`claim_entry`). A claim is in one block. Each block has its own count, and no count covers two
blocks: printed claims, equations, claims by construction, errata by reading, derived checks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bythebook.experiments.core.verdicts import (
    CATEGORIES,
    CONSTRUCTION,
    DIFFERS,
    EQUATION,
    ERRATUM,
    HOLDS,
    READING,
    REPRODUCED,
    UNTESTED,
    count_verdicts,
)

if TYPE_CHECKING:
    from bythebook.experiments.core.claims import Claim

PRINTED, EQUATIONS, CONSTRUCTED, READ, DERIVED = BLOCKS = (
    "printed",
    "equations",
    CONSTRUCTION,
    READING,
    "derived",
)
HEADINGS = {
    PRINTED: "Printed claims",
    EQUATIONS: "Equations",
    CONSTRUCTED: "By construction",
    READ: "Errata by reading",
    DERIVED: "Derived checks",
}
MEANINGS = {
    PRINTED: "numbers and statements of the text that a run can contradict",
    EQUATIONS: "displayed equations, each compared with an independent computation",
    CONSTRUCTED: "printed claims that are true for any data, so they are not evidence",
    READ: "errors of the text that reading shows; nothing is computed",
    DERIVED: "checks that we added; the text does not state them",
}


@dataclass(frozen=True)
class Detail:
    """A labelled text below a claim."""

    label: str
    text: str
    is_code: bool = False


_STATEMENTS = ("holds", "does not hold", "not decided")  # the computed values of statements
_REASONS = ("Computed", "Reading", "Rule", "Source")


@dataclass(frozen=True)
class Row:
    """A claim as a reader sees it, and the details that a view folds."""

    index: int  # of the claim in the list that the blocks were made from
    says: str
    printed: str  # empty for a statement
    computed: str
    verdict: str  # a word: reproduced, holds, by construction; empty before a run
    category: str  # the category of the claim, for its colour and symbol; empty before a run
    mark: str  # "weak", "expected reproduced"
    notes: tuple[Detail, ...]  # shown: the correction, and the reason of an unfavourable verdict
    details: tuple[Detail, ...]  # folded: expression, definitions, evidence, tolerance, history

    @property
    def reasons(self) -> tuple[Detail, ...]:
        """The details that say in words and numbers why a statement has its verdict."""
        if self.printed or self.computed not in _STATEMENTS:
            return ()
        return tuple(entry for entry in self.details if entry.label in _REASONS)

    @property
    def other_details(self) -> tuple[Detail, ...]:
        """The details that are no reasons."""
        return tuple(entry for entry in self.details if entry not in self.reasons)

    @property
    def verdict_text(self) -> str:
        """The verdict with its mark: `consistent (weak)`."""
        return f"{self.verdict} ({self.mark})" if self.mark else self.verdict


@dataclass(frozen=True)
class Block:
    """Claims that are counted together."""

    name: str
    rows: tuple[Row, ...]
    count: str  # "5 reproduced, 1 erratum", "3 of 4 hold"
    failed: tuple[Row, ...]  # derived checks that do not hold, and rows that are not as expected

    @property
    def others(self) -> tuple[Row, ...]:
        """The rows that are not in `failed`."""
        return tuple(row for row in self.rows if row not in self.failed)

    @property
    def heading(self) -> str:
        return HEADINGS[self.name]

    @property
    def meaning(self) -> str:
        return MEANINGS[self.name]

    @property
    def title(self) -> str:
        """The heading with the count."""
        return f"{self.heading}: {self.count}"


def claim_entry(claim: "Claim") -> dict[str, Any]:
    """A claim that has no verdict yet, in the form of a verdict."""
    facts = asdict(claim)
    return {name: facts[name] for name in facts if name not in _JUDGED} | {
        "expression": claim.expression,
        "kind": claim.kind,
    }


_JUDGED = ("value", "corrected", "instead", "cause", "why")  # without meaning before a run


def claim_blocks(
    verdicts: Sequence[Mapping[str, Any]],
    agreement: Sequence[Sequence[int] | None] = (),
    causes: Sequence[str] = (),
) -> list[Block]:
    """The blocks of the claims that there are, in the order of `BLOCKS`.

    For each claim, `agreement` has the number of seeds with the expected verdict and of all seeds,
    and `causes` the cause of its erratum from the errata ledger.
    """
    seeds = agreement or [None] * len(verdicts)
    reasons = causes or [""] * len(verdicts)
    by_block: dict[str, list[Row]] = {name: [] for name in BLOCKS}
    members: dict[str, list[Mapping[str, Any]]] = {name: [] for name in BLOCKS}
    for index, (verdict, share, cause) in enumerate(zip(verdicts, seeds, reasons, strict=True)):
        name = block_of(verdict)
        by_block[name].append(claim_row(verdict, index, share, cause))
        members[name].append(verdict)
    return [
        Block(
            name,
            tuple(rows),
            _count(name, members[name]),
            tuple(
                row
                for row, verdict in zip(rows, members[name], strict=True)
                if verdict.get("verdict") == DIFFERS or not verdict.get("as_expected", True)
            ),
        )
        for name, rows in by_block.items()
        if rows
    ]


def block_of(verdict: Mapping[str, Any]) -> str:
    """The block in which a claim is listed and counted."""
    if verdict.get("origin") == DERIVED:
        return DERIVED
    if verdict.get("kind") == EQUATION:
        return EQUATIONS
    if verdict.get("by") == READING and verdict.get("verdict", ERRATUM) == ERRATUM:
        return READ
    if verdict.get("by") == CONSTRUCTION and verdict.get("verdict", REPRODUCED) == REPRODUCED:
        return CONSTRUCTED
    return PRINTED


def _count(name: str, verdicts: Sequence[Mapping[str, Any]]) -> str:
    """The count of one block as text; errata are counted once for each cause."""
    if name in (CONSTRUCTED, READ) or "verdict" not in verdicts[0]:
        return str(len(verdicts))
    if name == DERIVED:
        holding = sum(verdict["verdict"] != DIFFERS for verdict in verdicts)
        return f"{holding} of {len(verdicts)} hold"
    if name == EQUATIONS:
        words = Counter(verdict["verdict"] for verdict in verdicts)
        hold = words.pop(HOLDS, 0)
        texts = [f"{hold} {'holds' if hold == 1 else 'hold'}"] if hold else []
        others = (f"{count} {_plural(word, count)}" for word, count in sorted(words.items()))
        return ", ".join([*texts, *others])
    counts = count_verdicts(verdicts)
    return ", ".join(
        f"{counts[word]} {_plural(word, counts[word])}" for word in CATEGORIES if counts[word]
    )


def _plural(word: str, count: int) -> str:
    return "errata" if word == ERRATUM and count > 1 else word


def claim_row(
    verdict: Mapping[str, Any],
    index: int = 0,
    seeds: Sequence[int] | None = None,
    cause: str = "",
) -> Row:
    """The row of a verdict, or of a claim that has none yet."""
    name, word = block_of(verdict), str(verdict.get("verdict", ""))
    category = word if name == DERIVED else str(verdict.get("standing", ""))
    marks = ["weak"] if verdict.get("weak") else []
    if not verdict.get("as_expected", True):
        marks.append(f"expected {verdict['expected']}")
    return Row(
        index,
        str(verdict["says"]),
        str(verdict.get("printed") or ""),
        "" if word == UNTESTED else str(verdict.get("computed") or ""),
        word if name == EQUATIONS else category,
        category,
        ", ".join(marks),
        (*_notes(verdict, cause), *(_seeds(seeds) if seeds and seeds[0] < seeds[1] else ())),
        (
            *_details(verdict),
            *(_seeds(seeds) if seeds and seeds[0] == seeds[1] else ()),
            *_history(verdict),
        ),
    )


def _seeds(seeds: Sequence[int]) -> Iterator[Detail]:
    yield Detail("Seeds", f"the expected verdict in {seeds[0]} of {seeds[1]} seeds")


def _notes(verdict: Mapping[str, Any], cause: str) -> Iterator[Detail]:
    """What a reader must see of a claim that the run does not simply confirm."""
    if verdict.get("corrected"):
        yield Detail("Corrected", str(verdict["corrected"]))
    if cause:
        yield Detail("Cause", cause)
    if verdict.get("why"):
        yield Detail("Explanation", str(verdict["why"]))
    if verdict.get("verdict") == DIFFERS and verdict.get("evidence"):
        yield Detail("Computed", str(verdict["evidence"]))


def _details(verdict: Mapping[str, Any]) -> Iterator[Detail]:
    """How a claim was tested."""
    is_equation = verdict.get("kind") == EQUATION
    if verdict.get("expression"):
        name = str(verdict["expression"])
        yield Detail("Equation" if is_equation else "Tested", name, is_code=True)
    for name, expression in (verdict.get("let") or {}).items():
        yield Detail("Where", f"{name} = {expression}", is_code=True)
    if verdict.get("quantifier"):
        yield Detail("In", str(verdict["quantifier"]))
    if verdict.get("reading"):
        yield Detail("Reading", str(verdict["reading"]))
    if verdict.get("evidence") and verdict.get("verdict") != DIFFERS:
        yield Detail("Computed", str(verdict["evidence"]))
    if verdict.get("instead"):
        yield Detail("Tested instead", str(verdict["instead"]), is_code=True)
    rule, because = str(verdict.get("judged") or ""), str(verdict.get("because") or "")
    if rule and rule not in (verdict.get("why"), "the statement is checked"):
        yield Detail("Rule", rule)
    if because and because not in rule:
        yield Detail("Source", because)
    if verdict.get("grade") and not is_equation:
        yield Detail("Data", str(verdict["grade"]))


def _history(verdict: Mapping[str, Any]) -> Iterator[Detail]:
    """Where else the claim is printed, and how it was changed."""
    if verdict.get("place"):
        yield Detail("Text", str(verdict["place"]))
    if verdict.get("changed"):
        yield Detail("Change of the claim", str(verdict["changed"]))
