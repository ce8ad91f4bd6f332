"""Where a call's runs are kept and logged."""

from pathlib import Path
from typing import Any

import pytest

from experiments.contract.errors import BadInput
from experiments.interface import places
from experiments.tracking.client import ClientTracker
from experiments.tracking.local import LocalTracker
from experiments.tracking.tracker import Forgiving, Telling, Unreachable


def test_the_folder_is_stated_or_the_environments(outputs: Path, tmp_path: Path) -> None:
    assert places.folder(None) == outputs
    assert places.folder(tmp_path) == places.folder(str(tmp_path)) == tmp_path
    assert places.to_write(tmp_path / "new").is_dir()
    wrong: Any = 3
    with pytest.raises(BadInput, match=r"^outputs=3 is not a folder; .*'study.outputs'$"):
        places.folder(wrong)


def test_tracking(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    for track in (False, "off"):
        assert places.tracker(track, outputs) is None
    for track in (True, "local"):
        local = places.tracker(track, outputs)
        assert isinstance(local, Forgiving)
        assert isinstance(local.tracker, Telling)
        assert isinstance(local.tracker.tracker, LocalTracker)
    server = places.tracker("http://127.0.0.1:9", outputs)
    assert isinstance(server, Forgiving)
    assert isinstance(server.tracker, Telling)
    assert isinstance(server.tracker.tracker, ClientTracker)
    with pytest.raises(BadInput, match="tracking=server needs"):
        places.tracker("server", outputs)
    wrong: Any
    for wrong in ("clod", 1.5, None):
        with pytest.raises(BadInput, match="allowed: True, False, local, server, off or"):
            places.tracker(wrong, outputs)


def test_a_store_that_cannot_be_had_is_a_warning(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> dict[str, str]:
        raise Unreachable("nobody there")

    monkeypatch.setattr(LocalTracker, "put", gone)
    tracker = places.tracker(True, outputs)
    assert tracker is not None
    with pytest.warns(RuntimeWarning, match=r"not tracked \(nobody there\)"):
        assert tracker.put([]) == {}


def test_tags_are_checked_like_those_of_the_command_line() -> None:
    assert places.checked_tags({"paper": 3}) == {"paper": "3"}
    assert places.checked_tags(None) == {}
    with pytest.raises(BadInput, match="allowed: NAME=VALUE"):
        places.checked_tags({"seed": "3"})
