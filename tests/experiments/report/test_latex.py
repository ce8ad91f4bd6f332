"""LaTeX of the equations as MathML: well-formed, complete, and the same formula."""

from xml.etree import ElementTree

import pytest

from bythebook.experiments.core.equations import all_equations
from bythebook.experiments.report.latex import latex_to_mathml

FORMULAS = {
    f"{entry.name} {kind}": latex
    for entry in all_equations().values()
    for kind, latex in (("printed", entry.latex), ("corrected", entry.corrected))
    if latex is not None
}


def test_a_formula_has_its_parts() -> None:
    tree = ElementTree.fromstring(latex_to_mathml(r"\frac{\alpha_k}{2} \leq \sum_{n=1}^N x_n"))
    assert tree.get("display") == "block"
    assert tree.get("alttext") == r"\frac{\alpha_k}{2} \leq \sum_{n=1}^N x_n"
    assert [node.tag for node in tree.iter()].count("mfrac") == 1
    assert "".join(tree.itertext()) == "αk2≤∑n=1Nxn"


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_is_converted_completely(name: str) -> None:
    tree = ElementTree.fromstring(latex_to_mathml(FORMULAS[name]))
    text = "".join(tree.itertext())
    assert "\\" not in text or "setminus" in FORMULAS[name]
    assert "{}" not in text
    assert not tree.findall(".//merror")
