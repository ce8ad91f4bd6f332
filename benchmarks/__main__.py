"""`make bench`: the cases, as ratios, into outputs/bench.json.

`python -m benchmarks hmm ridge` runs those whose group or name has one of the words in it.
"""

import importlib.util
import sys

from benchmarks import hmm, mixtures, pipeline, regression, scale, state_space, timing
from benchmarks.case import Case
from experiments.paths import outputs_folder

MODELS = {
    "hmm": hmm.CASES,
    "mixtures": mixtures.CASES,
    "regression": regression.CASES,
    "state_space": state_space.CASES,
}
COMMANDS = {"pipeline": pipeline.results, "scale": scale.results}


def main(words: list[str]) -> None:
    if words == ["growth"]:
        print(scale.growth())
        return
    cases = [
        case
        for group, members in MODELS.items()
        for case in members
        if not words or any(word in f"{group} {case.name} {case.peer}" for word in words)
    ]
    commands = [action for name, action in COMMANDS.items() if not words or name in words]
    if not cases and not commands:
        known = ", ".join([*MODELS, *COMMANDS, "growth"])
        raise SystemExit(f"no case has '{words[0]}' in its name; there are {known}")
    results = [result for case in cases for result in _run(case)]
    results += [result for action in commands for result in action()]
    path = outputs_folder() / "bench.json"
    timing.save(results, path)
    print(timing.table(results))
    print(f"\n{path}")


def _run(case: Case) -> list[timing.Result]:
    if importlib.util.find_spec(case.package) is None:
        print(f"{case.package} is not installed: pip install 'bythebook[bench]'", file=sys.stderr)
        return []
    print(f"{case.name}, {case.peer}", file=sys.stderr)
    return [case.run()]


if __name__ == "__main__":
    main(sys.argv[1:])
