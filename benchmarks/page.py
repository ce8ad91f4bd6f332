"""Writes the tables of `make bench` into docs/benchmarks.md, each between its marks."""

from pathlib import Path

from benchmarks.timing import Result, number

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def put(section: str, text: str) -> None:
    """Replace the text between the marks of a section."""
    start, end = (
        f"<!-- {section}: written by `make bench`, do not edit -->",
        f"<!-- end of {section} -->",
    )
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{PAGE.name} has no marks for '{section}'")
    PAGE.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def comparison(results: list[Result]) -> str:
    """Ratios; above 1 our code is faster."""
    lines = [
        "| case | size | peer | peer / ours | range | goal | ours | ours / floor | agree to |",
        "| --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for r in results:
        low, high = r.spread
        agree = f"{r.tolerance:.0e}" if r.tolerance is not None else ""
        lines.append(
            f"| {r.case} | {r.size} | {r.peer} | **{number(r.ratio)}** | {number(low)} to"
            f" {number(high)} | {r.goal} | {_time(r.ours_s)} | {_above_floor(r)} | {agree} |"
        )
    floors = {r.case: r.floor for r in results if r.floor}
    notes = {r.note: r for r in results if r.note}
    lines += [
        "",
        *(f"- Floor, {case}: {f.what}, {_time(f.seconds)}." for case, f in floors.items()),
    ]
    lines += [f"- {r.case}, {r.peer}: {note}" for note, r in notes.items()]
    return "\n".join(lines).rstrip()


def _above_floor(r: Result) -> str:
    """Our time divided by the floor; 1 is the best possible value."""
    return number(r.ours_s / r.floor.seconds) if r.floor else ""


def growth(results: list[Result]) -> str:
    """The growth of our cost, one line per case; equal work is listed once."""
    grown = {r.case: r for r in results if r.growth}
    if not grown:
        return ""
    lines = [
        "| case | sizes | ours | fitted exponent | theory |",
        "| --- | --- | --- | ---: | ---: |",
    ]
    for r in grown.values():
        assert r.growth is not None
        sizes = ", ".join(f"{size:,}" for size in r.growth.sizes)
        times = ", ".join(_time(value) for value in r.growth.seconds)
        exponent, theory = r.growth.exponent, r.growth.theory
        lines.append(f"| {r.case} | {sizes} | {times} | {exponent:.2f} | {theory:g} |")
    return "\n".join(lines)


def memory(results: list[Result]) -> str:
    """Peak memory in addition to the data."""
    rows = []
    for r in results:
        if r.memory:
            ours, peer = (f"{value / 2**20:,.0f} MiB" for value in r.memory)
            rows.append(f"| {r.case} | {r.peer} | {ours} | {peer} |")
    head = ["| case | peer | ours, peak memory | peer's |", "| --- | --- | ---: | ---: |"]
    return "\n".join([*head, *rows]) if rows else ""


def _time(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"
