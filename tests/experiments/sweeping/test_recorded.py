"""Recorded sweeps: found by a few letters, shown by any metric, means as by hand."""

import statistics
from pathlib import Path

import pytest

from experiments.commands import run
from experiments.contract.errors import BadInput
from experiments.records.store import RunStore
from experiments.sweeping import recorded

WORDS = ["-m", "study=order_recovery", "study.repetitions=5", "study.noise=0.1,0.3", "seed=0,1,2"]


@pytest.fixture
def sweep(outputs: Path) -> recorded.Swept:
    assert run.main([*WORDS, "tracking=off"]) == 0
    return recorded.find(outputs, next((outputs / "sweeps").iterdir()).name)


def test_it_is_found_by_the_beginning_of_its_id(outputs: Path, sweep: recorded.Swept) -> None:
    digits = sweep.id.removeprefix("sweep-")
    for name in (sweep.id, digits, digits[:3], sweep.id[:9]):
        assert recorded.find(outputs, name).id == sweep.id
    (outputs / "sweeps" / f"sweep-{digits[:3]}x").mkdir()
    twin = outputs / "sweeps" / f"sweep-{digits[:3]}x" / "sweep.json"
    twin.write_text((sweep.folder / "sweep.json").read_text())
    with pytest.raises(BadInput, match="fits 2 sweeps"):
        recorded.find(outputs, digits[:3])
    with pytest.raises(BadInput, match="there are: sweep-"):
        recorded.find(outputs, "nothing")
    twin.write_text("{")
    with pytest.raises(BadInput, match="cannot be read"):
        recorded.find(outputs, twin.parent.name)
    found, problems = recorded.read_all(outputs)
    assert ([s.id for s in found], len(problems)) == ([sweep.id], 1)


def test_means_of_an_expression_are_those_by_hand(outputs: Path, sweep: recorded.Swept) -> None:
    metric = "min(loo_loss)"
    plan, table = recorded.cells(sweep, outputs, metric)
    columns, rows = recorded.pivot(plan, table)
    assert columns == ["noise", "runs", metric]
    by_noise: dict[float, list[float]] = {}
    for name in sweep.runs:
        record = RunStore(outputs).find(str(name))
        least = float(record.outcome["loo_loss"].values.min())
        by_noise.setdefault(record["science"]["knobs"]["noise"], []).append(least)
    for noise, runs, told in rows:
        values = by_noise[float(noise)]
        mean, _, rest = told.partition(" ± ")
        error, _, mark = rest.partition(" ")
        assert int(runs) == len(values)
        assert abs(float(mean) - statistics.mean(values)) <= 0.51 * 10 ** -len(mean.split(".")[1])
        expected = statistics.stdev(values) / len(values) ** 0.5
        assert abs(float(error) - expected) <= 0.51 * 10 ** -len(error.split(".")[1])
        least = statistics.mean(values) == min(map(statistics.mean, by_noise.values()))
        assert mark == ("▼" if least else "▲")


def test_a_metric_that_no_run_has_is_refused(outputs: Path, sweep: recorded.Swept) -> None:
    sweep.check("min(loo_loss)", outputs)
    sweep.check("share_loo_recovers", outputs)
    for metric in ("min(lo_loss)", "loo_loss", "__class__"):
        with pytest.raises(BadInput, match="metric="):
            sweep.check(metric, outputs)
