"""Declarations of quantities and axes, and how many quantities of claims lack one."""

import re
from collections.abc import Iterator
from typing import ClassVar

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.declarations import (
    AxisDeclaration,
    axis_of,
    check_layouts,
    merged,
    quantity,
    unknown_names,
)
from bythebook.experiments.core.expressions import quantity_names
from bythebook.experiments.core.study import studies

LOSS = quantity("mean squared error", "n order", unit="s^2", equation="FCML 1.19")


def test_a_declaration_has_meaning_axes_unit_and_equation() -> None:
    assert (LOSS.meaning, LOSS.unit, LOSS.equation) == ("mean squared error", "s^2", "FCML 1.19")
    assert LOSS.layouts == (("n", "order"),)
    assert LOSS.dims == ("n", "order")
    assert quantity("best order").dims == ()
    assert axis_of("delay", unit="s") == AxisDeclaration("delay", "s")


def test_axes_may_depend_on_the_knobs() -> None:
    either = quantity("bias", "n order | n ln_lambda")
    assert either.layouts == (("n", "order"), ("n", "ln_lambda"))
    assert either.format_dims() == "n, order or n, ln_lambda"
    assert quantity("bias", "| n").format_dims() == "one value or n"


def test_declarations_are_written_as_text_and_as_labels() -> None:
    assert LOSS.format() == "mean squared error [s^2] (FCML 1.19)"
    assert quantity("order").format() == "order"
    assert axis_of("delay", unit="s").format() == "delay [s]"
    assert LOSS.attrs() == {
        "long_name": "mean squared error", "units": "s^2", "equation": "FCML 1.19",
    }  # fmt: skip
    assert axis_of("delay").attrs() == {"long_name": "delay"}


def test_base_classes_are_merged() -> None:
    class Base:
        quantities: ClassVar = {"a": 1, "b": 1}

    class Other(Base):
        pass

    class Last(Other):
        quantities: ClassVar = {"b": 2, "c": 2}

    assert merged(Other, "quantities") == {"a": 1, "b": 1}
    assert merged(Last, "quantities") == {"a": 1, "b": 2, "c": 2}
    assert merged(Last, "axes") == {}


def test_a_misspelt_name_is_corrected() -> None:
    known = {"loo_loss": LOSS, "training_loss": LOSS}
    assert list(unknown_names(["loo_loss"], known)) == []
    assert list(unknown_names(["lo_loss", "x"], known)) == [
        "there is no quantity 'lo_loss' (did you mean 'loo_loss'?);"
        " allowed: loo_loss, training_loss",
        "there is no quantity 'x'; allowed: loo_loss, training_loss",
    ]


@pytest.mark.parametrize(
    ("dims", "complete", "message"),
    [
        ({"los": ("n",)}, True, r"the quantity 'los' is not declared \(did you mean 'loss'\?\)"),
        ({"loss": ("order", "n")}, False, "'loss' is over order, n; declared: n, order"),
        ({"loss": ()}, True, "'loss' is over no axis; declared: n, order"),
        ({"either": ("m",)}, True, "'either' is over m; declared: one value or n"),
    ],
)
def test_other_quantities_and_axes_are_refused(
    dims: dict[str, tuple[str, ...]], complete: bool, message: str
) -> None:
    declared = {"loss": LOSS, "either": quantity("either", "| n")}
    with pytest.raises(ValueError, match=message):
        check_layouts(dims, declared, complete=complete)


def test_declared_quantities_are_accepted() -> None:
    declared = {"loss": LOSS, "either": quantity("either", "| n")}
    check_layouts({"loss": ("n", "order"), "either": ("n",)}, declared, complete=True)
    check_layouts({"either": (), "other": ("m",)}, declared, complete=False)
    check_layouts({}, declared, complete=True)  # knobs may leave quantities out


def test_every_headline_is_declared() -> None:
    for name, study in studies().items():
        for expression in study.headline.values():
            assert quantity_names(expression) <= study.quantities.keys(), name


def names_in_claims() -> Iterator[tuple[str, str]]:
    """A study and a quantity, for each quantity in a claim."""
    for name in catalogue.experiment_names():
        job = load_job(name)
        for claim in job.claims:
            for text in claim.expressions:
                yield from ((job.study.name, found) for found in quantity_names(text, claim.let))


def test_every_study_declares_what_it_computes() -> None:
    kinds = studies()
    ours = {name: kind for name, kind in kinds.items() if kind.topic != "faults"}
    assert [name for name, kind in ours.items() if not kind.declares_all] == []
    assert {(n, q) for n, q in names_in_claims() if q not in kinds[n].quantities} == set()


def test_every_axis_of_a_complete_study_is_declared() -> None:
    for name, study in studies().items():
        used = {dim for q in study.quantities.values() for dims in q.layouts for dim in dims}
        if study.declares_all:
            assert used == study.axes.keys(), name
        assert study.axes.keys() <= used, name


def test_meanings_are_short_phrases() -> None:
    """They are labels of axes in figures: no capital, no full stop, at most 90 characters."""
    for name, study in studies().items():
        meanings = {key: entry.meaning for key, entry in study.quantities.items()}
        meanings |= {f"axis {key}": entry.meaning for key, entry in study.axes.items()}
        for key, meaning in meanings.items():
            assert re.fullmatch(r"[^.?]{3,90}", meaning), f"{name}: {key}"
            proper = re.match(
                r"(Newton|PageRank|Gaussian|Cauchy|Lagrange|Fisher|Kullback|Dirichlet|[A-Z]{2}|.\b)",
                meaning,
            )
            assert meaning[0].islower() or proper, f"{name}: {key}"
