"""The pipeline: configurations in, judged and tracked runs out.

    from experiments import run, sweep, reproduce, results

These load what they need when they are first asked for; docs/python.md shows them at work.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.contract.errors import BadInput
    from experiments.interface.claims import reproduce, results
    from experiments.interface.runs import run
    from experiments.interface.sweeps import sweep

__version__ = "0.1.0"
__all__ = ["BadInput", "__version__", "reproduce", "results", "run", "sweep"]
_HOMES = {
    "BadInput": "contract.errors",
    "reproduce": "interface.claims",
    "results": "interface.claims",
    "run": "interface.runs",
    "sweep": "interface.sweeps",
}


def __getattr__(name: str) -> Any:
    """Import a name's module when the name is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
