"""The command line. Heavy libraries are imported by the verbs that need them."""

import argparse
import os
import sys
from collections.abc import Sequence

from experiments import __version__
from experiments.errors import BadInput

OK, UNEXPECTED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code says how it went (0 well, 1 a surprise, 2 bad input)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["run"]:
            from experiments.commands import run

            return run.main(arguments[1:])
        if arguments[:1] == ["complete"]:
            from experiments.commands import completion

            return completion.answer(arguments[1:])
        return _dispatch(_parser().parse_args(arguments))
    except BadInput as error:
        for line in error.problems:
            print(f"bythebook: {line}", file=sys.stderr)
        return BAD_INPUT
    except ValueError as error:
        if type(error).__name__ != "DataError":  # importing it would cost every command NumPy
            raise
        print(f"bythebook: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader (`| head`) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        print(f"bythebook: cannot write or read{where}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("bythebook: interrupted; what is recorded stays,", end=" ", file=sys.stderr)
        print("run the command again to go on", file=sys.stderr)
        return INTERRUPTED


def _dispatch(options: argparse.Namespace) -> int:
    from importlib import import_module

    code: int = import_module(f"experiments.commands.{options.module}").main(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bythebook",
        description="Recompute, track and judge what five machine-learning texts print.",
        epilog="`bythebook run --help` lists the studies and their knobs.",
    )
    parser.add_argument("--version", action="version", version=f"bythebook {__version__}")
    verbs = parser.add_subparsers(title="commands", metavar="<command>", required=True)

    everywhere = argparse.ArgumentParser(add_help=False)
    everywhere.add_argument(
        "--outputs", metavar="DIR", help="where runs are kept (default: the project's outputs/)"
    )
    selection = argparse.ArgumentParser(add_help=False)
    selection.add_argument(
        "selection",
        nargs="*",
        help="a book, an experiment (fcml/fig-1.15), study:<name> or family:<name>; default: all",
    )
    as_json = argparse.ArgumentParser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def verb(name: str, text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text, parents=[*parents, everywhere])
        added.set_defaults(module=name)
        return added

    verb("list", "Every experiment with its study and last verdict.", selection, as_json)
    show = verb("show", "What the book says, the knobs, the last computed values.", as_json)
    show.add_argument(
        "name", help="an experiment (fcml/fig-1.15) or a study (study:polynomial_order)"
    )
    verbs.add_parser("run", help="Run one configuration, or a sweep with -m.", add_help=False)

    reproduce = verb("reproduce", "Run a selection and judge every claim.", selection, as_json)
    reproduce.add_argument("--jobs", type=int, default=None, help="processes (default: all cores)")
    reproduce.add_argument("--fresh", action="store_true", help="compute again what is recorded")
    reproduce.add_argument("--tracking", default="local", help="local, server or off")
    reproduce.add_argument("--tracking-uri", help="the server's address for --tracking server")
    reproduce.add_argument("--data", metavar="DIR", help="the authors' original files (BOOK_DATA)")

    figures = verb("figures", "Redraw figures from recorded runs; nothing is computed.", selection)
    figures.add_argument("--format", default="png", help="png, pdf, svg; several with commas")
    figures.add_argument("--style", default="screen", help="screen or print")
    tables = verb("tables", "Write tables from recorded runs; nothing is computed.", selection)
    tables.add_argument("--format", default="csv,md,latex", help="csv, md, latex")

    verb("report", "Write the static site from recorded runs.", selection)
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
    return parser
