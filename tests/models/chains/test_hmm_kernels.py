"""Each kernel names its plain statement, which `test_hmm_recursions` compares with the compiled."""

import inspect
import re

import numpy as np
import pytest

from models.chains import hmm_kernels, hmm_recursions
from models.compiled import compiled
from models.types import Floats

KERNELS = {name: kernel for name, kernel in vars(hmm_kernels).items() if type(kernel) is compiled}


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_names_its_plain_statement(name: str) -> None:
    named = re.findall(r"`(\w+)`", KERNELS[name].__doc__ or "")
    assert any(inspect.isfunction(vars(hmm_recursions).get(other)) for other in named)


def all_recursions(pi: Floats, A: Floats, table: Floats) -> list[Floats]:
    x = hmm_recursions.evidence(table, np.arange(40) % len(table))
    alpha, log_c = hmm_recursions.forward(pi, A, x)
    lagged = hmm_recursions.backward(A, x, alpha, 3)
    whole = hmm_recursions.backward(A, x, alpha, 40)
    log_pi, log_A = hmm_recursions.log(pi), hmm_recursions.log(A)
    best = hmm_recursions.viterbi(log_pi, log_A, table, x.at)
    counts, tracked = hmm_recursions.counts(pi, A, x), hmm_recursions.track(pi, A, x, 1)
    return [alpha, log_c, *lagged, *whole, *best, *counts, *tracked]


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("excluded", [False, True])
def test_what_is_read_is_what_runs(K: int, excluded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the kernels gives what numba made of it."""
    rng = np.random.default_rng(K)
    pi, A, table = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), rng.normal(size=(6, K))
    if excluded:  # a state out of reach explains a symbol best
        pi, A[0] = np.eye(K)[0], np.eye(K)[0]
        table[2, 1] = 800.0
    expected = all_recursions(pi, A, table)
    for module in (hmm_kernels, hmm_recursions):
        for name in KERNELS.keys() & vars(module).keys():
            monkeypatch.setattr(module, name, KERNELS[name].plain)
    with np.errstate(over="ignore"):  # of which the compiled one does not warn
        found = all_recursions(pi, A, table)
    for field, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(field, other, rtol=1e-12)
