"""The votes of a parliament, on the generated legislature."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.latent.parliament import VoteAttendance, VotePca, VoteProbit
from models.datasets import load


def test_attendance() -> None:
    study = VoteAttendance()
    outcome = study.run(generator(study.name, 0))
    votes = load("fcml-votes").matrix
    assert outcome.metrics["n_divisions"] == len(votes)
    assert outcome.metrics["mean_share"] == pytest.approx(np.mean(votes != 0))
    assert outcome.metrics["percent_3"] == pytest.approx(1.5528, abs=1e-4)
    assert list(study.draw(outcome)) == ["attendance"]


def test_pca_measures_attendance_and_probit_does_not() -> None:
    plain = VotePca()
    before = plain.run(generator(plain.name, 0))
    votes, party = load("fcml-votes").matrix.T, load("fcml-votes-party").matrix[:, 0]
    own = party == 0
    norm = np.linalg.norm(before.arrays["X"], axis=1)
    expected = pearsonr(norm[own], (votes != 0).sum(axis=1)[own]).statistic
    assert before.metrics["attendance_correlation_lab"] == pytest.approx(expected)
    assert list(plain.draw(before)) == ["map"]
    study = VoteProbit(iterations=15, show=["uncertain", "divisions"])
    after = study.run(generator(study.name, 0))
    assert after.metrics["attendance_matters_less"] is True
    assert after.metrics["bound_never_falls"] is True
    w, X = after.arrays["w"], after.arrays["X"]
    for i, division in enumerate(after.arrays["chosen"] - 1):
        cast = votes[:, division] != 0
        right = np.sign(X[cast] @ w[i]) == votes[cast, division]
        assert after.arrays["chosen_right"][i] == pytest.approx(right.mean())
    assert list(study.draw(after)) == ["uncertain", "divisions"]
    with pytest.raises(BadInput, match=r"study\.show"):
        VoteProbit(show=["votes"])
