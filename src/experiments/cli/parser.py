"""The parser of the command line: commands, flags, help texts, and an example for each command."""

import argparse
import re
from typing import Any, NoReturn

from bythebook import __version__
from bythebook.experiments.core.errors import InputError

DATA_DIR_HELP = "folder of the authors' original files (BYTHEBOOK_DATA)"
_EXAMPLES = {
    "list": "bythebook list fcml/1 verdict:erratum",
    "show": "bythebook show fcml/fig-1.15",
    "equations": "bythebook equations prml/10.7 --errata",
    "reproduce": "bythebook reproduce fcml/1 study:ridge_path",
    "robustness": "bythebook robustness fcml/fig-1.16 --seeds 20",
    "runs": "bythebook runs study:ridge_path --where 'seed < 5' --sort seed",
    "diff": "bythebook diff 3f2a 9c01",
    "figures": "bythebook figures fcml --style print --format pdf",
    "tables": "bythebook tables fcml/fig-1.15 --format latex",
    "notebook": "bythebook notebook fcml/fig-1.15 -o mine.ipynb",
    "explore": "bythebook explore fcml/fig-1.15",
    "report": "bythebook report fcml",
    "ui": "bythebook ui ridge_path",
    "verify": "bythebook verify 3f2a",
    "sync": "bythebook sync --tracking server --tracking-uri https://mlflow.example.org",
    "completion": 'eval "$(bythebook completion bash)"',
}


