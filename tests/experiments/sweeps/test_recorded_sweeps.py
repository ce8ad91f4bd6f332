"""Recorded sweeps: the look-up by id, tables for any metric, means calculated by hand."""

import statistics
from pathlib import Path

import pytest

from bythebook.experiments.cli import run
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps import recorded_sweeps

WORDS = [
    "-m",
    "study=polynomial_order",
    "study.data=null",
    "study.curve=polynomial",
    "study.repetitions=5",
    "study.noise=0.1,0.3",
    "seed=0,1,2",
]


@pytest.fixture
def sweep(outputs: Path) -> recorded_sweeps.RecordedSweep:
    assert run.main([*WORDS, "tracking=off"]) == 0
    return recorded_sweeps.find_sweep(outputs, next((outputs / "sweeps").iterdir()).name)


def test_a_sweep_is_found_by_the_beginning_of_its_id(
    outputs: Path, sweep: recorded_sweeps.RecordedSweep
) -> None:
    digits = sweep.id.removeprefix("sweep-")
    for name in (sweep.id, digits, digits[:3], sweep.id[:9]):
        assert recorded_sweeps.find_sweep(outputs, name).id == sweep.id
    (outputs / "sweeps" / f"sweep-{digits[:3]}x").mkdir()
    twin = outputs / "sweeps" / f"sweep-{digits[:3]}x" / "sweep.json"
    twin.write_text((sweep.folder / "sweep.json").read_text())
    with pytest.raises(InputError, match="matches 2 sweeps"):
        recorded_sweeps.find_sweep(outputs, digits[:3])
    with pytest.raises(InputError, match="allowed: sweep-"):
        recorded_sweeps.find_sweep(outputs, "nothing")
    twin.write_text("{")
    with pytest.raises(InputError, match="could not read"):
        recorded_sweeps.find_sweep(outputs, twin.parent.name)
    found, problems = recorded_sweeps.read_all(outputs)
    assert ([s.id for s in found], len(problems)) == ([sweep.id], 1)


def test_means_of_an_expression_equal_a_calculation_by_hand(
    outputs: Path, sweep: recorded_sweeps.RecordedSweep
) -> None:
    metric = "min(loo_loss)"
    plan, table = recorded_sweeps.load_cells(sweep, outputs, metric)
    columns, rows = recorded_sweeps.means_table(plan, table)
    assert columns == ["noise", "runs", metric]
    by_noise: dict[float, list[float]] = {}
    for name in sweep.runs:
        record = RunStore(outputs).find(str(name))
        smallest = float(record.outcome["loo_loss"].values.min())
        by_noise.setdefault(record["science"]["knobs"]["noise"], []).append(smallest)
    for noise, runs, text in rows:
        values = by_noise[float(noise)]
        mean, _, rest = text.partition(" ± ")
        error, _, mark = rest.partition(" ")
        assert int(runs) == len(values)
        assert abs(float(mean) - statistics.mean(values)) <= 0.51 * 10 ** -len(mean.split(".")[1])
        expected = statistics.stdev(values) / len(values) ** 0.5
        assert abs(float(error) - expected) <= 0.51 * 10 ** -len(error.split(".")[1])
        is_smallest = statistics.mean(values) == min(map(statistics.mean, by_noise.values()))
        assert mark == ("▼" if is_smallest else "▲")


def test_a_metric_that_no_run_has_is_rejected(
    outputs: Path, sweep: recorded_sweeps.RecordedSweep
) -> None:
    sweep.check("min(loo_loss)", outputs)
    sweep.check("share_loo_recovers", outputs)
    for metric in ("min(lo_loss)", "loo_loss", "__class__"):
        with pytest.raises(InputError, match="metric="):
            sweep.check(metric, outputs)
