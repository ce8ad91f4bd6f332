"""Objects by cluster: colour and symbol."""

from bythebook.experiments.plotting.latent import cluster_points


def test_clusters_are_distinguished_by_colour_and_symbol() -> None:
    marks = cluster_points("points[:, 1]", "points[:, 2]", clusters=3)
    assert len({(mark.look["color"], mark.look["marker"]) for mark in marks}) == 3
    assert [mark.where for mark in marks] == [f"cluster == {k}" for k in range(3)]
    assert {(mark.x, mark.y) for mark in marks} == {("points[:, 1]", "points[:, 2]")}
