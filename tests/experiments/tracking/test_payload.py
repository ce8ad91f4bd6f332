"""The MLflow run of a record."""

from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking import payload
from bythebook.experiments.tracking.payload import (
    VERDICT_DIGEST_TAG,
    run_payload,
    verdict_digest,
    verdict_update,
)


def test_numbers_are_metrics_and_curves_have_their_coordinates_as_steps(record: Record) -> None:
    found = run_payload(record)
    steps = {step: value for name, value, step in found.metrics if name == "curves/loo_loss"}
    loss = record.outcome["loo_loss"]
    assert steps == dict(zip(loss.coord("order"), loss.values, strict=True))
    alone = {name: value for name, value, step in found.metrics if not name.startswith("curves/")}
    numbers = {k: v for k, v in record.metrics.items() if isinstance(v, int | float)}
    assert alone == numbers


def test_knobs_are_params_and_the_source_is_tags(record: Record) -> None:
    found = run_payload(record)
    assert set(found.params) == {*record["science"]["knobs"], "seed"}
    assert (found.experiment, found.name, found.status) == (record.study, "Figure 1.15", "FINISHED")
    expected = {"book": "fcml", "item": "Figure 1.15", "topic": "regression", "kind": "run"}
    assert expected.items() <= found.tags.items()
    assert all(found.tags.values())  # no empty tags
    assert found.end is not None
    assert found.end > found.start


def test_a_cell_has_its_label_as_name_and_a_parent(record: Record) -> None:
    found = run_payload(record, parent="feed", cell="seed=0")
    assert (found.name, found.artifacts) == ("seed=0", {})
    assert (found.tags["kind"], found.tags["mlflow.parentRunId"]) == ("cell", "feed")


def test_a_reworded_claim_updates_the_description_only(record: Record) -> None:
    claims = [{**claim, "says": f"again: {claim['says']}"} for claim in record["printed"]["claims"]]
    printed = {**record["printed"], "claims": claims}
    other = Record(record.folder, {**record.content, "printed": printed, "canonical": False})
    assert (
        verdict_digest(other)
        != verdict_digest(record)
        == run_payload(record).tags[VERDICT_DIGEST_TAG]
    )
    again = verdict_update(other)
    assert (again.metrics, again.params, again.artifacts, again.update) == ([], {}, {}, True)
    assert "again: " in again.tags["mlflow.note.content"]


def test_the_description_is_escaped(record: Record) -> None:
    claim = {**record["printed"]["claims"][0], "says": "<script>alert(1)</script> | x"}
    printed = {**record["printed"], "claims": [claim]}
    hostile = Record(record.folder, {**record.content, "printed": printed, "canonical": False})
    note = run_payload(hostile).tags["mlflow.note.content"]
    assert "<script>" not in note
    assert "\\|" in note


def test_the_figure_has_the_name_that_mlflow_requires(record: Record) -> None:
    found = payload.run_payload(record)
    assert found.tags["mlflow.loggedImages"] == "True"
    images = sorted(name for name in found.artifacts if name.startswith("images/"))
    assert [name.partition("+")[0] for name in images] == ["images/at a glance~figure"] * 2
    assert images[0].endswith("+compressed.webp")
    assert images[0].removesuffix("+compressed.webp") == images[1].removesuffix(".png")


def test_a_failed_run_has_its_error(record: Record) -> None:
    error = {"type": "ArithmeticError", "message": "<b>no</b>", "traceback": ""}
    failed = Record(record.folder, {**record.content, "status": "failed", "error": error})
    found = run_payload(failed)
    assert found.status == "FAILED"
    assert found.tags["error.type"] == "ArithmeticError"
    assert "Failed: ArithmeticError: &lt;b&gt;no" in found.tags["mlflow.note.content"]


def test_long_texts_are_truncated(record: Record) -> None:
    long = {**record["science"], "knobs": {"orders": [1] * 5000}}
    found = run_payload(Record(record.folder, {**record.content, "science": long}))
    assert max(map(len, found.params.values())) == 6000
    assert max(map(len, found.tags.values())) <= 7900
