"""No command imports a module that is in the current folder or in the outputs folder."""

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

LIBRARIES = ("models", "experiments", "numpy", "scipy", "pandas", "matplotlib", "yaml", "hydra")
LIBRARIES += ("mlflow", "uvicorn", "starlette", "sqlalchemy", "omegaconf", "numba", "rich", "click")
COMMAND = Path(sys.prefix) / "bin" / "bythebook"


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder with a module of every standard name, each of which leaves a mark when imported."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    set_traps(folder, tmp_path / "marks")
    return folder


def set_traps(folder: Path, marks: Path) -> None:
    text = f"open({str(marks)!r}, 'a').write(__file__ + '\\n')\nraise SystemExit(99)\n"
    for name in {*sys.stdlib_module_names, *LIBRARIES} - set(sys.builtin_module_names):
        (folder / f"{name}.py").write_text(text)


def sprung(folder: Path) -> str:
    marks = folder.parent / "marks"
    return marks.read_text() if marks.exists() else ""


@pytest.mark.parametrize(
    "words",
    [
        [
            "run",
            "-m",
            "study=polynomial_order",
            "study.data=null",
            "study.curve=polynomial",
            "seed=0,1,2",
            "jobs=2",
        ],
        ["reproduce", "fcml/fig-1.15", "fcml/fig-1.10", "--jobs", "2"],
        ["robustness", "fcml/fig-1.9", "--seeds", "2", "--jobs", "2"],
    ],
    ids=lambda words: words[0],
)
def test_worker_processes_import_nothing_from_the_current_folder(
    trap: Path, outputs: Path, words: list[str]
) -> None:
    del outputs  # BYTHEBOOK_OUTPUTS
    done = subprocess.run([COMMAND, *words], cwd=trap, capture_output=True, text=True, check=False)
    assert sprung(trap) == ""
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr


def test_figures_and_report_import_nothing_from_the_current_folder(
    trap: Path, outputs: Path
) -> None:
    set_traps(outputs, trap.parent / "marks")
    for words in (["reproduce", "fcml/fig-1.1*", "--tracking", "off"], ["figures"], ["report"]):
        done = subprocess.run([COMMAND, *words], cwd=trap, capture_output=True, check=False)
        assert (words, done.returncode, sprung(trap)) == (words, 0, "")


def test_python_m_bythebook_drops_the_current_folder(trap: Path, outputs: Path) -> None:
    """Python itself imports a few modules before; the traps are those that come after."""
    del outputs
    loaded = subprocess.run(
        [sys.executable, "-c", "import runpy, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    for name in {"typing", *loaded.stdout.split()}:
        (trap / f"{name}.py").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "bythebook", "list", "fcml/1"],
        cwd=trap,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, sprung(trap)) == (0, "")


def test_the_user_interface_imports_nothing_from_the_outputs_folder(
    trap: Path, outputs: Path, empty_store: Path
) -> None:
    (outputs / "mlflow.db").write_bytes(empty_store.read_bytes())
    set_traps(outputs, trap.parent / "marks")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [COMMAND, "ui", "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, cwd=trap, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = re.match(r"http://[\d.:]+", server.stdout.readline())
            assert address is not None, sprung(trap)
            with urllib.request.urlopen(f"{address[0]}/health") as response:
                assert response.status == 200
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()
    assert sprung(trap) == ""


def test_own_modules_beside_a_script_do_no_harm(tmp_path: Path, outputs: Path) -> None:
    for name in ("models", "experiments", "conf"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('this is the user's own module')\n")
    script = tmp_path / "script.py"
    script.write_text(
        "from bythebook import run, sweep\n"
        "print(run('fcml/fig-1.15', tracking='off', figures=False).outcome['loo_loss'].dims)\n"
        "print(len(sweep('polynomial_order', seed=range(3), jobs=2, tracking='off').cells))\n"
    )
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["('order',)", "3"], done.stderr
