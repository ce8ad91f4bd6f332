"""Write the scoreboard of the recorded runs into the README: `make update-readme`."""

from pathlib import Path

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.report import scoreboard
from bythebook.experiments.store.run_store import RunStore

README = Path(__file__).resolve().parents[1] / "README.md"
START = "<!-- scoreboard: written by `make update-readme`, do not edit -->"
END = "<!-- end of scoreboard -->"


def main() -> None:
    store = RunStore(resolve_output_dir())
    latest = {name: store.latest_run(name) for name in catalogue.experiment_names()}
    missing = [name for name, record in latest.items() if record is None]
    if missing:
        raise SystemExit(f"results without a run: {', '.join(missing)}; run `make reproduce` first")
    records = {name: record for name, record in latest.items() if record is not None}
    claims = scoreboard.claim_records(records)
    tables = [scoreboard.markdown(claims, by) for by in ("book", "topic")]
    before, _, rest = README.read_text().partition(START)
    _, _, after = rest.partition(END)
    README.write_text("\n".join([before + START, "", "\n".join(tables), END + after]))
    print(f"{len(records)} results, {len(claims)} claims")


if __name__ == "__main__":
    main()
