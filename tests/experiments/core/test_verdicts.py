"""Counts of verdicts by category, errata by cause."""

from typing import Any

from bythebook.experiments.core.verdicts import count_verdicts, summarise_verdicts


def test_errata_are_counted_by_cause() -> None:
    def found(standing: str, cause: str | None = None, place: str = "") -> dict[str, Any]:
        return {"verdict": standing, "standing": standing, "cause": cause, "place": place}

    one_covariance = [found("erratum", "covariance") for _ in range(10)]
    others = [found("erratum"), found("erratum"), found("erratum", "covariance", "notes 3.3")]
    counts = count_verdicts([*one_covariance, *others, found("differs")])
    assert counts == {"erratum": 4, "differs": 1}


def test_counts_are_formatted_as_text() -> None:
    names = ["reproduced", "erratum", "reproduced", "reproduced"]
    plain = {"cause": None, "place": ""}
    verdicts = [{"standing": name, "verdict": name, **plain} for name in names]
    assert summarise_verdicts(verdicts) == "3 reproduced, 1 erratum"
    assert summarise_verdicts([]) == ""
