"""results.json and results.csv: strict, documented, with the same records."""

import csv
import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.report import export
from bythebook.experiments.report.scoreboard import claim_records


def test_results_files(made: Any) -> None:
    def refuse(constant: str) -> float:
        raise AssertionError(constant)

    claims = json.loads(made.text("results.json"), parse_constant=refuse)
    expected = claim_records(made.records)
    assert [list(claim) for claim in claims] == [list(export.FIELD_DOCS)] * len(expected)
    assert len(claims) == 7
    by_text = {claim["claim"]: claim for claim in claims}
    assert by_text["not finite"]["value"] is None
    assert by_text["third order is best"]["value"] == 3
    with (made.root / "results.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [line["claim"] for line in lines] == [claim["claim"] for claim in claims]
    assert [line["as_expected"] for line in lines] == [
        str(c["as_expected"]).lower() for c in claims
    ]
    for name in export.FIELD_DOCS:
        assert f"<code>{name}</code>" in made.text("fields.html")


def refuse(constant: str) -> float:
    raise AssertionError(constant)


text = st.text(st.characters(exclude_characters="\r", codec="utf-8"))
values = st.none() | st.booleans() | st.integers() | st.floats() | text


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(export.FIELD_DOCS, values)), max_size=3))
def test_json_and_csv_contain_the_same_values(claims: list[dict[str, Any]]) -> None:
    """Also for quotes, line ends, NaN and infinity."""
    plain = json.loads(export.to_json(claims), parse_constant=refuse)
    lines = list(csv.DictReader(io.StringIO(export.to_csv(claims), newline="")))
    assert len(plain) == len(lines) == len(claims)
    for claim, entry, line in zip(claims, plain, lines, strict=True):
        for name, value in claim.items():
            missing = value is None or value in (float("inf"), -float("inf")) or value != value
            assert (entry[name] is None) == missing
            written = str(value).lower() if isinstance(value, bool) else str(value)
            assert line[name] == ("" if missing else written)
