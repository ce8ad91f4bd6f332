"""Names as people write them."""

from experiments.report.spelling import humanised


def test_acronyms_and_people_are_written_large() -> None:
    assert humanised("hmm_em_starts") == "HMM EM starts"
    assert humanised("bernoulli_mixture") == "Bernoulli mixture"