class _Parser(argparse.ArgumentParser):
    """A parser that raises `InputError` instead of exiting, and takes no abbreviated flags."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        from bythebook.experiments.core.suggestions import did_you_mean

        choice = re.search(
            r"argument (.+?): invalid choice: '(.*?)' \(.*choose from (.*)\)", message
        )
        value = re.search(r"argument (\S+): invalid (\w+) value: '(.*)'", message)
        if choice:
            known = re.findall(r"[\w-]+", choice[3])
            line = (
                f"there is no {choice[1].strip('<>')} '{choice[2]}'{did_you_mean(choice[2], known)}"
            )
            raise InputError(f"{line}; allowed: {', '.join(known)}")
        if value:
            raise InputError(f"{value[1]} {value[3]} is not allowed; allowed: {value[2]}")
        usage = " ".join(self.format_usage().split())
        raise InputError(f"{message}; {usage}")


def build_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser, and the parser of each command; the arguments of `run` are parsed by Hydra."""
    parser = _Parser(
        prog="bythebook",
        description="Recompute, track and evaluate the results in five machine-learning texts.",
        epilog="`bythebook run --help` explains how to change the knobs of a study.",
    )
    parser.add_argument("--version", action="version", version=f"bythebook {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="<command>", required=True)

    outputs = _Parser(add_help=False)
    outputs.add_argument(
        "--outputs", metavar="DIR", help="folder of the runs (default: the project's outputs/)"
    )
    selection = _Parser(add_help=False)
    selection.add_argument(
        "selection",
        nargs="*",
        help="a book (fcml), a chapter (fcml/1), a result (fcml/fig-1.15), a pattern"
        " ('fcml/fig-1.*'), study:<name>, topic:<name>, verdict:<verdict>; default: all",
    )
    searched = _Parser(add_help=False)
    searched.add_argument(
        "--search", metavar="WORDS", help="only results that contain all of these words"
    )
    as_json = _Parser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def command(name: str, text: str, *parents: _Parser) -> _Parser:
        added = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example: {_EXAMPLES[name]}",
            parents=[*parents, outputs],
        )
        added.set_defaults(module=name)
        return added

    command("list", "List results, studies and last verdicts.", selection, searched, as_json)
    show = command("show", "Show a result's claims, knobs and latest values.", as_json)
    show.add_argument(
        "name",
        help="a result (fcml/fig-1.15), a study (study:ridge_path), a sweep (sweep:<id>) or an"
        " equation (prml:10.69, prml.expected_mixing)",
    )
    show.add_argument(
        "--verbose", action="store_true", help="list every claim with its expression and evidence"
    )
    show.add_argument("--metric", help="quantity or expression to show for a sweep")
    equations = command(
        "equations", "List the printed equations and evaluate them in random cases.", as_json
    )
    equations.add_argument(
        "selection",
        nargs="*",
        help="a book (prml), a chapter or section (prml/10.7), a number (prml:10.69) or a name"
        " (prml.expected_mixing); default: all",
    )
    equations.add_argument("--errata", action="store_true", help="only misprinted equations")
    commands.add_parser("run", help="Run one configuration, or a sweep with -m.", add_help=False)

    reproduce = command(
        "reproduce", "Run results and evaluate all claims.", selection, searched, as_json
    )
    reproduce.add_argument(
        "--jobs", type=int, default=None, help="number of processes (default: all cores)"
    )
    reproduce.add_argument(
        "--tag", action="append", default=[], metavar="NAME=VALUE", help="tag the runs; repeatable"
    )
    reproduce.add_argument("--force", action="store_true", help="compute recorded runs again")
    reproduce.add_argument("--tracking", default="local", help="local, server or off")
    reproduce.add_argument("--tracking-uri", help="server's address for --tracking server")
    reproduce.add_argument("--data-dir", metavar="DIR", help=DATA_DIR_HELP)

    seeds = command(
        "robustness",
        "Rerun all stochastic results with other seeds and count how often each claim gets the"
        " expected verdict.",
        selection,
        searched,
        as_json,
    )
    seeds.add_argument(
        "--seeds", type=int, default=20, help="number of seeds, from 0 on (default: 20)"
    )
    seeds.add_argument(
        "--jobs", type=int, default=None, help="number of processes (default: all cores)"
    )
    seeds.add_argument(
        "--markdown", action="store_true", help="print a Markdown page for the documentation"
    )
    seeds.add_argument("--data-dir", metavar="DIR", help=DATA_DIR_HELP)

    runs = command("runs", "List recorded runs, sorted and filtered.", searched, as_json)
    runs.add_argument("selection", nargs="*", help="as for list; also study:<name> and sweep:<id>")
    runs.add_argument(
        "--where", metavar="EXPR", help="condition on knobs, metrics and fields: 'noise < 0.3'"
    )
    runs.add_argument(
        "--sort", metavar="NAME", help="knob, metric or field to sort by (default: newest first)"
    )
    runs.add_argument("--reverse", action="store_true", help="reverse the order")
    runs.add_argument("--columns", metavar="A,B", help="columns to show, separated by commas")
    runs.add_argument(
        "--tag", action="append", default=[], metavar="NAME=VALUE", help="only runs with this tag"
    )
    runs.add_argument(
        "--limit", type=int, default=50, help="number of rows; 0 shows all (default: 50)"
    )
    runs.add_argument("--csv", action="store_true", help="print CSV instead of a table")
    diff = command("diff", "Compare the settings, values and verdicts of two runs.", as_json)
    diff.add_argument("first", help="a run's id, the beginning of it, or a result (its newest run)")
    diff.add_argument("second", help="the other run")

    figures = command("figures", "Redraw figures from recorded runs. Computes nothing.", searched)
    figures.add_argument(
        "selection",
        nargs="*",
        help="a book, a result (fcml/fig-1.15), study:<name>, topic:<name>, run:<id>, or"
        " sweep:<id>; default: all results and sweeps",
    )
    figures.add_argument("--metric", help="quantity or expression to draw for a sweep")
    figures.add_argument("--cells", action="store_true", help="also draw each run of a sweep")
    figures.add_argument("--format", default="png", help="png, pdf, svg, separated by commas")
    figures.add_argument("--style", default="screen", help="screen or print")
    tables = command(
        "tables", "Write tables from recorded runs. Computes nothing.", selection, searched
    )
    tables.add_argument(
        "--format", default="csv,md,latex", help="csv, md, latex, separated by commas"
    )

    notebook = command(
        "notebook", "Write a Jupyter notebook with a result's claims, knobs and a run."
    )
    notebook.add_argument("name", help="a result (fcml/fig-1.15)")
    notebook.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="file to write (default: ./<book>-<result>.ipynb); - prints the notebook",
    )
    notebook.add_argument("--force", action="store_true", help="replace an existing file")
    explore = command(
        "explore",
        "Change the knobs of results on a local web page, and see the new values.",
        selection,
        searched,
    )
    explore.add_argument("--host", default="127.0.0.1", help="loopback only: 127.0.0.1 or ::1")
    explore.add_argument("--port", type=int, default=0, help="port (default: any free port)")
    explore.add_argument("--no-browser", action="store_true", help="print the address only")
    explore.add_argument(
        "--timeout", type=float, default=30, help="time limit of one run in seconds (default: 30)"
    )
    explore.add_argument(
        "--memory-gb", type=float, default=2, help="memory limit of one run in GB (default: 2)"
    )
    explore.add_argument(
        "--tracking", default="local", help="where saved runs are logged: local, server, off"
    )
    explore.add_argument("--tracking-uri", help="server's address for --tracking server")
    explore.add_argument("--data-dir", metavar="DIR", help=DATA_DIR_HELP)
    report = command("report", "Write the static site from recorded runs.", selection, searched)
    report.add_argument(
        "--format",
        default="svg",
        help="formats of the figures in addition to SVG: pdf,png",
    )
    ui = command("ui", "Open the MLflow UI on the project's own store.")
    ui.add_argument("study", nargs="?", help="open the list of runs of this study")
    ui.add_argument("--host", default="127.0.0.1", help="address to listen on (default: loopback)")
    ui.add_argument("--port", type=int, default=5000, help="port (default: 5000)")
    ui.add_argument("--no-browser", action="store_true", help="print the address only")
    verify = command("verify", "Recompute a recorded run and compare it bit for bit.")
    verify.add_argument(
        "run_id", help="a run's id, the beginning of it, or the id of its MLflow run"
    )
    verify.add_argument("--data-dir", metavar="DIR", help=DATA_DIR_HELP)
    sync = command("sync", "Log recorded runs that are not in the tracking store yet.")
    sync.add_argument("--tracking", default="local", help="local or server")
    sync.add_argument("--tracking-uri", help="server's address for --tracking server")
    completion = command("completion", "Print the completion script for a shell.")
    completion.add_argument("shell", choices=["bash", "zsh"])
    return parser, dict(commands.choices)
