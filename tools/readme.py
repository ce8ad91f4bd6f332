"""Put the scoreboard of the recorded runs into the README: `make readme`."""

from pathlib import Path

from experiments.configuration import catalogue
from experiments.configuration.paths import outputs_folder
from experiments.records.store import RunStore
from experiments.report import scoreboard

README = Path(__file__).resolve().parents[1] / "README.md"
START = "<!-- scoreboard: written by `make readme`, do not edit -->"
END = "<!-- end of scoreboard -->"


def main() -> None:
    store = RunStore(outputs_folder())
    found = {name: store.latest(name) for name in catalogue.names()}
    missing = [name for name, record in found.items() if record is None]
    if missing:
        raise SystemExit(f"not run yet: {', '.join(missing)}; `make reproduce` first")
    records = {name: record for name, record in found.items() if record is not None}
    claims = scoreboard.claim_records(records)
    tables = [scoreboard.markdown(claims, by) for by in ("book", "topic")]
    before, _, rest = README.read_text().partition(START)
    _, _, after = rest.partition(END)
    README.write_text("\n".join([before + START, "", "\n".join(tables), END + after]))
    print(f"{len(records)} results, {len(claims)} claims")


if __name__ == "__main__":
    main()
