"""What a user can mistype is told in one line that names it and what is allowed."""

from pathlib import Path

import pytest

from experiments.cli import main

Capture = pytest.CaptureFixture[str]
RIDGE = ["run", "study=ridge_path"]
HEAD = "# @package _global_\ndefaults:\n  - override /study: ridge_path\n"


def refused(arguments: list[str], capsys: Capture) -> str:
    """The one line of a command that is refused."""
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("bythebook: ")
    assert told.err.count("\n") == 1, told.err
    return told.err.removeprefix("bythebook: ").rstrip("\n")


COMMANDS = {
    "": "no command is given; allowed: list, show, run",
    "rnu": "there is no command 'rnu' (did you mean 'run'?); allowed: list, show, run",
    "--hlep": "'--hlep' is not understood (did you mean '--help'?)",
    "list --josn": "'--josn' is not understood (did you mean '--json'?); usage: bythebook list",
    "show a b": "'b' is not understood; usage: bythebook show [-h] [--json] [--outputs DIR] name",
    "show": "the following arguments are required: name; usage: bythebook show",
    "show fcml/fig-1.51": "there is no experiment 'fcml/fig-1.51' (did you mean 'fcml/fig-1.5'?)",
    "show study:ridge_pth": "there is no study 'ridge_pth' (did you mean 'ridge_path'?)",
    "reproduce --jobs x": "--jobs x is not allowed; allowed: int",
    "ui --port 80a": "--port 80a is not allowed; allowed: int",
    "completion fish": "there is no shell 'fish'; allowed: bash, zsh",
}


@pytest.mark.parametrize("typed", COMMANDS)
def test_commands_and_options(typed: str, outputs: Path, capsys: Capture) -> None:
    assert refused(typed.split(), capsys).startswith(COMMANDS[typed])
    assert not list(outputs.iterdir())


@pytest.mark.parametrize(
    "verb", ["list", "show fcml/fig-1.1", "figures", "tables", "report", "sync"]
)
def test_a_folder_to_read_that_is_not_there(verb: str, tmp_path: Path, capsys: Capture) -> None:
    gone = tmp_path / "gone"
    line = refused([*verb.split(), "--outputs", str(gone)], capsys)
    assert line == f"--outputs {gone} is not a folder: nothing is recorded there"
    assert not gone.exists()
    assert (
        refused([*verb.split(), "--outputs", ""], capsys) == "--outputs is empty; allowed: a folder"
    )


OVERRIDES = {
    "study=1": "there is no study '1'; `bythebook run --help` shows all",
    "experiment=": "there is no experiment ''; `bythebook list` shows all",
    "experiment": "'experiment' is not understood; allowed: key=value",
    "study=ridge_path,polynomial_order": "'study=ridge_path,polynomial_order' has several values",
    "=1": "'=1' names no key",
    f"seed={'9' * 5000}": "'seed=99999999999999999999999999999999999...' has more than 300 digits",
    "seed=abc": "seed=abc is not allowed; allowed: int, >= 0",
    "seed=null": "seed=null is not allowed; allowed: int, >= 0",
    "~seed": "~seed takes out what every run needs",
    "~foo": "there is no 'foo'; allowed here: tracking, data",
    "seed=${seed}": "seed calls a resolver or another setting",
    "study.lambdas=1": "study.lambdas=1 is not allowed; allowed: list[float], >= 0",
    "study.orders.x=1": "study=ridge_path study.orders.x=1: ",
    "limit=1": "limit=1 is not a mapping; allowed: limit with seconds, memory_gb",
    "launch.workers=0": "launch.workers=0 is not allowed; allowed: int, >= 1",
    "launch.cluster=pbs": "launch.cluster=pbs is not allowed; allowed: str, one of slurm, local",
    "tracking.kind=cloud": "tracking.kind=cloud is not allowed; allowed: str, one of local, server",
    "claims=[{metrc:a}]": "there is no 'claims.metrc'; allowed here: says, value",
    "hydra/launcher=nope": "'hydra/launcher=nope' has no effect: Hydra only composes",
    "--dryrun": "'--dryrun' is not understood (did you mean '--dry-run'?)",
    "hydra.run.dir=x": "'hydra.run.dir=x' has no effect: Hydra only composes here; outputs=",
}


