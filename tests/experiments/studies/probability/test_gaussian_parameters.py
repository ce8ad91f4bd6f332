"""Parameters of a Gaussian, counted."""

from experiments.contract.study import generator
from experiments.studies.probability.gaussian_parameters import GaussianParameters


def test_parameter_counts_are_drawn_and_counted() -> None:
    study = GaussianParameters(dimensions=[3])
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["full_3"] == 9
    assert outcome.metrics["formula_agrees_with_count"] is True
    assert list(study.draw(outcome)) == ["parameters"]
