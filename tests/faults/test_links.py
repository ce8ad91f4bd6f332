"""Links in an outputs folder: no command writes to their targets outside the folder."""

import hashlib
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.store.record import Record

NAME = "fcml/fig-1.15"
COMMANDS = {
    "tables": ["tables", NAME],
    "figures": ["figures", NAME],
    "report": ["report", NAME],
    "sync": ["sync"],
    "run": ["run", f"experiment={NAME}", "force=true"],
    "sweep": ["run", "-m", "study=polynomial_order", "study.partitions=5,10", "tracking=off"],
    "list": ["list"],
}
LINKS = {
    "tables": ["tables", "tables/fcml", f"tables/{NAME}"],
    "figures": ["figures", "figures/screen", "figures/screen/fcml", f"figures/screen/{NAME}"],
    "report": ["report", "report-cache"],
    "sync": ["mlartifacts", "mlartifacts/polynomial_order", "runs"],
    "run": ["runs", "mlartifacts"],
    "sweep": ["runs", "sweeps"],
    "list": [".verdicts.json"],
}


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("command", "link"), [(c, link) for c in LINKS for link in LINKS[c]])
def test_no_command_writes_through_a_link_out_of_the_outputs_folder(
    recorded: Record, tracked: object, outputs: Path, tmp_path: Path, command: str, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    path = outputs / link
    if path.exists():
        path.rename(outside / "former")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside / "precious" if link.startswith(".") else outside)
    before = digest(outside)
    assert main(COMMANDS[command]) in (0, 2)
    assert digest(outside) == before


@pytest.mark.parametrize("command", ["tables", "figures"])
def test_a_file_that_is_a_link_is_replaced(
    recorded: Record, outputs: Path, tmp_path: Path, command: str
) -> None:
    assert main(COMMANDS[command]) == 0
    written = [path for path in (outputs / command).rglob("*") if path.is_file()]
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for path in written:
        path.unlink()
        path.symlink_to(precious)
    assert main(COMMANDS[command]) == 0
    assert precious.read_text() == "precious"
    assert not [path for path in written if path.is_symlink()]
