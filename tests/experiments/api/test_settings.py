"""Arguments that say where runs are stored and logged."""

from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.api import settings
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.tracking.client import ClientTracker
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.tracker import (
    FaultTolerantTracker,
    ReportingTracker,
    TrackingUnavailableError,
)


def test_the_folder_is_an_argument_or_from_the_environment(outputs: Path, tmp_path: Path) -> None:
    assert settings.output_dir(None) == outputs
    assert settings.output_dir(tmp_path) == settings.output_dir(str(tmp_path)) == tmp_path
    assert settings.writable_output_dir(tmp_path / "new").is_dir()
    wrong: Any = 3
    with pytest.raises(InputError, match=r"^outputs=3 is not a folder; .*'study.outputs'$"):
        settings.output_dir(wrong)


def test_tracking(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert settings.tracker_for("off", None, outputs) is None
    local = settings.tracker_for("local", None, outputs)
    assert isinstance(local, FaultTolerantTracker)
    assert isinstance(local.tracker, ReportingTracker)
    assert isinstance(local.tracker.tracker, LocalTracker)
    server = settings.tracker_for("server", "http://127.0.0.1:9", outputs)
    assert isinstance(server, FaultTolerantTracker)
    assert isinstance(server.tracker, ReportingTracker)
    assert isinstance(server.tracker.tracker, ClientTracker)
    with pytest.raises(InputError, match="tracking=server needs"):
        settings.tracker_for("server", None, outputs)
    wrong: Any
    for wrong in ("clod", 1.5, None):
        with pytest.raises(InputError, match="is not allowed; allowed: 'local', 'server', 'off'"):
            settings.tracker_for(wrong, None, outputs)


def test_an_unavailable_store_is_a_warning(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(*_: object) -> dict[str, str]:
        raise TrackingUnavailableError("no answer")

    monkeypatch.setattr(LocalTracker, "log_runs", unavailable)
    tracker = settings.tracker_for("local", None, outputs)
    assert tracker is not None
    with pytest.warns(RuntimeWarning, match=r"MLflow is unavailable \(no answer\)"):
        assert tracker.log_runs([]) == {}


def test_tags_are_checked_like_those_of_the_command_line() -> None:
    assert settings.validated_tags({"paper": 3}) == {"paper": "3"}
    assert settings.validated_tags(None) == {}
    with pytest.raises(InputError, match="allowed: NAME=VALUE"):
        settings.validated_tags({"seed": "3"})
