"""Word probabilities of a small class by hand."""

import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.probability.dirichlet_multinomial import DirichletMultinomial


def test_a_small_class_by_hand() -> None:
    study = DirichletMultinomial(counts=[2, 1, 0], new=[1, 0, 1], alphas=[2.0], draws=20_000)
    outcome = study.run(generator(study.name, 0))
    table = outcome.tables["alphas"]
    assert [table[f"q_{m}"][0] for m in (1, 2, 3)] == pytest.approx([3 / 6, 2 / 6, 1 / 6])  # 5.8
    # two orders of two words: 2 E{q_1 q_3} = 2 * 4 * 2 / (9 * 10) under Dirichlet(4, 3, 2)
    assert table["expected_likelihood"][0] == pytest.approx(2 * 4 * 2 / 90)
    assert outcome.metrics["ml_likelihood"] == 0
    assert outcome.metrics["map_formula_is_the_maximum"] is True
    assert outcome.metrics["expected_likelihood_agrees_with_monte_carlo"] is True
    assert list(study.draw(outcome)) == ["estimates"]


def test_texts_of_another_vocabulary_are_refused() -> None:
    with pytest.raises(BadInput, match="equally many"):
        DirichletMultinomial(new=[1])
