"""`make bench`: the cases, as ratios, into outputs/bench.json.

`python -m benchmarks pipeline scale` runs some of them; `growth` prints how cost grows with size.
"""

import sys

from benchmarks import pipeline, scale, timing
from experiments.paths import outputs_folder

CASES = {"pipeline": pipeline.results, "scale": scale.results}


def main(names: list[str]) -> None:
    if names == ["growth"]:
        print(scale.growth())
        return
    unknown = [name for name in names if name not in CASES]
    if unknown:
        raise SystemExit(f"no case '{unknown[0]}'; allowed: {', '.join(CASES)}, growth")
    results = [result for name in names or CASES for result in CASES[name]()]
    path = outputs_folder() / "bench.json"
    timing.save(results, path)
    print(timing.table(results))
    print(f"\n{path}")


if __name__ == "__main__":
    main(sys.argv[1:])
