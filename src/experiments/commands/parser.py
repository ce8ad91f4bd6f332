"""What the commands take: verbs, flags, their meaning, an example each."""

import argparse
import re
from typing import NoReturn

from experiments import __version__
from experiments.contract.errors import BadInput

_EXAMPLES = {
    "list": "bythebook list fcml/1 verdict:erratum",
    "show": "bythebook show fcml/fig-1.15",
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
    "server": "bythebook server --host 0.0.0.0 --allowed-hosts lab.example.org",
    "verify": "bythebook verify 3f2a",
    "sync": "bythebook sync --tracking server --tracking-uri http://lab.example.org:5000",
    "completion": 'eval "$(bythebook completion bash)"',
}


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are bad input like any other."""

    def error(self, message: str) -> NoReturn:
        from experiments.contract.suggestions import meant

        choice = re.search(
            r"argument (.+?): invalid choice: '(.*?)' \(.*choose from (.*)\)", message
        )
        value = re.search(r"argument (\S+): invalid (\w+) value: '(.*)'", message)
        if choice:
            known = re.findall(r"[\w-]+", choice[3])
            line = f"there is no {choice[1].strip('<>')} '{choice[2]}'{meant(choice[2], known)}"
            raise BadInput(f"{line}; allowed: {', '.join(known)}")
        if value:
            raise BadInput(f"{value[1]} {value[3]} is not allowed; allowed: {value[2]}")
        usage = " ".join(self.format_usage().split())
        raise BadInput(f"{message}; {usage}")


def parser_and_verbs() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The whole command line but for `run`, which Hydra's grammar is; and each verb's part."""
    parser = _Parser(
        prog="bythebook",
        description="Recompute, track and judge what five machine-learning texts print.",
        epilog="`bythebook run --help` lists the studies and their knobs.",
    )
    parser.add_argument("--version", action="version", version=f"bythebook {__version__}")
    verbs = parser.add_subparsers(title="commands", metavar="<command>", required=True)

    everywhere = _Parser(add_help=False)
    everywhere.add_argument(
        "--outputs", metavar="DIR", help="where runs are kept (default: the project's outputs/)"
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
        "--search", metavar="WORDS", help="only results that speak of all of these"
    )
    as_json = _Parser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def verb(name: str, text: str, *parents: _Parser) -> _Parser:
        added = verbs.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example: {_EXAMPLES[name]}",
            parents=[*parents, everywhere],
        )
        added.set_defaults(module=name)
        return added

    verb("list", "Every experiment with its study and last verdict.", selection, searched, as_json)
    show = verb("show", "What the book says, the knobs, the last computed values.", as_json)
    show.add_argument(
        "name", help="a result (fcml/fig-1.15), a study (study:ridge_path) or a sweep (sweep:<id>)"
    )
    show.add_argument("--metric", help="a sweep's: the quantity or expression to show")
    verbs.add_parser("run", help="Run one configuration, or a sweep with -m.", add_help=False)

    reproduce = verb(
        "reproduce", "Run a selection and judge every claim.", selection, searched, as_json
    )
    reproduce.add_argument("--jobs", type=int, default=None, help="processes (default: all cores)")
    reproduce.add_argument(
        "--tag", action="append", default=[], metavar="NAME=VALUE", help="name the runs; repeatable"
    )
    reproduce.add_argument("--fresh", action="store_true", help="compute again what is recorded")
    reproduce.add_argument("--tracking", default="local", help="local, server or off")
    reproduce.add_argument("--tracking-uri", help="the server's address for --tracking server")
    reproduce.add_argument("--data", metavar="DIR", help="the authors' original files (BOOK_DATA)")

    seeds = verb(
        "robustness",
        "Repeat every result that has chance in it; how often each claim comes out the same.",
        selection,
        searched,
        as_json,
    )
    seeds.add_argument("--seeds", type=int, default=20, help="how many, from 0 (default: 20)")
    seeds.add_argument("--jobs", type=int, default=None, help="processes (default: all cores)")
    seeds.add_argument("--markdown", action="store_true", help="a page for the documentation")
    seeds.add_argument("--data", metavar="DIR", help="the authors' original files (BOOK_DATA)")

    runs = verb("runs", "A table of recorded runs, sorted and filtered.", searched, as_json)
    runs.add_argument("selection", nargs="*", help="as for list; study:<name> and sweep:<id> too")
    runs.add_argument("--where", metavar="EXPR", help="over knobs, metrics, facts: 'noise < 0.3'")
    runs.add_argument("--sort", metavar="NAME", help="a knob, metric or fact (default: newest)")
    runs.add_argument("--reverse", action="store_true", help="the other way round")
    runs.add_argument("--columns", metavar="A,B", help="what to show, with commas between")
    runs.add_argument("--tag", action="append", default=[], metavar="NAME=VALUE", help="only these")
    runs.add_argument("--limit", type=int, default=50, help="rows; 0 is all (default: 50)")
    runs.add_argument("--csv", action="store_true", help="print CSV instead of a table")
    diff = verb("diff", "In which settings, numbers and verdicts two runs differ.", as_json)
    diff.add_argument("first", help="a run's id, the beginning of it, or a result (its newest run)")
    diff.add_argument("second", help="the other")

    figures = verb("figures", "Redraw figures from recorded runs; nothing is computed.", searched)
    figures.add_argument(
        "selection",
        nargs="*",
        help="a book, an experiment (fcml/fig-1.15), study:<name>, topic:<name>, run:<id>, or"
        " sweep:<id>; default: every experiment and sweep",
    )
    figures.add_argument("--metric", help="a sweep's: the quantity or expression to draw")
    figures.add_argument("--cells", action="store_true", help="a sweep's cells as well")
    figures.add_argument("--format", default="png", help="png, pdf, svg; several with commas")
    figures.add_argument("--style", default="screen", help="screen or print")
    tables = verb(
        "tables", "Write tables from recorded runs; nothing is computed.", selection, searched
    )
    tables.add_argument("--format", default="csv,md,latex", help="csv, md, latex")

    notebook = verb("notebook", "Write a Jupyter notebook for a result: its claims, knobs, a run.")
    notebook.add_argument("name", help="an experiment (fcml/fig-1.15)")
    notebook.add_argument(
        "-o", "--output", metavar="FILE", help="default: ./<book>-<result>.ipynb; - prints it"
    )
    notebook.add_argument("--force", action="store_true", help="replace a file that is there")
    explore = verb(
        "explore", "Move the knobs of results on a local page; runs follow.", selection, searched
    )
    explore.add_argument("--host", default="127.0.0.1", help="loopback only: 127.0.0.1 or ::1")
    explore.add_argument("--port", type=int, default=0, help="default: any free one")
    explore.add_argument("--no-browser", action="store_true", help="only print the address")
    explore.add_argument("--seconds", type=float, default=30, help="of one run (default: 30)")
    explore.add_argument("--memory-gb", type=float, default=2, help="of one run (default: 2)")
    explore.add_argument("--tracking", default="local", help="of runs to keep: local, server, off")
    explore.add_argument("--tracking-uri", help="the server's address for --tracking server")
    explore.add_argument("--data", metavar="DIR", help="the authors' original files (BOOK_DATA)")
    report = verb("report", "Write the static site from recorded runs.", selection, searched)
    report.add_argument(
        "--format",
        default="svg",
        help="files of the figures, beside the SVG: pdf,png",
    )
    ui = verb("ui", "Open the MLflow UI on the project's own store.")
    ui.add_argument("study", nargs="?", help="open on the runs of this study")
    ui.add_argument("--host", default="127.0.0.1", help="address to listen on (default: loopback)")
    ui.add_argument("--port", type=int, default=5000)
    ui.add_argument("--no-browser", action="store_true", help="only print the address")
    server = verb("server", "Start an MLflow server with passwords, for sweeps on many machines.")
    server.add_argument(
        "--store",
        metavar="ADDRESS",
        help="its database: postgresql://user@host/name or sqlite:////folder/file.db (default:"
        " MLFLOW_BACKEND_STORE_URI, else a file below the outputs folder); the password comes from"
        " PGPASSWORD or ~/.pgpass",
    )
    server.add_argument(
        "--artifacts", metavar="DIR", help="its files (default: below the outputs folder)"
    )
    server.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: loopback)"
    )
    server.add_argument("--port", type=int, default=5000)
    server.add_argument(
        "--allowed-hosts",
        metavar="NAMES",
        help="names by which other machines may ask it, with commas between them",
    )
    server.add_argument(
        "--workers",
        type=int,
        default=1,
        help="its processes (default: 1; with more, every request waits some 40 ms, since uvicorn"
        " then delays small packets)",
    )
    verify = verb("verify", "Recompute a recorded run and compare every bit.")
    verify.add_argument("run_id", help="a run's id, the beginning of it, or MLflow's id")
    verify.add_argument("--data", metavar="DIR", help="the authors' original files (BOOK_DATA)")
    sync = verb("sync", "Log recorded runs that are not in the tracking store yet.")
    sync.add_argument("--tracking", default="local", help="local or server")
    sync.add_argument("--tracking-uri", help="the server's address for --tracking server")
    completion = verb("completion", "Print the shell's completion script.")
    completion.add_argument("shell", choices=["bash", "zsh"])
    return parser, dict(verbs.choices)
