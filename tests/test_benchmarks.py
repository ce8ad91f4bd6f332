"""The benchmarks refuse to time what does not agree, and fit what they claim to fit."""

import json
from dataclasses import replace
from pathlib import Path

import benchmarks.__main__ as bench
import numpy as np
import pytest
from benchmarks import page, timing
from benchmarks.case import Case, Contest, Disagree, agree
from benchmarks.timing import Result


class Clock:
    """A clock that goes on by the work that is done, however busy the machine is."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 1e-6
        return self.now


CLOCK = Clock()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "time", CLOCK)


def case(ours: float = 1.0, **more: object) -> Case:
    def make(size: int) -> Contest:
        def work() -> dict[str, float]:
            CLOCK.now += 1e-4 * size
            return {"answer": ours}

        return Contest(work, lambda: {"answer": 1.0})

    settings = {"goal": 2, "make": make, "size": 8, "unit": "steps", "package": "json", "rounds": 2}
    return Case("sleeping", "nobody", **{**settings, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "theirs", "complaint"),
    [
        ({"a": 1.0}, {"b": 1.0}, "ours gives"),
        ({"a": np.ones(3)}, {"a": np.ones(4)}, "shape"),
        ({"a": np.array([1.0, 2.0])}, {"a": np.array([1.0, 2.0001])}, "differ by 0.0001"),
        ({"a": np.nan}, {"a": 1.0}, "differ by nan"),
    ],
)
def test_answers_that_do_not_agree_are_refused(
    ours: dict[str, object], theirs: dict[str, object], complaint: str
) -> None:
    with pytest.raises(Disagree, match=complaint):
        agree(ours, theirs, 1e-8)


def test_rounding_is_not_disagreement() -> None:
    agree({"a": np.array([1e6, 1e-6])}, {"a": np.array([1e6 + 1e-6, 0.0])}, 1e-8)


def test_a_wrong_answer_is_never_timed() -> None:
    with pytest.raises(Disagree):
        case(ours=1.1).run()


def test_the_exponent_is_that_of_the_work() -> None:
    result = case(sizes=(50, 100, 200, 400)).run()
    assert result.growth is not None
    assert result.growth.exponent == pytest.approx(1.0, abs=0.01)
    assert result.size == "8 steps"


def test_records_of_other_cases_stay(tmp_path: Path) -> None:
    first = Result("a", "p", "1 x", 1.0, 2.0, 2.0, (2.0, 2.0), "1")
    others = [Result(name, "p", "1 x", 1.0, 3.0, 3.0, (3.0, 3.0), "1") for name in ("b", "gone")]
    timing.save([first, *others], tmp_path / "b.json", lambda _: True)
    timing.save(
        [first.with_more(ratio=5.0)], tmp_path / "b.json", lambda row: row["case"] != "gone"
    )
    saved = json.loads((tmp_path / "b.json").read_text())
    assert [(record["case"], record["ratio"]) for record in saved] == [("a", 5.0), ("b", 3.0)]
    wanted = {"case", "peer", "size", "ours_s", "peer_s", "ratio", "spread", "goal"}
    assert wanted <= saved[0].keys()


def saved_cases(words: list[str], before: list[Result], path: Path) -> list[str]:
    timing.save(before, path / "bench.json", lambda _: False)
    bench.main(words)
    return [record["case"] for record in json.loads((path / "bench.json").read_text())]


def test_rows_of_cases_that_are_gone_go_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Result("sleeping", "nobody", "8 steps", 1.0, 1.0, 1.0, (1.0, 1.0), "2", tolerance=1e-8)
    sweep = row.with_more(case="a sweep", tolerance=None)
    gone = [row.with_more(case="renamed"), row.with_more(peer="x"), row.with_more(size="9 steps")]
    monkeypatch.setenv("BYTHEBOOK_OUTPUTS", str(tmp_path))
    monkeypatch.setattr(
        bench, "MODELS", {"some": [case()], "more": [replace(case(), name="quick")]}
    )
    assert saved_cases(["more"], [row, sweep, *gone], tmp_path) == ["sleeping", "a sweep", "quick"]
    monkeypatch.setattr(bench.scale, "results", lambda: [sweep.with_more(case="a better sweep")])
    monkeypatch.setattr(bench.pipeline, "results", list)
    monkeypatch.setattr(bench.page, "put", lambda *_: None)
    assert saved_cases(["sweeps"], [row, sweep], tmp_path) == ["sleeping", "a better sweep"]


def test_two_cases_of_one_name_are_both_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    twins = [case(), replace(case(), size=9)]
    monkeypatch.setattr(bench, "MODELS", {"some": twins, "more": [replace(case(), name="other")]})
    assert bench._chosen(["sleeping"]) == twins
    with pytest.raises(SystemExit, match=r"no case has 'waking' in its name; there are .*some"):
        bench._chosen(["waking"])


def test_a_table_goes_between_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.md"
    monkeypatch.setattr(page, "PAGE", path)
    start = "<!-- sweeps: written by `make bench`, do not edit -->"
    path.write_text(f"before\n{start}\nold\n<!-- end of sweeps -->\nafter\n")
    page.put("sweeps", "new")
    assert path.read_text() == f"before\n{start}\n\nnew\n\n<!-- end of sweeps -->\nafter\n"
    with pytest.raises(SystemExit, match="no marks for 'memory'"):
        page.put("memory", "new")
