"""Hard labels against responsibilities."""

from collections.abc import Callable

import pytest

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.drawing.registry import figures
from experiments.studies.clustering.hard_labels import HardLabels


def test_the_hard_label_is_the_most_probable(run: Callable[..., Outcome]) -> None:
    study = HardLabels(responsibilities=[0.1, 0.2, 0.7])
    outcome = run(study)
    assert outcome["responsibility"].at(component=3).item == 0.7
    soft, hard = figures(study, outcome)["labels"].axes[0].containers
    assert [bar.get_height() for bar in soft] == [0.1, 0.2, 0.7]
    assert [bar.get_height() for bar in hard] == [0, 0, 1]
    with pytest.raises(BadInput, match="sum to"):
        HardLabels(responsibilities=[0.5, 0.6])
