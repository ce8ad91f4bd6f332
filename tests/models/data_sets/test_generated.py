"""Stand-ins of the files of MLAPP and PRML have their documented properties."""

import numpy as np
import pytest

from bythebook.models.data_sets import generated
from bythebook.models.datasets import load


def test_the_web_has_the_size_and_the_tail_of_the_crawl() -> None:
    graph = load("mlapp-harvard500").graph
    to, source = graph.G.sum(1), graph.G.sum(0)
    assert len(set(graph.nodes)) == 500
    assert len(np.unique(graph.links, axis=0)) == len(graph.links) == graph.G.sum()
    assert 2000 < len(graph.links) < 3500  # 2636 in the crawl
    assert to.min() >= 1
    assert 0.2 < np.mean(source == 0) < 0.3  # 122 of 500
    # Poisson with this mean would give no page beyond 20, and almost no page with one link
    assert np.median(to) <= 2
    assert (to > 20).sum() > 10
    assert to.max() > 10 * to.mean()


def test_every_page_can_be_reached_from_the_first() -> None:
    G = load("mlapp-harvard500").graph.G
    reached = np.arange(500) == 0
    for _ in range(500):
        reached |= (G @ reached) > 0
    assert reached.all()


def test_the_letter_is_one_stroke_of_ink_with_one_hole() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    data = load("mlapp-letter-a")
    pixels = data.images.pixels
    assert pixels.shape == (1, 128, 128)
    assert set(np.unique(pixels)) == {0.0, 1.0}
    assert 0.2 < pixels.mean() < 0.3  # 0.26 in the authors' file
    assert ndimage.label(pixels[0])[1] == 1
    assert ndimage.label(1 - pixels[0])[1] == 2  # outside, and inside the A
    top, bottom = pixels[0, :20].any(0).sum(), pixels[0, 100:].any(0).sum()
    assert top < 30 < bottom


def test_the_text_is_a_draw_from_its_source() -> None:
    source = generated.text_source()
    text = load("mlapp-darwin").text
    assert set(text) == set(source.alphabet) | {"\n"}
    code = np.array([source.alphabet.index(c) for c in text.replace("\n", " ")])
    pairs = np.zeros((27, 27))
    np.add.at(pairs, (code[:-1], code[1:]), 1)
    N = pairs.sum()
    np.testing.assert_allclose(pairs.sum(1) / N, source.start, atol=4 * np.sqrt(0.25 / N))
    expected = N * source.start[:, None] * source.transition
    assert pairs[expected == 0].sum() == 0
    likely = expected > 5
    chi_squared = ((pairs - expected)[likely] ** 2 / expected[likely]).sum()
    assert chi_squared < likely.sum() + 6 * np.sqrt(2 * likely.sum())
    # the entropy of a character given the one before; the estimate is a little low, by 0.002
    conditional = pairs / pairs.sum(1, keepdims=True)
    estimate = -(pairs * np.log2(np.where(pairs > 0, conditional, 1))).sum() / N
    assert estimate == pytest.approx(source.entropy_rate, abs=0.01)


def test_the_entropy_of_the_source_is_that_of_groups_and_of_letters_within() -> None:
    def bits(p: np.ndarray) -> float:
        p = p[p > 0]
        return float(-(p * np.log2(p)).sum())

    source = generated.text_source()
    np.testing.assert_allclose(source.transition.sum(1), 1, rtol=1e-12)
    np.testing.assert_allclose(source.start @ source.transition, source.start, atol=1e-14)
    vowel = np.isin(list(source.alphabet), list("aeiou"))
    consonant = ~vowel & (np.arange(27) > 0)
    groups = [np.arange(27) == 0, vowel, consonant]
    letters = [bits(source.start[g] / source.start[g].sum()) for g in groups]
    rate = 0.0
    for g in groups:
        row = source.transition[g][0]
        onward = np.array([row[h].sum() for h in groups])
        rate += source.start[g].sum() * (bits(onward) + onward @ letters)
    assert source.entropy_rate == pytest.approx(rate, rel=1e-12)


def test_paths_through_the_pipe_are_those_of_a_ruler() -> None:
    """Each beam is cut into short pieces, and the pieces in water and in oil are counted."""
    share = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.25, 0.7, 0.05]])
    s = np.linspace(-1, 1, 200_001)
    piece = s[1] - s[0]
    beams = [(np.full_like(s, x), s) for x in (0.83, 0.48, 0.17)]
    beams += [(s, np.full_like(s, y)) for y in (-0.48, 0.0, 0.48)]
    disc = np.linspace(-1, 1, 1001)
    heights = np.add.outer(np.zeros(1001), disc)[np.add.outer(disc**2, disc**2) < 1]
    for water, oil, gas in share:
        levels = np.quantile(heights, [water, water + oil])
        expected_rings, expected_layers = [], []
        for x, y in beams:
            inside = x**2 + y**2 < 1
            squared = x**2 + y**2
            in_gas, in_oil = squared < gas, (squared >= gas) & (squared < gas + oil)
            expected_rings += [piece * (inside & ~in_gas & ~in_oil).sum(), piece * in_oil.sum()]
            for low, high in ((-1, levels[0]), (levels[0], levels[1])):
                expected_layers.append(piece * (inside & (y >= low) & (y < high)).sum())
        shares = np.array([[water, oil, gas]])
        np.testing.assert_allclose(generated._rings(shares)[0], expected_rings, atol=1e-4)
        np.testing.assert_allclose(generated._layers(shares)[0], expected_layers, atol=5e-3)


def test_a_mixed_flow_is_a_plane_and_the_three_sets_differ() -> None:
    sets = [load(f"prml-oil-flow{part}") for part in ("", "-test", "-validation")]
    assert len({data.sha256 for data in sets}) == 3
    for data in sets:
        assert data.matrix.shape == (1000, 13)
        assert list(data.columns)[-1] == "t"
        t = data.columns["t"]
        assert set(t) == {1.0, 2.0, 3.0}
        assert min((t == c).sum() for c in (1, 2, 3)) > 280
        mixed = data.matrix[t == 1, :12]
        spectrum = np.linalg.svd(mixed - mixed.mean(0), compute_uv=False) ** 2
        assert spectrum[:2].sum() / spectrum.sum() > 0.95
        layers = data.matrix[t == 3, :12]
        spectrum = np.linalg.svd(layers - layers.mean(0), compute_uv=False) ** 2
        assert spectrum[:2].sum() / spectrum.sum() < 0.9  # a beam is in one layer or in the next
