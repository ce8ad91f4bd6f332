"""Counts of verdicts by category, errata by cause."""

from typing import Any

from sample_verdicts import verdict

from bythebook.experiments.core.verdicts import count_verdicts, summarise_verdicts


def test_errata_are_counted_by_cause() -> None:
    def found(standing: str, cause: str | None = None, place: str = "") -> dict[str, Any]:
        return {"verdict": standing, "standing": standing, "cause": cause, "place": place}

    one_covariance = [found("erratum", "covariance") for _ in range(10)]
    others = [found("erratum"), found("erratum"), found("erratum", "covariance", "notes 3.3")]
    counts = count_verdicts([*one_covariance, *others, found("differs")])
    assert counts == {"erratum": 4, "differs": 1}


def test_errata_by_reading_are_counted_apart() -> None:
    def found(standing: str, cause: str | None) -> dict[str, Any]:
        return {"verdict": "erratum", "standing": standing, "cause": cause, "place": ""}

    by_reading = [found("by reading", "hat"), found("by reading", "hat"), found("by reading", None)]
    assert count_verdicts(by_reading) == {"by reading": 2}
    assert count_verdicts([*by_reading, found("erratum", "sign")]) == {
        "by reading": 2,
        "erratum": 1,
    }
    # A run confirms one of the two causes.
    assert count_verdicts([*by_reading, found("erratum", "hat")]) == {"by reading": 1, "erratum": 1}


def test_counts_are_formatted_as_text() -> None:
    names = ["reproduced", "erratum", "reproduced", "reproduced"]
    plain = {"cause": None, "place": ""}
    verdicts = [{"standing": name, "verdict": name, **plain} for name in names]
    assert summarise_verdicts(verdicts) == "3 reproduced, 1 erratum"
    assert summarise_verdicts([]) == ""
    checks = [{**entry, "origin": "derived"} for entry in verdicts]
    failed = {"standing": "differs", "verdict": "differs", "origin": "derived", **plain}
    assert summarise_verdicts([*verdicts, *checks, failed]) == (
        "3 reproduced, 1 erratum, 4 derived hold, 1 derived differ"
    )


def test_a_summary_has_equations_in_the_plural() -> None:
    holds = verdict(kind="equation", verdict="holds", standing="equation holds", expression="a.b")
    assert summarise_verdicts([holds]) == "1 equation holds"
    assert summarise_verdicts([holds, {**holds, "expression": "a.c"}]) == "2 equations hold"
