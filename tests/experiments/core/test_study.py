"""The registry imports a study when it is accessed."""

import subprocess
import sys

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.registry import study_topics
from bythebook.experiments.core.study import StudyRegistry, studies


def test_every_module_defines_the_study_of_its_name() -> None:
    assert {name: kind.topic for name, kind in studies().items()} == study_topics()
    assert list(studies()) == sorted(studies())


def test_one_study_does_not_load_the_others() -> None:
    code = (
        "import sys; from bythebook.experiments.core.study import studies;"
        "from bythebook.experiments.config.code_hash import imported_modules;"
        "studies()['ridge_path'];"
        "imported_modules('bythebook.experiments.studies.regression.ridge_path');"
        "print([m for m in ('scipy.stats', 'bythebook.models.classification.roc',"
        " 'bythebook.experiments.studies.regression.polynomial_order')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_module_that_cannot_be_imported_affects_its_own_study_only() -> None:
    some = StudyRegistry({"ridge_path": "regression", "missing": "missing"})
    assert some["ridge_path"].name == "ridge_path"
    with pytest.raises(
        InputError, match=r"the study module missing\.missing could not be imported"
    ):
        some["missing"]
    assert some.get("unheard of") is None
