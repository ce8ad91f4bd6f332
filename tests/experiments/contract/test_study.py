"""Studies are found by reading their files, and imported when they are asked for."""

import subprocess
import sys

import pytest

from experiments.contract.errors import BadInput
from experiments.contract.places import places
from experiments.contract.study import Studies, studies


def test_every_module_holds_the_study_of_its_name() -> None:
    assert {name: kind.topic for name, kind in studies().items()} == places()
    assert list(studies()) == sorted(studies())


def test_one_study_does_not_load_the_others() -> None:
    code = (
        "import sys; from experiments.contract.study import studies;"
        "from experiments.configuration.digests import closure;"
        "studies()['ridge_path']; closure('experiments.studies.regression.ridge_path');"
        "print([m for m in ('scipy.stats', 'models.classification.roc',"
        " 'experiments.studies.regression.polynomial_order')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_module_that_cannot_be_loaded_costs_its_own_studies_only() -> None:
    some = Studies({"ridge_path": "regression", "gone": "gone"})
    assert some["ridge_path"].name == "ridge_path"
    with pytest.raises(BadInput, match=r"the study module gone\.gone cannot be loaded"):
        some["gone"]
    assert some.get("unheard of") is None
