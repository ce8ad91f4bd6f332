"""LaTeX as plain text: fractions keep their brackets, indices and exponents their place."""

import pytest

from bythebook.experiments.core.equations import all_equations
from bythebook.experiments.core.latex_text import latex_to_text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\alpha_k = \alpha_0 + N_k", "α_k = α₀ + N_k"),
        (r"p = \frac{a + b}{c}", "p = (a + b) / c"),
        (r"\frac{1}{N} \sum_{n=1}^N x_n", "(1 / N) ∑_{n=1}^N x_n"),
        (r"\ln p + \frac{D}{2} \ln 2 \pi", "ln p + (D / 2) ln 2 π"),
        (r"\mathbf{W}_k^{-1} \bar{x}^2", "W_k⁻¹ x̄²"),
        (r"\left( \frac{a}{b} \right)", "(a / b)"),
        (r"\boldsymbol{\mu}_k = \boldsymbol{\Sigma} \mathbf{x}", "μ_k = Σ x"),
        (r"\tfrac{1}{2} a + \dfrac{b}{c} d", "(1 / 2) a + (b / c) d"),
    ],
)
def test_a_formula_on_one_line(latex: str, text: str) -> None:
    assert latex_to_text(latex) == text


@pytest.mark.parametrize("name", all_equations())
def test_every_formula_is_one_line_without_commands(name: str) -> None:
    entry = all_equations()[name]
    for latex in filter(None, (entry.latex, entry.corrected)):
        text = latex_to_text(latex)
        assert "\n" not in text
        assert "⟦" not in text
        assert "\\" not in text.replace(" ∖ ", "")
        assert len(text) <= len(latex)
