"""Benchmarks: comparison of answers, timing, fitted exponents and the page."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import benchmarks.__main__ as bench
from benchmarks import page, timing
from benchmarks.case import Case, Contest, Disagree, agree
from benchmarks.timing import Floor, Limit, Result


class Clock:
    """A clock that advances with the work, independent of the load of the machine."""

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


def test_a_wrong_answer_is_not_timed() -> None:
    with pytest.raises(Disagree):
        case(ours=1.1).run()


def test_the_exponent_is_fitted_to_the_work() -> None:
    result = case(sizes=(50, 100, 200, 400)).run()
    assert result.growth is not None
    assert result.growth.exponent == pytest.approx(1.0, abs=0.01)
    assert result.size == "8 steps"


def test_records_of_other_parts_are_kept(tmp_path: Path) -> None:
    first = Result("a", "p", "1 x", 1.0, 2.0, 2.0, (2.0, 2.0), "1")
    second = first.with_more(case="b", floor=Limit("bare", 0.5))
    path = tmp_path / "b.json"
    timing.save("one", [first, second], path, measured="once")
    timing.save("two", [second], path, measured="once")
    timing.save("one", [first.with_more(ratio=5.0)], path, measured="again")
    saved = json.loads(path.read_text())
    assert saved["one"]["measured"] == "again"
    assert [(row["case"], row["ratio"]) for row in saved["one"]["results"]] == [("a", 5.0)]
    assert saved["two"]["results"][0]["floor"] == {"what": "bare", "seconds": 0.5}


def test_a_floor_is_timed_and_shown_as_a_ratio() -> None:
    def taking(seconds: float) -> Callable[[], None]:
        def work() -> None:
            CLOCK.now += seconds

        return work

    floor = Floor("bare work", taking(0.5))
    found = timing.compare("c", "p", "1", taking(2), taking(6), goal="3", floor=floor)
    assert found.floor is not None
    assert found.floor.seconds == pytest.approx(0.5, rel=1e-3)
    assert "| 2 s | 4 |" in page.comparison([found])
    assert "Floor, c: bare work, 500 ms." in page.comparison([found])
    bare = timing.compare("c", "p", "1", taking(2), taking(6), goal="3")
    assert "| 2 s |  |" in page.comparison([bare])


def test_a_case_has_the_floor_of_its_contest() -> None:
    def make(size: int) -> Contest:
        return Contest(dict, dict, floor=Floor("nothing", lambda: None))

    floor = case(make=make).run().floor
    assert floor is not None
    assert floor.what == "nothing"


def test_a_part_runs_alone_with_machine_and_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put: dict[str, str] = {}
    monkeypatch.setenv("BYTHEBOOK_OUTPUTS", str(tmp_path))
    monkeypatch.setitem(bench.MODELS, "hmm", [case()])
    monkeypatch.setattr(bench.page, "put", put.__setitem__)
    bench.main(["hmm"])
    assert [*put] == [*json.loads((tmp_path / "bench.json").read_text())] == ["hmm"]
    assert f"{bench.machine.processor()} ({bench.machine.cores()} cores, " in put["hmm"]
    assert f"numpy {np.__version__}" in put["hmm"]
    assert date.today().isoformat() in put["hmm"]


def test_an_unknown_word_is_refused_before_measuring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench, "PARTS", {"whole": lambda: pytest.fail("measured")})
    with pytest.raises(SystemExit, match="no part is 'hole'"):
        bench.main(["whole", "hole"])


def test_the_page_has_a_section_for_every_part() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    for part in bench.PARTS:
        assert f"<!-- {part}: written by `make bench`, do not edit -->" in text
        assert f"<!-- end of {part} -->" in text
        assert f"`{part}`" in text


def test_cases_of_equal_names_are_all_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    twins = [case(), replace(case(), size=9)]
    monkeypatch.setattr(bench, "MODELS", {"some": twins, "more": [replace(case(), name="other")]})
    assert bench._chosen(["sleeping"]) == twins
    with pytest.raises(SystemExit, match=r"no part is 'waking' .* parts: .*models"):
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
