"""Verdicts written by hand, one of each block, for the tests of the views."""

from typing import Any


def verdict(says: str = "the order is 3", **fields: Any) -> dict[str, Any]:
    """A reproduced printed number, with other fields on request."""
    word = fields.get("verdict", "reproduced")
    return {
        "says": says,
        "expression": "argmin(loss)",
        "kind": "number",
        "origin": "printed",
        "by": None,
        "printed": "3",
        "computed": "3.00",
        "value": 3,
        "evidence": "",
        "because": "",
        "verdict": word,
        "weak": False,
        "expected": "reproduced",
        "judged": "rounds to the printed digits",
        "corrected": None,
        "instead": None,
        "cause": None,
        "why": "",
        "changed": "",
        "place": "",
        "grade": "book",
        "standing": word,
        "as_expected": True,
        **fields,
    }


ERRATUM = verdict(
    "the loss", verdict="erratum", standing="erratum", corrected="0.5", why="a wrong digit"
)
STATEMENT = verdict("it falls", kind="statement", printed=None, computed="holds", evidence="1 < 2")
CONSTRUCTED = verdict("it adds up", by="construction", standing="by construction")
READ = verdict("a hat is missing", by="reading", verdict="erratum", standing="by reading")
EQUATION = verdict(
    "the update", kind="equation", expression="prml.update", printed=None,
    computed="gap 9e-15 in 20 cases", verdict="holds", standing="equation holds",
)  # fmt: skip
WRONG_EQUATION = EQUATION | {"verdict": "erratum", "standing": "equation erratum"}
CHECK = verdict("the library agrees", origin="derived")
FAILED_CHECK = CHECK | {
    "says": "the limit agrees",
    "verdict": "differs",
    "standing": "differs",
    "as_expected": False,
    "evidence": "1 == 2",
}
ALL = [CHECK, ERRATUM, EQUATION, CONSTRUCTED, FAILED_CHECK, STATEMENT, READ, WRONG_EQUATION]
