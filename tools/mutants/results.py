"""Run results and judge their claims, plain or with a fault in the tree."""

import hashlib
import importlib
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from tools.mutants.calls import Calls, kernels_seen
from tools.mutants.children import Broke, Hung, in_child
from tools.mutants.copies import Copy
from tools.mutants.runs import Ran, limit

HANGS = 3  # after so many results that hang the others are not waited for
UNJUDGED = "cannot be judged"


class Verdict(NamedTuple):
    """One claim's verdict, or why there is none."""

    says: str
    stated: bool  # said by the text
    printed: bool  # and could have come out otherwise
    verdict: str


class Result(NamedTuple):
    """A result's claims, and a digest of each quantity."""

    verdicts: list[Verdict]
    quantities: dict[str, str]


def _result(name: str) -> Result:
    """Run a result; every claim is judged as `bythebook reproduce` judges it."""
    from experiments.configuration.build import experiment_job
    from experiments.contract.claims import judge
    from experiments.contract.errors import BadInput
    from experiments.contract.outcome import Outcome
    from experiments.running.work import compute, one_thread
    from models import datasets

    job = experiment_job(name)
    with one_thread():
        outcome = Outcome.from_json(*compute(job).outcome.to_json())  # as it is read from a record
    data = job.data
    originals = {name for name, entry in data.items() if entry["grade"] != datasets.STANDIN}
    found = []
    for claim in job.claims:
        try:
            verdict = judge(claim, outcome, job.grade, originals).verdict
        except BadInput as error:
            verdict = f"{UNJUDGED}: {error}"
        stated = claim.origin == "printed"
        found.append(Verdict(claim.says, stated, stated and claim.by is None, verdict))
    return Result(found, {key: _digest(outcome[key].values) for key in outcome})


def _digest(values: Any) -> str:
    """Of the first six digits of all numbers: what rounding changes is no change."""
    if values.dtype.kind == "f":
        mantissa, exponent = np.frexp(values)
        values = np.round(mantissa, 6) * 2.0**exponent
    return hashlib.sha256(values.tobytes()).hexdigest()[:12]


def _measured(copy: Copy, name: str) -> Ran:
    calls = Calls(copy.folder / "src")
    started = time.perf_counter()
    with kernels_seen(calls), calls.recorded():
        found = _result(name)
    seconds = time.perf_counter() - started
    verdicts = [claim.verdict for claim in found.verdicts]
    return Ran(seconds, sorted(calls.functions), verdicts, found.quantities)


def measure_results(copy: Copy) -> dict[str, Ran]:
    """Every result: how long it takes, what it calls, and what comes of its claims."""

    def inside() -> dict[str, Ran]:
        copy.enter()
        from experiments.configuration import catalogue

        measured = {name: in_child(partial(_measured, copy, name)) for name in catalogue.names()}
        for name, ran in measured.items():
            if not isinstance(ran, Ran):
                raise RuntimeError(f"{name}: {ran}")
        return {name: ran for name, ran in measured.items() if isinstance(ran, Ran)}

    found = in_child(inside)
    if isinstance(found, Hung | Broke):
        raise RuntimeError(f"the results without a fault: {found}")
    return found


class Noticed(NamedTuple):
    """What became of the results that a fault could show in."""

    tried: list[str]
    raised: dict[str, str]  # result: how it ended
    claims: list[str]  # result: claim, for every verdict that changed
    stated: list[str]  # those that the text makes
    printed: list[str]  # and that are not so by construction
    changed: dict[str, list[str]]  # result: the quantities with other values

    @property
    def crashed(self) -> bool:
        """No claim is needed to see it: a result does not run to its end."""
        return bool(self.raised) and not self.claims


def try_results(copy: Copy, wanted: list[str], usual: Mapping[str, Ran]) -> Noticed:
    """Run the results in order until a printed claim has another verdict than without the fault."""
    found = in_child(lambda: _try_results(copy, wanted, usual))
    if isinstance(found, Hung | Broke):  # nothing can be imported
        return Noticed(wanted, dict.fromkeys(wanted, str(found)), [], [], [], {})
    return found


def _try_results(copy: Copy, wanted: list[str], usual: Mapping[str, Ran]) -> Noticed:
    copy.enter()
    for module in ("configuration.build", "running.work"):  # once for all results
        importlib.import_module(f"experiments.{module}")

    noticed = Noticed([], {}, [], [], [], {})
    hangs = 0
    for name in wanted:
        noticed.tried.append(name)
        if hangs < HANGS:
            found = in_child(partial(_result, name), limit(usual[name].seconds))
            hangs += isinstance(found, Hung)
        else:
            found = Hung(0.0)
        if isinstance(found, Hung | Broke):
            noticed.raised[name] = found.error if isinstance(found, Broke) else "hangs"
        else:
            _compare(name, found, usual[name], noticed)
        if noticed.printed:
            break
    return noticed


def _compare(name: str, found: Result, usual: Ran, noticed: Noticed) -> None:
    """Add what came out otherwise; an expression that cannot be evaluated is no verdict."""
    for claim, before in zip(found.verdicts, usual.verdicts, strict=True):
        if claim.verdict.startswith(UNJUDGED):
            noticed.raised[name] = claim.verdict
        elif claim.verdict != before:
            told = f"{name}: {claim.says}"
            noticed.claims.append(told)
            noticed.stated.extend([told] * claim.stated)
            noticed.printed.extend([told] * claim.printed)
    noticed.changed[name] = sorted(
        key for key, digest in found.quantities.items() if usual.quantities.get(key) != digest
    )