@pytest.mark.parametrize("typed", OVERRIDES)
def test_overrides(typed: str, outputs: Path, capsys: Capture) -> None:
    assert refused([*RIDGE, typed], capsys).startswith(OVERRIDES[typed])
    assert not list(outputs.iterdir())


SWEEPS = {
    "seed=a,b": "seed=a is not allowed; allowed: int, >= 0",
    "seed=1,true": "seed=true is not allowed; allowed: int, >= 0",
    "seed=range(0,-1)": "study=ridge_path seed=range(0,-1): the sweep has no cells",
    "seed=range(0,3,0)": "'seed=range(0,3,0)': range() arg 3 must not be zero",
    "study.orders=[1],[a]": 'study.orders=["a"]: a is not allowed; allowed: list[int]',
    "seed=1,2 launch=dask": "launch=dask needs launch.address",
    "seed=1,2 launch=dask launch.address=here": "launch.address=here is not an address",
    "seed=1,2 tracking=server": "tracking=server needs tracking.uri",
    "seed=1,2 tracking=server tracking.uri=there": "tracking.uri=there is not an address; allowed:",
}


@pytest.mark.parametrize("typed", SWEEPS)
def test_sweeps(
    typed: str, outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MLFLOW_TRACKING_URI", "DASK_SCHEDULER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    assert refused([*RIDGE, "-m", *typed.split()], capsys).startswith(SWEEPS[typed])
    assert not list(outputs.iterdir())


def test_an_option_may_stand_between_overrides(outputs: Path, capsys: Capture) -> None:
    plans = set()
    words = ["study=ridge_path", "seed=1,2", "tracking=off"]
    for place in (0, 1):
        assert main(["run", *words[:place], "-m", *words[place:], "--dry-run"]) == 0
        plans.add(capsys.readouterr().out)
    assert len(plans) == 1
    assert "2 cells" in plans.pop()


FILES = {
    HEAD + "claims:\n  - {metrc: x, says: a}\n": "there is no 'claims.metrc'; allowed",
    HEAD + "claims:\n  - {value: x, within: a, says: a}\n": "claims.within=a is not allowed",
    HEAD + "source: {bok: fcml}\n": "there is no 'source.bok' (did you mean 'book'?)",
    HEAD + "study: {lamda: 1}\n": "there is no 'study.lamda' (did you mean 'lambdas'?)",
    HEAD + "study: {orders: [a]}\n": 'study.orders=["a"]: a is not allowed',
    HEAD + "claim: []\n": "there is no 'claim' (did you mean 'claims'?); allowed here: study",
    HEAD + "hydra: {job: {env_set: {PATH: x}}}\n": "there is no 'hydra'; allowed here: study",
    HEAD + "launch: {options: {local_setup: [ls]}}\n": "there is no 'launch'; allowed here: study",
    HEAD + "outputs: /tmp\n": "there is no 'outputs'; allowed here: study",
}
SHAPES = {
    "": "experiment/mine/first: first.yaml does not begin with `# @package _global_`",
    HEAD.partition("\n")[2]: "experiment/mine/first: first.yaml does not begin with `# @package",
    "\xff": "experiment/mine/first: first.yaml is not text in UTF-8",
}


@pytest.mark.parametrize("text", [*FILES, *SHAPES])
def test_files(text: str, outputs: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "experiment" / "mine" / "first.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode("latin-1"))
    line = refused(["run", "--config-dir", str(tmp_path), "experiment=mine/first"], capsys)
    wanted = f"experiment/mine/first: {FILES[text]}" if text in FILES else SHAPES[text]
    assert line.startswith(wanted)
    assert not list(outputs.iterdir())
