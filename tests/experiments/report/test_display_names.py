"""Display names: acronyms and names of persons."""

from bythebook.experiments.report.display_names import display_name


def test_acronyms_and_names_of_persons_are_capitalised() -> None:
    assert display_name("hmm_em_starts") == "HMM EM starts"
    assert display_name("bernoulli_mixture") == "Bernoulli mixture"
