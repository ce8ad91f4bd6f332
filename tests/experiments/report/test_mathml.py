"""Formulas as MathML: sure formulas are converted completely, other text is unchanged."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from bythebook.experiments.config import catalogue, errata
from bythebook.experiments.report.mathml import GREEK, formulas
from bythebook.experiments.report.pages import as_sentence


def shown(text: str) -> str:
    """The markup as one line of text: {a|b} is a fraction, r(...) a root, [...] a formula."""
    tree = ElementTree.fromstring(f"<p>{unwrapped(text)}</p>")
    return (tree.text or "") + "".join(f"[{_line(m)}]{m.tail or ''}" for m in tree)


def unwrapped(text: str) -> str:
    """The markup without the spans that keep a formula and its comma on one line."""
    return re.sub(r'<span class="one">(.*?)</span>', r"\1", str(formulas(text)))


def _line(node: ElementTree.Element) -> str:
    parts = [_line(child) for child in node]
    match node.tag:
        case "mfrac":
            return "{" + "|".join(parts) + "}"
        case "msup":
            return f"{parts[0]}^{{{parts[1]}}}"
        case "msub":
            return f"{parts[0]}_{{{parts[1]}}}"
        case "msubsup":
            return f"{parts[0]}_{{{parts[1]}}}^{{{parts[2]}}}"
        case "msqrt":
            return f"r({''.join(parts)})"
        case "mspace":
            return " "
    return (node.text or "") + "".join(parts)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("the weight of x^2 is zero", "the weight of [x^{2}] is zero"),
        ("loss in w_1, equation 1.6", "loss in [w_{1}], equation 1.6"),
        ("X^T X, off the diagonal", "[X^{T} X], off the diagonal"),
        ("the gradient of w^T C w, for C", "the gradient of [w^{T} C w], for C"),
        ("is (C + C^T) w.", "is [(C+C^{T}) w]."),
        ("5x^3 - x^2 + x, x uniform", "[5x^{3}−x^{2}+x], x uniform"),
        ("p(x_{n+1} | z_{n+1})", "[p(x_{n+1}|z_{n+1})]"),
        ("cov = I^-1; the", "cov = [I^{−1}]; the"),
        ("E_COM is above E_AV / M where", "[E_{COM}] is above [{E_{AV}|M}] where"),
        ("-2 y_nm <w_m>^T <x_n>", "[−2y_{nm} ⟨w_{m}⟩^{T} ⟨x_{n}⟩]"),
        ("with 1 / sqrt(2 pi) it is", "with [{1|r(2π)}] it is"),
        ("(alpha - 1) / (alpha + beta - 2)", "[{α−1|α+β−2}]"),
        ("sigma^2 (N - 3) / N, by three", "[σ^{2}(N−3)/N], by three"),
        ("C = Y^T Y / N", "[C=Y^{T} Y/N]"),
        ("(2 pi epsilon)^(-D/2)", "[(2π ε)^{−D/2}]"),
        ("at gamma = 0.01 it", "at [γ=0.01] it"),
        ("alpha = beta = 1 gives", "[α=β=1] gives"),
        ("near ln lambda = -15.8", "near [ln λ=−15.8]"),
        ("with 0 < alpha < C", "with [0<α<C]"),
        ("by adding lambda (a - g) with", "by adding [λ(a−g)] with"),
        ("is f - lambda (g - a)", "is [f−λ(g−a)]"),
        ("below exp(-a) at a, by", "below [exp(−a)] at a, by"),
        ("points of sin(2 pi x) with", "points of [sin(2π x)] with"),
        ("energy F(q, theta) along EM", "energy [F(q,θ)] along EM"),
        ("<log tau> = digamma(e) - log f", "[⟨log τ⟩=digamma(e)−log f]"),
        ("as -J / (2 epsilon), and", "as [−{J|2ε}], and"),
        ("-N/2 ln(1 - r^2) for", "[−N/2ln(1−r^{2})] for"),
        ("rule sum_k A_ik B_kj, gives", "rule [∑_{k} A_{ik} B_{kj}], gives"),
        ("the posterior's a_N where", "the posterior's [a_{N}] where"),
        ("2 Phi(-m / 2) over steps", "[2Φ(−{m|2})] over steps"),
        ("N(mu, sigma^2) and mu / sigma in", "[N(μ,σ^{2})] and [{μ|σ}] in"),
        ("the normaliser (2 pi)^(-1/2) (9.41)", "the normaliser [(2π)^{−1/2}] (9.41)"),
    ],
)
def test_formulas(text: str, line: str) -> None:
    assert shown(text) == line


@pytest.mark.parametrize(
    "text",
    [
        "(13.65) and (18.98): they do not",
        "with the factor epsilon (9.43) holds",
        "the M step maximises F over theta (20) - no parameters",
        "2d + 1 sigma points, that is 5",
        "the beta density: that of 2 and 1",
        "alpha 1, beta 0 and kappa 2 make lambda 2",
        "the script cv_demo.m and the file bc_data",
        "was `never_rises`; now `x_1 > 0`",
        "models/clustering/gaussian_mixture_map.py",
        "over N_k0_extra",
        "5/12, by the gamma functions",
        "C = 10, so the margin is hard",
        "lambda may be negative - the comment says",
        "a0 = b0 = 0.01",
        "study.design=uniform",
        "log likelihood, log of the gamma function",
        "x^ and _ and ^2 alone",
        '<b>bold</b> & "quoted"',
    ],
)
def test_text_that_is_not_surely_a_formula_is_unchanged(text: str) -> None:
    assert formulas(text) == escape(text)


def texts() -> list[str]:
    """All titles, notes, claims and texts of the ledger."""
    collected = []
    for name in catalogue.experiment_names():
        entry = catalogue.load_experiment(name)
        collected += [str(entry.source.get(key, "")) for key in ("title", "note")]
        fields = ("says", "why", "because", "changed", "corrected")
        collected += [
            str(claim.get(f, "")) for claim in entry.body.get("claims", []) for f in fields
        ]
    for book in catalogue.BOOKS:
        for name in errata.erratum_names(book):
            erratum = errata.load_erratum(book, name)
            collected += [erratum.says, erratum.cause, erratum.because, *erratum.readings]
    return collected


def test_no_text_loses_a_character() -> None:
    """Replacing the formulas by their sources restores every text."""
    drawn = 0
    for text in texts():
        markup = unwrapped(text)
        ElementTree.fromstring(f"<p>{markup}</p>")
        back, count = re.subn(r'<math alttext="([^"]*)">.*?</math>', r"\1", markup)
        assert back == str(escape(text))
        drawn += count
    assert drawn > 100


def test_every_letter_and_digit_of_a_formula_is_drawn() -> None:
    spelt = {letter: name for name, letter in GREEK.items()}
    for text in texts():
        for match in re.finditer(r'<math alttext="([^"]*)">(.*?)</math>', str(formulas(text))):
            inner = re.sub(r"<[^>]*>", "", match[2])
            drawn = "".join(spelt.get(c, "sum" if c == "∑" else c) for c in inner)
            source = "".join(spelt.get(c, c) for c in match[1])
            letters = re.sub(r"&(lt|gt);|sqrt|[^A-Za-z0-9]", "", source)
            assert re.sub(r"&(lt|gt);|[^A-Za-z0-9]", "", drawn) == letters, text


@given(st.text(alphabet="ax1_^(){}<>=/|-+ .,'`&sigma", max_size=25))
def test_any_text_gives_valid_markup_without_loss(text: str) -> None:
    markup = unwrapped(text)
    ElementTree.fromstring(f"<p>{markup}</p>")
    assert re.sub(r'<math alttext="([^"]*)">.*?</math>', r"\1", markup) == str(escape(text))


def test_a_comma_stays_with_its_formula() -> None:
    markup = formulas("as x^2, which")
    assert re.fullmatch(r'as <span class="one"><math.*</math>,</span> which', str(markup))


def test_a_symbol_at_the_beginning_of_a_sentence_gets_no_capital() -> None:
    assert as_sentence("gamma = 1 is the best") == "gamma = 1 is the best."
    assert as_sentence("gamma densities differ") == "Gamma densities differ."
