"""Study `marginals`: invalid settings, and a chain of three."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.marginals import HMM, POLYTREE, Marginals

Run = Callable[..., Outcome]
LOOP = ["a, b", "b, c", "c, a"]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"root": "y"}, "study.root=y; allowed: a variable of a stated graph"),
        ({"root": "x1", "graph": "tree"}, "study.root=x1"),
        ({"observed": 4}, "study.observed=4; allowed: fewer than 4"),
        ({"graph": HMM, "variables": 3, "observed": 4}, "study.observed=4"),
        ({"factors": LOOP}, "two passes does not suit this graph"),
        ({"methods": ["forward-backward"], "graph": HMM}, "forward-backward does not suit"),
        ({"methods": ["one by one, waiting"], "semirings": ["boolean"]}, "takes sum-product only"),
        ({"semirings": ["min-sum"], "observed": 1}, "min-sum, whose marginals are infinite"),
        ({"graph": "tree", "variables": 10, "states": 5}, "number of configurations"),
    ],
)
def test_invalid_settings_are_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Marginals(**changed)  # type: ignore[arg-type]


def test_messages_of_a_chain_in_their_order(run: Run) -> None:
    found = run(Marginals(factors=["a, b", "b, c"], root="c", draws=2))
    assert found["inward"].values.tolist() == ["a -> fa", "fa -> b", "b -> fb", "fb -> c"]
    assert found["outward"].values.tolist() == ["c -> fb", "fb -> b", "b -> fa", "fa -> a"]
    assert found["messages"].values.tolist() == [[[0, 0], [8, 8]]]


def test_marginals_of_a_polytree(run: Run) -> None:
    methods = ["enumeration", "two passes", "lambda and pi", "lambda and pi, echoed"]
    study = Marginals(graph=POLYTREE, variables=5, states=2, observed=2, methods=methods, draws=20)
    marginal = run(study)["marginal"].values[0]
    np.testing.assert_allclose(marginal.sum(-1), 1)
    np.testing.assert_allclose(marginal[1:3], marginal[[0, 0]], atol=1e-12)
    assert np.abs(marginal[3] - marginal[0]).max() > 1e-3
    assert ((marginal[0] == 0).any(-1).sum(-1) == 2).all()  # the observed variables


def test_entries_of_each_semiring(run: Run) -> None:
    rings = ["max-product", "min-sum", "boolean"]
    study = Marginals(factors=LOOP, methods=["elimination"], semirings=rings, draws=3)
    largest, smallest, possible = run(study)["marginal"].values[:, 0]
    np.testing.assert_allclose(np.exp(-smallest), largest)
    assert set(possible.ravel()) <= {0, 1}
