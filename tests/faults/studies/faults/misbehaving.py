"""A study for tests, which can raise, die, wait, or return NaN and infinity."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Outcome, axis
from bythebook.experiments.core.study import Study, knob
from bythebook.models.convergence import warn_not_converged

HELD = "MISBEHAVING_HELD"  # the folder in which to report the start of a run, which then never ends
WAYS = ("well", "raise", "die", "strange", "eat", "hang", "pickle", "stop")


@dataclass
class Misbehaving(Study):
    """Fail in a selected way."""

    way: str = knob("well", "what to do", choices=WAYS)
    ways: list[str] = knob([], "what to do, by level", choices=WAYS, may_be_empty=True)
    level: int = knob(0, "a number to sweep over", at_least=0)
    seconds: float = knob(0.0, "how long to take", at_least=0)
    grid: list[list[float]] = knob([[0.0, 1.0]], "numbers in lists of lists")
    places: dict[str, list[float]] = knob({}, "numbers by name", may_be_empty=True)

    def run(self, rng: Generator) -> Outcome:
        if HELD in os.environ:
            Path(os.environ[HELD], str(os.getpid())).touch()
            time.sleep(1000)  # longer than the tests wait
        time.sleep(self.seconds)
        way = self.ways[self.level] if self.ways else self.way
        if way == "raise":
            raise ArithmeticError(f"level {self.level} <b>cannot</b> be computed")
        if way == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if way == "strange":
            return Outcome(nan=float("nan"), inf=float("inf"), value=1.0)
        if way == "eat":
            eaten = np.ones(self.level * 2**27)  # GiB
            return Outcome(value=float(eaten.size))
        while way == "hang":
            time.sleep(0.01)
        if way == "stop":
            for fits in (2, 0, 3):
                warn_not_converged("EM", iterations=self.level, tol=1e-6, fits=fits)
        if way == "pickle":
            return Outcome(value=1.0, x=axis("x", 1).of(np.array([object()], dtype=object)))
        return Outcome(
            value=float(rng.normal() + self.level),
            level=self.level,
            draws=axis("draw", 500).of(rng.normal(size=500)),
        )
