"""Runs results and judges their claims, with or without a fault in the tree."""

import hashlib
import importlib
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tools.mutation_testing.calls import Calls, record_kernels
from tools.mutation_testing.children import Broke, Hung, in_child
from tools.mutation_testing.copies import Copy
from tools.mutation_testing.runs import Ran, time_limit

MAX_HANGS = 3  # after so many results that do not end, the others are not run
UNJUDGED = "cannot be judged"


class Verdict(NamedTuple):
    """The verdict of a claim, or the reason why it has none."""

    says: str
    stated: bool  # a claim of the text
    printed: bool  # and not by construction
    verdict: str


class Result(NamedTuple):
    """The verdicts of a result and a digest of each quantity."""

    verdicts: list[Verdict]
    quantities: dict[str, str]


def _result(name: str) -> Result:
    """Run a result and judge its claims as `bythebook reproduce` does."""
    from bythebook.experiments.config.validation import load_job
    from bythebook.experiments.core.errors import InputError
    from bythebook.experiments.core.judging import judge
    from bythebook.experiments.core.outcome import Outcome
    from bythebook.experiments.execution.worker import compute, single_threaded
    from bythebook.models import datasets

    job = load_job(name)
    with single_threaded():
        outcome = Outcome.from_json(*compute(job).outcome.to_json())  # as if read from a record
    data = job.data
    originals = {name for name, entry in data.items() if entry["grade"] != datasets.STANDIN}
    verdicts = []
    for claim in job.claims:
        try:
            verdict = judge(claim, outcome, job.data_grade, originals).verdict
        except InputError as error:
            verdict = f"{UNJUDGED}: {error}"
        stated = claim.origin == "printed"
        verdicts.append(Verdict(claim.says, stated, stated and claim.by is None, verdict))
    return Result(verdicts, {key: _digest(outcome[key].values) for key in outcome})


def _digest(values: Any) -> str:
    """A digest of all numbers to six digits, so that rounding errors do not change it."""
    if values.dtype.kind == "f":
        mantissa, exponent = np.frexp(values)
        values = np.round(mantissa, 6) * 2.0**exponent
    return hashlib.sha256(values.tobytes()).hexdigest()[:12]


def _measured(copy: Copy, name: str) -> Ran:
    calls = Calls(copy.package)
    started = time.perf_counter()
    with record_kernels(calls), calls.recorded():
        result = _result(name)
    seconds = time.perf_counter() - started
    verdicts = [claim.verdict for claim in result.verdicts]
    return Ran(seconds, sorted(calls.functions), verdicts, result.quantities)


def measure_results(copy: Copy) -> dict[str, Ran]:
    """Measure every result without a fault: time, called functions and verdicts."""

    def inside() -> dict[str, Ran]:
        copy.enter()
        from bythebook.experiments.config import catalogue

        measured = {
            name: in_child(partial(_measured, copy, name)) for name in catalogue.experiment_names()
        }
        for name, ran in measured.items():
            if not isinstance(ran, Ran):
                raise RuntimeError(f"{name}: {ran}")
        return {name: ran for name, ran in measured.items() if isinstance(ran, Ran)}

    measured = in_child(inside)
    if isinstance(measured, Hung | Broke):
        raise RuntimeError(f"the results without a fault: {measured}")
    return measured


class Detection(NamedTuple):
    """The effect of a fault on the results that can execute it."""

    tried: list[str]
    raised: dict[str, str]  # result: error
    claims: list[str]  # "result: claim" for every changed verdict
    stated: list[str]  # those among them that the text makes
    printed: list[str]  # those among `stated` that do not hold by construction
    changed: dict[str, list[str]]  # result: changed quantities

    @property
    def crashed(self) -> bool:
        """True if a result does not finish and no verdict of the others changes."""
        return bool(self.raised) and not self.claims


def try_results(copy: Copy, wanted: list[str], usual: Mapping[str, Ran]) -> Detection:
    """Run the results in order until the verdict of a printed claim changes."""
    outcome = in_child(lambda: _try_results(copy, wanted, usual))
    if isinstance(outcome, Hung | Broke):  # an import failed
        return Detection(wanted, dict.fromkeys(wanted, str(outcome)), [], [], [], {})
    return outcome


def _try_results(copy: Copy, wanted: list[str], usual: Mapping[str, Ran]) -> Detection:
    copy.enter()
    for module in ("config.validation", "execution.worker"):  # once for all results
        importlib.import_module(f"bythebook.experiments.{module}")

    detection = Detection([], {}, [], [], [], {})
    hangs = 0
    for name in wanted:
        detection.tried.append(name)
        if hangs < MAX_HANGS:
            result = in_child(partial(_result, name), time_limit(usual[name].seconds))
            hangs += isinstance(result, Hung)
        else:
            result = Hung(0.0)
        if isinstance(result, Hung | Broke):
            detection.raised[name] = result.error if isinstance(result, Broke) else "hangs"
        else:
            _compare(name, result, usual[name], detection)
        if detection.printed:
            break
    return detection


def _compare(name: str, result: Result, usual: Ran, detection: Detection) -> None:
    """Add the changed verdicts; a claim that cannot be evaluated counts as an error."""
    for claim, before in zip(result.verdicts, usual.verdicts, strict=True):
        if claim.verdict.startswith(UNJUDGED):
            detection.raised[name] = claim.verdict
        elif claim.verdict != before:
            line = f"{name}: {claim.says}"
            detection.claims.append(line)
            detection.stated.extend([line] * claim.stated)
            detection.printed.extend([line] * claim.printed)
    detection.changed[name] = sorted(
        key for key, digest in result.quantities.items() if usual.quantities.get(key) != digest
    )
