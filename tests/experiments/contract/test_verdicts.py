"""Counting verdicts: what cannot fail apart, errata by cause."""

from typing import Any

from experiments.contract.verdicts import in_words, tallied


def test_errata_are_counted_by_cause() -> None:
    def found(standing: str, cause: str | None = None, place: str = "") -> dict[str, Any]:
        return {"verdict": standing, "standing": standing, "cause": cause, "place": place}

    one_covariance = [found("erratum", "covariance") for _ in range(10)]
    others = [found("erratum"), found("erratum"), found("erratum", "covariance", "notes 3.3")]
    counts = tallied([*one_covariance, *others, found("differs")])
    assert counts == {"erratum": 4, "differs": 1}


def test_verdicts_are_counted_in_words() -> None:
    names = ["reproduced", "erratum", "reproduced", "reproduced"]
    plain = {"cause": None, "place": ""}
    verdicts = [{"standing": name, "verdict": name, **plain} for name in names]
    assert in_words(verdicts) == "3 reproduced, 1 erratum"
    assert in_words([]) == ""
