"""Studies are found by reading their files, and imported when they are asked for."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import experiments.studies
from experiments.configuration.compose import _meant, parsed
from experiments.contract.errors import BadInput
from experiments.contract.study import Studies, Study, studies


def test_reading_the_files_finds_what_importing_them_finds() -> None:
    found: dict[str, type[Study]] = {}
    for module in pkgutil.walk_packages(experiments.studies.__path__, "experiments.studies."):
        content = importlib.import_module(module.name)
        for _, kind in inspect.getmembers(content, inspect.isclass):
            if issubclass(kind, Study) and kind is not Study and kind.__module__ == module.name:
                found[kind.name] = kind
    assert dict(studies()) == found
    assert list(studies()) == sorted(found)


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
    some = Studies({"ridge_path": "regression.ridge_path", "gone": "gone"})
    assert some["ridge_path"].name == "ridge_path"
    with pytest.raises(BadInput, match="the study module gone cannot be loaded"):
        some["gone"]
    assert some.get("unheard of") is None


@pytest.mark.parametrize(
    ("overrides", "meant"),
    [
        (["study=polynomial_order", "seed=1"], {"polynomial_order"}),
        (["+study=polynomial_order", "study.heads=1,2"], {"polynomial_order"}),
        (["study=polynomial_order,ridge_path"], {"polynomial_order", "ridge_path"}),
        (["experiment=fcml/fig-1.15"], {"polynomial_order"}),
        (["experiment=fcml/fig-1.15", "study=ridge_path"], {"polynomial_order", "ridge_path"}),
        (["experiment=glob(*)"], set()),
        (["study=coin_gam"], set()),
        (["study=choice(polynomial_order,ridge_path)"], {"polynomial_order", "ridge_path"}),
        (["experiment=mine/first"], set()),
        (["seed=1"], set()),
    ],
)
def test_only_the_studies_that_a_command_line_speaks_of_are_loaded(
    overrides: list[str], meant: set[str]
) -> None:
    assert _meant(parsed(overrides)) == meant
