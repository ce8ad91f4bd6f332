"""Images of a weight vector."""

from math import factorial

import numpy as np

from bythebook.models.networks.neural_network import layers, predict, random_start
from bythebook.models.networks.symmetries import count_equal, image, images


def test_images_have_the_same_outputs_and_are_distinct() -> None:
    rng = np.random.default_rng(0)
    sizes, x = (2, 3, 2), rng.standard_normal((6, 2))
    theta = random_start(sizes, 1, rng)[0]
    found = images(theta, sizes, flips=True, orders=True)
    assert len(found) == factorial(3) * 2**3 == count_equal(theta, found, sizes, x)
    assert np.allclose(predict(found, sizes, x), predict(theta, sizes, x))


def test_other_weights_do_not_count() -> None:
    rng = np.random.default_rng(1)
    sizes, x = (2, 2, 1), rng.standard_normal((6, 2))
    theta, other = random_start(sizes, 2, rng)
    assert count_equal(theta, np.array([theta, theta, other]), sizes, x) == 1
    back = image(image(theta, sizes, np.array([1, 0]), np.array([-1.0, 1.0])), sizes,
                 np.array([1, 0]), np.array([1.0, -1.0]))  # fmt: skip
    assert np.allclose(back, theta)


def test_a_difference_at_one_input_or_in_one_output_is_enough() -> None:
    sizes, x = (2, 2, 2), np.array([[0.0, 1.0], [0.0, -0.5], [1.0, 0.5]])
    theta = random_start(sizes, 1, np.random.default_rng(2))[0]
    others = np.repeat(theta[None], 3, axis=0)
    layers(others[1], sizes)[1].b[0] += 0.1  # all inputs, one output
    layers(others[2], sizes)[0].W[:, 0] += 0.1  # both outputs, only the third input is not zero
    gap = np.abs(predict(others, sizes, x) - predict(theta, sizes, x))
    assert (gap > 1e-6).sum() == 3 + 2
    assert count_equal(theta, others, sizes, x) == 1
