"""The votes of a parliament, on the generated legislature."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from bythebook.experiments.studies.latent.parliament import Parliament
from bythebook.models.datasets import load


@pytest.fixture(scope="module")
def votes():
    return load("fcml-votes").matrix.T


def test_attendance_and_pca(run, votes):
    outcome = run(Parliament(iterations=0))
    cast = outcome["votes_cast"].values
    assert cast.mean() / outcome["divisions"].item == pytest.approx(np.mean(votes != 0))
    own = load("fcml-votes-party").matrix[:, 0] == 0
    norm = np.linalg.norm(outcome["position"].sel(model="pca").values, axis=1)
    expected = pearsonr(norm[own], (votes != 0).sum(axis=1)[own]).statistic
    found = outcome["attendance_correlation"].sel(model="pca", main="Lab").item
    assert found == pytest.approx(expected)
    X, party = outcome["position"].values[0], outcome["member_party"].values
    snp, pc = (np.median(X[party == name], axis=0) for name in ("SNP", "PC"))
    apart = outcome["party_distance"].sel(model="pca", party="SNP", other="PC").item
    assert apart == pytest.approx(np.hypot(*(snp - pc)))


def test_probit_does_not_measure_attendance(run, votes):
    outcome = run(Parliament(iterations=15))
    before, after = outcome["attendance_correlation"].values.mean(axis=1)
    assert after < before / 2
    assert (np.diff(outcome["bound"].values) > 0).all()
    X, w = outcome["position"].sel(model="probit").values, outcome["boundary"]
    for division in w.coord("division"):
        here = votes[:, division - 1]
        sides = np.sign(X @ w.sel(division=division).values)
        right = (sides == here)[here != 0].mean()
        found = outcome["division_share_right"].sel(division=division).item
        assert found == pytest.approx(right)
    least, rank = outcome["uncertain_member"].values, outcome["uncertain_attendance_rank"].values
    away = outcome["uncertain_distance"].sel(model="pca").values
    np.testing.assert_allclose(away, np.hypot(*outcome["position"].values[0, least].T))
    larger = [max(sum(here == 1), sum(here == -1)) for here in votes.T]
    majority = sum(larger) / np.sum(votes != 0)
    assert outcome["share_with_majority"].item == pytest.approx(majority)
    cast = (votes != 0).sum(axis=1)
    for member, place in zip(least, rank, strict=True):
        assert np.sum(cast < cast[member]) <= place < np.sum(cast <= cast[member])
