"""The scoreboard: every claim is counted once, printed claims and derived checks separately."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.core.verdicts import CATEGORIES
from bythebook.experiments.report.export import FIELD_DOCS
from bythebook.experiments.report.scoreboard import (
    COLUMNS,
    claim_records,
    markdown,
    scoreboard_rows,
    unexpected_claims,
)

claims = st.lists(
    st.fixed_dictionaries(
        {
            "experiment": st.sampled_from(["fcml/a", "fcml/b", "prml/a"]),
            "book": st.sampled_from(["fcml", "prml"]),
            "origin": st.sampled_from(["printed", "derived"]),
            "standing": st.sampled_from(CATEGORIES),
            "cause": st.sampled_from([None, "one", "two"]),
            "place": st.just(""),
            "function": st.sampled_from("fg"),
        }
    ).map(
        lambda claim: (
            claim
            | {"verdict": claim["standing"].replace("by construction", "reproduced")}
            | {"expression": f"{claim['book']}.{claim['function']}"}  # the name of an equation
        )
    ),
    min_size=1,
)


def count(cell: str) -> int:
    return 0 if cell == "-" else int(cell.partition(" ")[0])


@given(claims)
def test_every_claim_is_counted_once(found: list[dict[str, Any]]) -> None:
    *groups, total = scoreboard_rows(found, "book")
    numbers = [[count(cell) for cell in row[2:-1]] for row in groups]
    printed = [claim for claim in found if claim["origin"] == "printed"]
    errata = [claim for claim in printed if claim["verdict"] == "erratum"]
    causes = {(claim["book"], claim["cause"]) for claim in errata if claim["cause"]}
    alone = sum(claim["cause"] is None for claim in errata)
    named = [c for c in printed if c["standing"].startswith("equation")]
    equations = {(c["standing"], c["expression"]) for c in named}
    repeated = len(named) - len(equations)
    assert sum(map(sum, numbers)) == len(printed) - repeated - len(errata) + len(causes) + alone
    assert [count(cell) for cell in total[2:-1]] == [
        sum(column) for column in zip(*numbers, strict=True)
    ]
    derived = [claim["verdict"] for claim in found if claim["origin"] == "derived"]
    hold = len(derived) - derived.count("differs")
    assert total[-1] == f"{hold} of {len(derived)} hold"
    assert total[1] == str(len({claim["experiment"] for claim in found}))


def test_claim_records_have_the_documented_fields(made: Any) -> None:
    found = claim_records(made.records)
    assert all(list(claim) == list(FIELD_DOCS) for claim in found)
    wanted = [len(claims) for claims in made.claims.values()]
    assert list(Counter(claim["experiment"] for claim in found).values()) == wanted
    assert [claim["claim"] for claim in unexpected_claims(found)] == ["an unexpected verdict"]


def test_all_rows_of_a_markdown_table_have_the_same_number_of_cells(made: Any) -> None:
    head, rule, *body = markdown(claim_records(made.records), "topic").splitlines()
    assert head.count("|") == rule.count("|") == len(COLUMNS) + 2
    assert {row.count("|") for row in body} == {head.count("|")}
    assert [name for name in CATEGORIES if name not in head] == []
    assert body[-1].startswith("| all | 3 |")
