"""Study `web_changes`: settings and results."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.web_changes import WebChanges


def test_a_farm_lifts_its_target(run: Callable[..., Outcome]) -> None:
    found = run(WebChanges(webs=3, pages=30, farms=[0, 50]))
    places = found["target_place"].values
    assert (places[:, 0] > 15).all()
    assert (places[:, 1] == 1).all()
    assert (found["farm_rank"].values[:, 0] == 0).all()
    assert (found["restart_iterations"].values <= found["fresh_iterations"].values).all()
