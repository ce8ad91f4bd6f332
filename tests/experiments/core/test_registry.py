"""Names and topics of studies, from the files of the package."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bythebook.experiments.studies
from bythebook.experiments.core.registry import study_topics, to_snake_case, topic_of


def test_every_public_module_below_a_topic_is_a_study() -> None:
    files = [
        file for root in bythebook.experiments.studies.__path__ for file in Path(root).rglob("*.py")
    ]
    modules = [path for path in files if not path.name.startswith("_")]
    assert study_topics() == {path.stem: path.parent.name for path in modules}
    assert list(study_topics()) == sorted(study_topics())


def test_a_folder_added_to_the_package_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert topic_of("my_study") == ""
    (tmp_path / "mine").mkdir()
    for name in ("my_study.py", "_shared.py", "__init__.py"):
        (tmp_path / "mine" / name).touch()
    path = [*bythebook.experiments.studies.__path__, str(tmp_path)]
    monkeypatch.setattr(bythebook.experiments.studies, "__path__", path)
    assert topic_of("my_study") == "mine"
    assert "_shared" not in study_topics()


def test_listing_the_studies_imports_none() -> None:
    code = (
        "import sys; from bythebook.experiments.core.registry import study_topics; study_topics();"
        "avoided = ('bythebook.experiments.studies.', 'numpy');"
        "print([m for m in sys.modules if m.startswith(avoided)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)


@given(st.lists(words, min_size=1, max_size=4))
def test_a_class_name_gives_the_name_of_its_module(parts: list[str]) -> None:
    assert to_snake_case("".join(part.capitalize() for part in parts)) == "_".join(parts)
