"""Mutation testing: the generated faults, their removal, and the counts of detected faults."""

import ast
import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tools.mutation_testing import affected, calls, page, sample, testing
from tools.mutation_testing.children import Broke, Hung, in_child
from tools.mutation_testing.copies import Copy, digest
from tools.mutation_testing.faults import KINDS, Fault, faults
from tools.mutation_testing.results import Detection
from tools.mutation_testing.runs import Ran

ROOT = Path(__file__).parents[1]
TOY = '''
"""Numbers: 1 + 2."""

LARGE: int = 2**22
WORDS = "a" + "b"


def scaled(x: list[float], factor: float = 1.5) -> float:
    """The sum, 3 times."""
    if factor < 0:
        raise ValueError(f"factor={factor + 1} is below 0")
    assert factor > 0
    total = x.sum(axis=0) - x[0] * factor
    return max(total, -x[1:].min())


class Holder:
    def twice(self) -> float:
        self.held += 2
        return [y for y in self.held if y == 3][-1]
'''


def replacements(kind: str, before: str) -> list[str]:
    """The replacements of an expression of the toy module."""
    return [f.after for f in faults(TOY, "toy.py") if (f.kind, f.before) == (kind, before)]


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("sign.minus", "x.sum(axis=0) - x[0] * factor", "x.sum(axis=0) + x[0] * factor"),
        ("sign.negate", "x.sum(axis=0) - x[0] * factor", "-(x.sum(axis=0) - x[0] * factor)"),
        ("sign.drop", "-x[1:].min()", "x[1:].min()"),
        ("sign.plus", "2", "-(2)"),  # of +=
        ("operator.times", "x[0] * factor", "x[0] / factor"),
        ("operator.power", "2 ** 22", "2 ** 23"),
        ("constant.next", "1.5", "2.5"),
        ("constant.double", "1.5", "3.0"),
        ("comparison.equal", "y == 3", "y != 3"),
        ("index.item", "0", "1"),
        ("index.item", "-1", "0"),
        ("index.axis", "0", "1"),
        ("index.shift", "1:", ":-1"),
        ("function.swap", "x.sum", "x.mean"),
        ("function.swap", "max", "min"),
    ],
)
def test_a_fault_of_each_kind(kind: str, before: str, after: str) -> None:
    assert replacements(kind, before) == [after]


def test_texts_and_checks_of_arguments_get_no_faults() -> None:
    lines = {fault.line for fault in faults(TOY, "toy.py")}
    texts = [line.strip() for line in TOY.splitlines()]
    for word in ('"""', "raise", "assert", "if factor", "WORDS"):
        assert not [line for line in lines if texts[line - 1].startswith(word)]


def test_a_fault_belongs_to_its_outermost_function() -> None:
    found = {fault.function for fault in faults(TOY, "toy.py")}
    assert found == {"", "scaled", "Holder.twice"}


@pytest.fixture(scope="module")
def everywhere() -> list[Fault]:
    return sample.candidates(ROOT / "src" / "models")


def test_every_fault_of_the_models_changes_the_program_and_has_a_unique_id(
    everywhere: list[Fault],
) -> None:
    for name in ("id", "words"):
        assert Counter(getattr(fault, name) for fault in everywhere).most_common(1)[0][1] == 1
    for fault in everywhere[::200]:
        source = (ROOT / "src" / "models" / fault.file).read_bytes()
        changed = ast.unparse(ast.parse(fault.planted(source)))
        assert changed != ast.unparse(ast.parse(source)), fault.id


def test_a_sample_has_all_modules_and_kinds(everywhere: list[Fault]) -> None:
    chosen = sample.sample(everywhere, 200, 0)
    assert len(chosen) == len({fault.id for fault in chosen}) == 200
    assert {fault.file for fault in chosen} == {fault.file for fault in everywhere}
    kinds = Counter(fault.kind.partition(".")[0] for fault in chosen)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 10
    assert chosen == sample.sample(everywhere, 200, 0)
    assert chosen != sample.sample(everywhere, 200, 1)


