"""Studies are found by their place, without importing one."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import experiments.studies
from experiments.contract.places import places, snake, topic


def test_every_public_module_below_a_topic_is_a_study() -> None:
    files = [file for root in experiments.studies.__path__ for file in Path(root).rglob("*.py")]
    modules = [path for path in files if not path.name.startswith("_")]
    assert places() == {path.stem: path.parent.name for path in modules}
    assert list(places()) == sorted(places())


def test_a_folder_that_is_added_is_seen_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert topic("my_study") == ""
    (tmp_path / "mine").mkdir()
    for name in ("my_study.py", "_shared.py", "__init__.py"):
        (tmp_path / "mine" / name).touch()
    path = [*experiments.studies.__path__, str(tmp_path)]
    monkeypatch.setattr(experiments.studies, "__path__", path)
    assert topic("my_study") == "mine"
    assert "_shared" not in places()


def test_looking_imports_no_study() -> None:
    code = (
        "import sys; from experiments.contract.places import places; places();"
        "print([m for m in sys.modules if m.startswith(('experiments.studies.', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)


@given(st.lists(words, min_size=1, max_size=4))
def test_a_class_is_called_after_its_module(parts: list[str]) -> None:
    assert snake("".join(part.capitalize() for part in parts)) == "_".join(parts)
