"""What MLflow is told of a recorded run."""

from experiments.records.record import Record
from experiments.tracking import runs
from experiments.tracking.runs import JUDGED, judged, payload, refreshed


def test_numbers_are_metrics_and_curves_have_their_coordinates_as_steps(record: Record) -> None:
    found = payload(record)
    steps = {step: value for name, value, step in found.metrics if name == "curves/loo_loss"}
    loss = record.outcome["loo_loss"]
    assert steps == dict(zip(loss.along("order"), loss.values, strict=True))
    alone = {name: value for name, value, step in found.metrics if not name.startswith("curves/")}
    numbers = {k: v for k, v in record.metrics.items() if isinstance(v, int | float)}
    assert alone == numbers


def test_every_knob_is_a_parameter_and_the_place_in_the_book_a_tag(record: Record) -> None:
    found = payload(record)
    assert set(found.params) == {*record["science"]["knobs"], "seed"}
    assert (found.experiment, found.name, found.status) == (record.study, "Figure 1.15", "FINISHED")
    wanted = {"book": "fcml", "item": "Figure 1.15", "topic": "regression", "kind": "run"}
    assert wanted.items() <= found.tags.items()
    assert all(found.tags.values())  # an empty tag says nothing
    assert found.end is not None
    assert found.end > found.start


def test_a_cell_is_named_after_what_was_swept_and_hangs_below_its_parent(record: Record) -> None:
    found = payload(record, parent="feed", cell="seed=0")
    assert (found.name, found.artifacts) == ("seed=0", {})
    assert (found.tags["kind"], found.tags["mlflow.parentRunId"]) == ("cell", "feed")


def test_a_claim_in_other_words_is_told_anew_and_nothing_else(record: Record) -> None:
    claims = [{**claim, "says": f"again: {claim['says']}"} for claim in record["printed"]["claims"]]
    printed = {**record["printed"], "claims": claims}
    other = Record(record.folder, {**record.content, "printed": printed, "canonical": False})
    assert judged(other) != judged(record) == payload(record).tags[JUDGED]
    again = refreshed(other)
    assert (again.metrics, again.params, again.artifacts, again.update) == ([], {}, {}, True)
    assert "again: " in again.tags["mlflow.note.content"]


def test_what_is_shown_cannot_be_script(record: Record) -> None:
    claim = {**record["printed"]["claims"][0], "says": "<script>alert(1)</script> | x"}
    printed = {**record["printed"], "claims": [claim]}
    hostile = Record(record.folder, {**record.content, "printed": printed, "canonical": False})
    note = payload(hostile).tags["mlflow.note.content"]
    assert "<script>" not in note
    assert "\\|" in note


def test_mlflow_is_given_the_figure_as_it_names_images(record: Record) -> None:
    found = runs.payload(record)
    assert found.tags["mlflow.loggedImages"] == "True"
    images = sorted(name for name in found.artifacts if name.startswith("images/"))
    assert [name.partition("+")[0] for name in images] == ["images/at a glance~figure"] * 2
    assert images[0].endswith("+compressed.webp")
    assert images[0].removesuffix("+compressed.webp") == images[1].removesuffix(".png")


def test_a_failed_run_says_why(record: Record) -> None:
    error = {"type": "ArithmeticError", "message": "<b>no</b>", "traceback": ""}
    failed = Record(record.folder, {**record.content, "status": "failed", "error": error})
    found = payload(failed)
    assert found.status == "FAILED"
    assert found.tags["error.type"] == "ArithmeticError"
    assert "Failed: ArithmeticError: &lt;b&gt;no" in found.tags["mlflow.note.content"]


def test_what_is_too_long_for_mlflow_is_cut(record: Record) -> None:
    long = {**record["science"], "knobs": {"orders": [1] * 5000}}
    found = payload(Record(record.folder, {**record.content, "science": long}))
    assert max(map(len, found.params.values())) == 6000
    assert max(map(len, found.tags.values())) <= 7900