def test_an_edit_elsewhere_changes_the_line_and_not_the_words() -> None:
    before, after = faults(TOY, "toy.py"), faults(f"import os\n{TOY}", "toy.py")
    assert [fault.words for fault in before] == [fault.words for fault in after]
    assert [fault.line + 1 for fault in before] == [fault.line for fault in after]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of one module."""
    root = tmp_path / "root"
    for part in ("src/models", "conf", "tests/models"):
        (root / part).mkdir(parents=True)
    (root / "pyproject.toml").touch()
    (root / "src/models/__init__.py").touch()
    (root / "src/models/toy.py").write_text(TOY)
    return root


def test_a_fault_is_removed_together_with_its_compiled_code(tree: Path, tmp_path: Path) -> None:
    cache = tree / "src/models/__pycache__"
    cache.mkdir()
    (cache / "toy.f-1.py311.nbi").write_bytes(b"old")
    copy = Copy(tree, tmp_path / "copy")
    file, state = copy.models / "toy.py", digest(copy.folder, "src")
    times = file.stat().st_mtime_ns
    seconds = set()
    for fault in faults(TOY, "toy.py")[:2]:
        with copy.planted(fault):
            assert file.read_bytes() == fault.planted(TOY.encode())
            seconds.add(file.stat().st_mtime_ns // 10**9)
            (copy.models / "__pycache__/toy.f-1.py311.nbi").write_bytes(b"new")
            (copy.models / "__pycache__/toy.f-1.py311.1.nbc").write_bytes(b"new")
        assert (digest(copy.folder, "src"), file.stat().st_mtime_ns) == (state, times)
    assert len(seconds | {times // 10**9}) == 3
    cached = {path.name: path.read_bytes() for path in (copy.models / "__pycache__").iterdir()}
    assert cached == {"toy.f-1.py311.nbi": b"old"}
    assert (tree / "src/models/toy.py").read_text() == TOY


def test_a_child_may_raise_hang_or_be_killed() -> None:
    assert in_child(lambda: 6 * 7) == 42
    assert in_child(lambda: 1 // 0) == Broke(
        "ZeroDivisionError: integer division or modulo by zero"
    )
    assert in_child(lambda: time.sleep(60), seconds=0.05) == Hung(0.05)
    assert in_child(lambda: os.kill(os.getpid(), signal.SIGKILL)) == Broke("the process died")


def test_calls_are_recorded_by_outermost_function(tmp_path: Path) -> None:
    file = tmp_path / "toy.py"
    file.write_text(
        "def f():\n    return [g(i) for i in range(2)]\ndef g(i):\n    return (lambda: i)()"
    )
    names: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    recorder = calls.Calls(tmp_path)
    with recorder.recorded():
        names["f"]()  # type: ignore[operator]
    assert recorder.functions == {"toy.py f", "toy.py g"}


def test_caches_are_cleared_between_tests() -> None:
    from bythebook.models import datasets

    datasets.load("olympics-100m-men")
    assert datasets._load.cache_info().currsize > 0
    testing.clear_caches()
    assert datasets._load.cache_info().currsize == 0


def test_a_kernel_reaches_the_kernels_that_it_calls() -> None:
    from bythebook.models.state_space.kalman_kernels import forward_covariances

    names = {code.co_name for code in calls.reached(forward_covariances)}
    assert {"forward_covariances", "_cholesky", "_dot"} <= names


def test_likely_and_fast_tests_of_a_fault_come_first() -> None:
    (fault,) = [f for f in faults(TOY, "toy.py") if f.kind == "sign.drop"]
    meets, other = ["models/toy.py scaled"], ["models/toy.py other"]
    usual = {
        "tests/models/test_toy.py::test_other": Ran(0.1, other, [], {}),
        "tests/models/test_toy.py::test_slow": Ran(0.9, meets, [], {}),
        "tests/models/test_toy.py::test_quick": Ran(0.2, meets, [], {}),
        "tests/models/test_user.py::test_user": Ran(0.1, meets, [], {}),
        "tests/models/test_user.py::test_other": Ran(0.1, other, [], {}),
    }
    order = [name.partition("::")[2] for name in affected.affected_tests(fault, usual, {})]
    assert order == ["test_quick", "test_slow", "test_user", "test_other"]


def test_a_fault_in_module_level_code_affects_the_importers() -> None:
    (fault,) = [f for f in faults(TOY, "toy.py") if f.kind == "operator.power"]
    known = {"models/toy.py": {"models/user.py"}}
    usual = {
        "uses": Ran(1, ["models/user.py f"], [], {}),
        "not": Ran(1, ["models/no.py f"], [], {}),
    }
    assert affected.affected_results(fault, usual, known) == ["uses"]


def test_a_fault_crashes_if_a_result_raises_and_no_verdict_changes() -> None:
    nothing = Detection(["a", "b"], {}, [], [], [], {})
    assert not nothing.crashed
    raised = nothing._replace(raised={"a": "ValueError"})
    assert raised.crashed
    assert not raised._replace(claims=["b: larger"]).crashed


def test_shares_of_claims_exclude_faults_that_crash() -> None:
    one, two, three = faults(TOY, "a/toy.py")[:3]
    kinds: dict[str, list[str]] = {"claims": [], "stated": [], "printed": []}
    nothing = {"crashed": False, "raised": {}, "tried": ["result"], **kinds}
    outcomes = [
        page.combine(one, {"tests": ["test"]}, {**nothing, "crashed": True, "raised": {"r": "!"}}),
        page.combine(two, {"tests": []}, {**nothing, "claims": ["claim"], "stated": ["claim"]}),
        page.combine(three, {"tests": []}, nothing),
    ]
    rows = page.table(outcomes).splitlines()
    shares = ["1 of 3, 33%", "1 of 2, 50%", "1 of 2, 50%", "0 of 2, 0%", "2 of 3, 67%"]
    assert rows[-1] == f"| all | 3 | 1 | {' | '.join(shares)} |"
    text = page.page(outcomes, [], 0)
    undetected = text.partition("## Detected by nothing")[2].partition("##")[0]
    assert three.id in undetected
    assert two.id not in undetected


def test_equivalent_faults_exist_and_have_a_reason(everywhere: list[Fault]) -> None:
    known = {fault.words for fault in everywhere}
    for words, reason in page.equivalents().items():
        assert words in known, f"no such fault: {words}"
        assert len(reason.split()) > 3, words
