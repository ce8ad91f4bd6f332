"""The scoreboard: every claim counted once, printed and derived apart."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from experiments.contract.verdicts import STANDINGS
from experiments.report.results import FIELDS
from experiments.report.scoreboard import COLUMNS, claim_records, markdown, rows, surprises

claims = st.lists(
    st.fixed_dictionaries(
        {
            "experiment": st.sampled_from(["fcml/a", "fcml/b", "prml/a"]),
            "book": st.sampled_from(["fcml", "prml"]),
            "origin": st.sampled_from(["printed", "derived"]),
            "standing": st.sampled_from(STANDINGS),
            "cause": st.sampled_from([None, "one", "two"]),
            "place": st.just(""),
        }
    ).map(
        lambda claim: (
            claim | {"verdict": claim["standing"].replace("by construction", "reproduced")}
        )
    ),
    min_size=1,
)


def count(cell: str) -> int:
    return 0 if cell == "-" else int(cell.partition(" ")[0])


@given(claims)
def test_every_claim_is_counted_once(found: list[dict[str, Any]]) -> None:
    *groups, total = rows(found, "book")
    numbers = [[count(cell) for cell in row[2:-1]] for row in groups]
    printed = [claim for claim in found if claim["origin"] == "printed"]
    errata = [claim for claim in printed if claim["verdict"] == "erratum"]
    causes = {(claim["book"], claim["cause"]) for claim in errata if claim["cause"]}
    alone = sum(claim["cause"] is None for claim in errata)
    assert sum(map(sum, numbers)) == len(printed) - len(errata) + len(causes) + alone
    assert [count(cell) for cell in total[2:-1]] == [
        sum(column) for column in zip(*numbers, strict=True)
    ]
    derived = [claim["verdict"] for claim in found if claim["origin"] == "derived"]
    hold = len(derived) - derived.count("differs")
    assert total[-1] == f"{hold} of {len(derived)} hold"
    assert total[1] == str(len({claim["experiment"] for claim in found}))


def test_the_records_of_claims_have_the_fields_that_are_documented(made: Any) -> None:
    found = claim_records(made.records)
    assert all(list(claim) == list(FIELDS) for claim in found)
    wanted = [len(stated) for stated in made.claims.values()]
    assert list(Counter(claim["experiment"] for claim in found).values()) == wanted
    assert [claim["claim"] for claim in surprises(found)] == ["a surprise"]


def test_a_markdown_table_is_as_wide_everywhere(made: Any) -> None:
    head, rule, *body = markdown(claim_records(made.records), "topic").splitlines()
    assert head.count("|") == rule.count("|") == len(COLUMNS) + 2
    assert {row.count("|") for row in body} == {head.count("|")}
    assert [name for name in STANDINGS if name not in head] == []
    assert body[-1].startswith("| all | 3 |")
