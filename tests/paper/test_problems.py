"""The problems' constants against their definitions, the suprema against brute force."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.optimize import brentq
from scipy.stats import kstest

from unchurn import InputError
from unchurn.paper.theory.problems import FEWEST_TICKS, Line, Square, _disc, _mean_label, wedge

LINES = [Line(1.0, 0.0), Line(0.5, 0.5), Line(1.0, 0.8)]
SQUARE = Square(1.0)


def mass(line, low, high):
    """Of [low, high] on the line, by the integral of its density."""
    low, high = max(low, 0), min(high, 1)
    return quad(lambda x: 1 + line.slope * (2 * x - 1), low, high)[0]


def eta_k(x, y, k, query):
    """The definition: the mean label over the closed ball of the k-th smallest distance."""
    distances = np.abs(x - query)
    return y[distances <= np.sort(distances)[k - 1]].mean()


@pytest.mark.parametrize("problem", [*LINES, SQUARE])
def test_eta_is_as_smooth_as_assumed_and_no_smoother(problem, rng):
    assumed = problem.assumptions
    x, other = rng.random((2, 100_000))
    x[:1000] = 0.5
    ratio = np.abs(wedge(x, problem.alpha) - wedge(other, problem.alpha))
    ratio /= np.abs(x - other) ** assumed.alpha
    assert ratio.max() == pytest.approx(assumed.c_alpha)
    assert ratio.max() <= assumed.c_alpha * (1 + 1e-9)


@pytest.mark.parametrize("line", LINES)
def test_balls_on_the_line_have_the_assumed_mass(line, rng):
    assumed = line.assumptions
    for x, r in rng.random((300, 2)) * [1, assumed.r_0]:
        assert mass(line, x - r, x + r) >= assumed.least_mass * r * (1 - 1e-9)
    r = 1e-6  # at the end where the density is lowest, it is no more than that
    assert mass(line, 0, r) == pytest.approx(assumed.least_mass * r, rel=1e-5)


def test_discs_in_the_square_have_the_assumed_mass(rng):
    assumed = SQUARE.assumptions
    queries, r = rng.random((1000, 2)), rng.uniform(1e-3, assumed.r_0, 1000)
    queries[:100, 0], queries[100:200, 1], queries[:50] = 0, 1, 1
    measured, _ = _disc(queries, r, SQUARE.alpha)
    assert (measured >= assumed.least_mass * r**2 * (1 - 1e-4)).all()
    assert measured[:50] == pytest.approx(assumed.least_mass * r[:50] ** 2, rel=1e-4)  # corners


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("beta", [0.05, 0.5, 0.9])
def test_smoothing_on_the_line_is_as_defined(line, beta):
    x = np.linspace(0, 1, 13)
    for value, at in zip(line.smoothed(x, beta), x, strict=True):
        r = brentq(lambda r, at=at: mass(line, at - r, at + r) - beta, 0, 1)
        inside = quad(
            lambda u: wedge(u, line.alpha) * (1 + line.slope * (2 * u - 1)),
            max(at - r, 0),
            min(at + r, 1),
            points=[0.5],
        )
        assert value == pytest.approx(inside[0] / beta, abs=1e-8)


@pytest.mark.parametrize("beta", [0.05, 0.5, 0.9])
def test_smoothing_in_the_square_is_as_defined(beta):
    queries = np.array([[0, 0], [0.5, 0.5], [0.5, 0], [0.1, 0.7], [1, 0.3]])
    points = (np.stack(np.meshgrid(np.arange(1500), np.arange(1500))) + 0.5) / 1500
    labels = wedge(points[0], 1.0).ravel()
    for value, query in zip(SQUARE.smoothed(queries, beta), queries, strict=True):
        squared = ((points - query[:, None, None]) ** 2).sum(axis=0).ravel()
        nearest = np.argpartition(squared, int(beta * squared.size))[: int(beta * squared.size)]
        assert value == pytest.approx(labels[nearest].mean(), abs=2e-5)


def test_a_disc_within_the_square_is_whole():
    (area,), (labels,) = _disc(np.array([[0.4, 0.5]]), np.array([0.3]), 1.0)
    assert area == pytest.approx(np.pi * 0.09, abs=1e-6)
    expected, _ = dblquad(
        lambda y, x: wedge(x, 1.0) + 0 * y,
        0.1,
        0.7,
        lambda x: -np.sqrt(0.09 - (x - 0.4) ** 2),
        lambda x: np.sqrt(0.09 - (x - 0.4) ** 2),
        epsabs=1e-6,
    )
    assert labels == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("line", LINES)
def test_draws_on_the_line_follow_the_density_and_eta(line):
    x, y = line.draw(np.random.default_rng(1), 50_000)
    assert (np.diff(x) > 0).all()
    assert kstest(x, lambda u: u * (1 - line.slope) + line.slope * u**2).pvalue > 0.001
    for part in np.array_split(np.arange(x.size), 10):
        rest = (y[part] - wedge(x[part], line.alpha)).mean()
        assert abs(rest) < 4 * 0.5 / np.sqrt(part.size)


def test_equal_floats_are_moved_apart():
    class Coarse(Line):
        def _quantile(self, mass):
            return np.round(mass, 3)

    x, _ = Coarse(1.0, 0.0).draw(np.random.default_rng(0), 5000)
    assert (np.diff(x) > 0).all()


@st.composite
def samples(draw):
    """Distinct points and labels; all on a binary grid, so that midpoints and ties are exact."""
    places = draw(st.lists(st.integers(0, 1024), min_size=1, max_size=25, unique=True))
    x = np.sort(places) / 1024
    y = np.array(draw(st.lists(st.booleans(), min_size=x.size, max_size=x.size)))
    return x, y, draw(st.integers(1, x.size))


@given(samples(), st.sampled_from(LINES), st.sampled_from([None, 0.1, 0.5, 0.8]))
@example((np.array([0.25, 0.75]), np.array([True, True]), 1), LINES[0], None)
def test_the_exact_supremum_is_that_of_brute_force(sample, line, beta):
    x, y, k = sample
    breaks = (x[:, None] + x) / 2  # all that there can be, for any k
    near = 1e-12  # the supremum may be a limit from the side
    queries = np.concatenate(
        [np.linspace(0, 1, 1025), breaks.ravel(), (breaks - near).ravel(), (breaks + near).ravel()]
    ).clip(0, 1)
    target = wedge(queries, line.alpha) if beta is None else line.smoothed(queries, beta)
    errors = [abs(eta_k(x, y, k, q) - t) for q, t in zip(queries, target, strict=True)]
    assert line.supremum(x, y, k, beta) == pytest.approx(max(errors), abs=2e-6)


def test_at_a_midpoint_both_ends_of_the_closed_ball_count():
    """Labels 1, 0, 1 around 1/2, k = 2: the tie at 1/2 has mean 2/3, its neighbours 1/2."""
    x, y = np.array([0.375, 0.5, 0.625]), np.array([True, False, True])
    errors = [abs(2 / 3 - 0.3), abs(0.5 - 0.3), abs(0.5 - 0.7)]
    assert Line(1.0, 0.0).supremum(x, y, 2) == pytest.approx(max(errors))


def test_chunks_do_not_matter(monkeypatch):
    x, y = LINES[1].draw(np.random.default_rng(2), 3000)
    whole = [LINES[1].supremum(x, y, k, beta) for k in (1, 7, 1500, 3000) for beta in (None, 0.3)]
    for chunk in (1, 10, 2994, 2993, 3000):
        monkeypatch.setattr("unchurn.paper.theory.problems.CHUNK", chunk)
        again = [
            LINES[1].supremum(x, y, k, beta) for k in (1, 7, 1500, 3000) for beta in (None, 0.3)
        ]
        assert again == whole


def test_neighbours_in_the_square_are_those_of_the_definition(rng):
    points, y = SQUARE.draw(np.random.default_rng(3), 400)
    assert (np.diff(points[0]) >= 0).all()
    for query in [*rng.random((20, 2)), np.zeros(2), np.ones(2)]:
        distances = np.hypot(*(points - query[:, None]))
        for k in (1, 10, 400):
            expected = y[distances <= np.sort(distances)[k - 1]].mean()
            assert _mean_label(points, y, k, query, 0.01) == pytest.approx(expected)


@pytest.mark.parametrize("beta", [None, 0.2])
def test_the_squares_supremum_is_over_a_grid_with_corners(beta):
    points, y = SQUARE.draw(np.random.default_rng(4), 500)
    k = 100
    errors = []
    for query in np.stack(np.meshgrid(*[np.linspace(0, 1, FEWEST_TICKS)] * 2), -1).reshape(-1, 2):
        distances = np.hypot(*(points - query[:, None]))
        value = y[distances <= np.sort(distances)[k - 1]].mean()
        target = 0.3 + 0.4 * abs(2 * query[0] - 1)
        if beta is not None:
            target = SQUARE.smoothed(query[None], beta)[0]
        errors.append(abs(value - target))
    assert SQUARE.supremum(points, y, k, beta) == pytest.approx(max(errors), abs=1e-9)


def test_bad_input_is_named():
    x, y = LINES[0].draw(np.random.default_rng(0), 10)
    with pytest.raises(InputError, match="k must be from 1 to the number of points, 10, not 11"):
        LINES[0].supremum(x, y, 11)
    with pytest.raises(InputError, match="x must increase strictly within 0 … 1"):
        LINES[0].supremum(x[::-1], y, 3)
    with pytest.raises(InputError, match="k must be from 1 to the number of points, 10, not 11"):
        SQUARE.supremum(*SQUARE.draw(np.random.default_rng(0), 10), 11)
