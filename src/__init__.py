"""By the Book: recompute, track and judge the results that five machine-learning texts print.

    from bythebook import run, sweep, reproduce, results, equations

Each function loads its module when it is first used. docs/python.md shows examples.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bythebook.experiments.api.claims import reproduce, results
    from bythebook.experiments.api.equations import equations
    from bythebook.experiments.api.runs import run
    from bythebook.experiments.api.sweeps import sweep
    from bythebook.experiments.core.errors import InputError

__version__ = "0.1.0"
__all__ = ["InputError", "__version__", "equations", "reproduce", "results", "run", "sweep"]
_MODULES = {
    "InputError": "core.errors",
    "equations": "api.equations",
    "reproduce": "api.claims",
    "results": "api.claims",
    "run": "api.runs",
    "sweep": "api.sweeps",
}


def __getattr__(name: str) -> Any:
    """Import a function's module when the function is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.experiments.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
