"""Studies are found by reading their files, and imported when they are asked for."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import experiments.studies
from experiments.configuration.compose import _meant
from experiments.contract.errors import BadInput
from experiments.contract.study import Studies, Study, studies


def test_reading_the_files_finds_what_importing_them_finds() -> None:
    found: dict[str, type[Study]] = {}
    for module in pkgutil.walk_packages(experiments.studies.__path__, "experiments.studies."):
        content = importlib.import_module(module.name)
        for _, kind in inspect.getmembers(content, inspect.isclass):
            if (
                issubclass(kind, Study)
                and kind is not Study
                and kind.__module__.endswith(module.name)
            ):
                found[kind.name] = kind
    assert dict(studies()) == found
    assert list(studies()) == sorted(found)


def test_one_study_does_not_load_the_others() -> None:
    code = (
        "import sys; from experiments.contract.study import studies;"
        "from experiments.configuration.digests import closure;"
        "studies()['ridge_path']; closure('experiments.studies.classification.classifier_metrics');"
        "print([m for m in ('scipy.stats', 'models.classification.roc',"
        " 'experiments.studies.probability.coin_game')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_module_that_cannot_be_loaded_costs_its_own_studies_only() -> None:
    some = Studies({"coin_game": "probability.coin_game", "gone": "gone"})
    assert some["coin_game"].name == "coin_game"
    with pytest.raises(BadInput, match="the study module gone cannot be loaded"):
        some["gone"]
    assert some.get("unheard of") is None


@pytest.mark.parametrize(
    ("overrides", "meant"),
    [
        (["study=coin_game", "seed=1"], {"coin_game"}),
        (["+study=coin_game", "study.heads=1,2"], {"coin_game"}),
        (["study=coin_game,ridge_path"], {"coin_game", "ridge_path"}),
        (["experiment=fcml/fig-1.15"], {"polynomial_order"}),
        (["experiment=fcml/fig-1.15", "study=ridge_path"], {"polynomial_order", "ridge_path"}),
        (["experiment=glob(*)"], set()),
        (["study=coin_gam"], set()),
        (["study=choice(coin_game,ridge_path)"], set()),
        (["--config-dir=mine", "experiment=fcml/fig-1.15"], set()),
        (["-cd", "mine", "study=coin_game"], set()),
        (["hydra.searchpath=[file://mine]", "study=coin_game"], set()),
        (["seed=1"], set()),
    ],
)
def test_only_the_studies_that_a_command_line_speaks_of_are_loaded(
    overrides: list[str], meant: set[str]
) -> None:
    assert _meant(overrides) == meant
