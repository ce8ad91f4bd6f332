"""Every printed equation at three seeds, planted faults, and the results that claim equations."""

import ast
import copy
import re
from collections.abc import Iterator

import pytest

from bythebook.experiments.config import catalogue, errata
from bythebook.experiments.core.equations import (
    PACKAGE,
    Equation,
    Sides,
    all_equations,
    evaluate,
    evaluate_function,
)
from bythebook.experiments.core.verdicts import ERRATUM, HOLDS

EQUATIONS = all_equations()
# Equations that no result claims yet: the list may only shrink.
NOT_YET_CLAIMED: set[str] = set()
MUTATED = 3  # faults planted into each equation
CAUGHT = 0.9  # of the planted faults; the others change nothing, as a factor of both terms


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", EQUATIONS)
def test_an_equation_holds_or_is_an_erratum(name: str, seed: int) -> None:
    entry = EQUATIONS[name]
    found = evaluate(entry, seed=seed)
    wanted = HOLDS if entry.corrected is None else ERRATUM
    assert entry.verdict(found.gap, found.corrected_gap) == wanted, found


@pytest.mark.parametrize("name", EQUATIONS)
def test_an_equation_is_described(name: str) -> None:
    entry = EQUATIONS[name]
    assert entry.book in catalogue.BOOKS
    assert entry.says
    assert (entry.latex + (entry.corrected or "")).isprintable()  # a tab is a lost backslash
    assert entry.section.partition(".")[0] == re.sub(r"\D+0?", "", entry.module)
    if entry.cause is not None:
        assert entry.corrected
        errata.load_erratum(entry.book, entry.cause)


def test_every_equation_is_claimed_by_one_result() -> None:
    claims = catalogue.equation_claims()
    assert set(claims) <= set(EQUATIONS)
    assert set(EQUATIONS) - set(claims) == NOT_YET_CLAIMED
    assert {name: results for name, results in claims.items() if len(results) > 1} == {}


def printed_side(function: ast.FunctionDef) -> list[ast.AST]:
    """The nodes of the printed formula: the argument of `Sides`, and what it is computed from."""
    assigned: dict[str, ast.AST] = {
        name.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    assigned |= {n.name: n for n in ast.walk(function) if isinstance(n, ast.FunctionDef)}
    del assigned[function.name]
    (sides,) = (
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Sides"
    )
    keywords = {word.arg: word.value for word in sides.keywords}

    def words(node: ast.AST) -> set[str]:
        found: set[str] = set()
        waiting: list[ast.AST] = [node]
        while waiting:
            names = {n.id for n in ast.walk(waiting.pop()) if isinstance(n, ast.Name)} - found
            found |= names
            waiting += [assigned[name] for name in names if name in assigned]
        return found

    own = words(keywords["printed"]) - words(keywords["truth"])
    parts = [keywords["printed"], *(assigned[name] for name in own if name in assigned)]
    return [node for part in parts for node in ast.walk(part)]


SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


def faults(function: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """The function with one sign, factor or index of the printed formula changed."""
    for index, node in enumerate(printed_side(function)):
        changed = copy.deepcopy(function)
        twin = printed_side(changed)[index]
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            assert isinstance(twin, ast.BinOp)
            twin.op = SIGNS[type(node.op)]()
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            assert isinstance(twin, ast.Constant)
            twin.value = node.value + 1
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            assert isinstance(twin, ast.UnaryOp)
            twin.op = ast.UAdd()
        else:
            continue
        yield changed


def noticed(entry: Equation, function: ast.FunctionDef) -> bool:
    """Whether the faulty formula gets another verdict, or an error."""
    tree = ast.parse(entry.path.read_text())
    tree.body = [function if getattr(n, "name", "") == entry.function else n for n in tree.body]
    scope = {"__name__": f"{PACKAGE}.{entry.book}.faulty"}
    exec(compile(ast.fix_missing_locations(tree), str(entry.path), "exec"), scope)
    found = evaluate_function(entry, scope[entry.function], cases=4)  # type: ignore[arg-type]
    return entry.verdict(found.gap, found.corrected_gap) != HOLDS


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_planted_faults_are_noticed() -> None:
    missed, planted = [], 0
    for entry in EQUATIONS.values():
        if entry.corrected is not None:
            continue
        (function,) = (
            node
            for node in ast.parse(entry.path.read_text()).body
            if isinstance(node, ast.FunctionDef) and node.name == entry.function
        )
        every = list(faults(function))
        for changed in every[:: max(1, len(every) // MUTATED)][:MUTATED]:
            planted += 1
            if not noticed(entry, changed):
                missed.append(f"{entry.name}: {ast.unparse(changed.body[-1])}")
    assert planted >= len(EQUATIONS)
    assert len(missed) <= (1 - CAUGHT) * planted, "\n".join(missed)


def test_a_wrong_factor_is_noticed() -> None:
    """The simplest fault of all, in one equation of each book, in every case."""
    for entry in {entry.book: entry for entry in EQUATIONS.values()}.values():
        from importlib import import_module

        function = getattr(import_module(f"{PACKAGE}.{entry.book}.{entry.module}"), entry.function)

        def doubled(rng: object, function: object = function) -> Sides:
            sides: Sides = function(rng)  # type: ignore[operator]
            printed = sides.printed
            twice = tuple(2 * p for p in printed) if isinstance(printed, tuple) else 2 * printed
            return sides._replace(printed=twice)

        found = evaluate_function(entry, doubled, cases=5)
        assert found.gap > 0.1
