"""`make bench`: every case, as ratios, into outputs/bench.json."""

from benchmarks import pipeline, timing
from experiments.paths import outputs_folder


def main() -> None:
    results = pipeline.results()
    path = outputs_folder() / "bench.json"
    timing.save(results, path)
    print(timing.table(results))
    print(f"\n{path}")


if __name__ == "__main__":
    main()
