"""Differences of variants, seed by seed, in the benchmark of quality."""

import pytest
from detection_quality import difference


def scores(**values):
    return [{"seed": int(seed[1:]), "map50_95": value} for seed, value in values.items()]


def test_difference_of_equal_seeds():
    # Spread over seeds doesn't count, and a seed that only one side has is left out.
    found = difference(scores(s0=0.1, s1=0.6, s2=0.3), scores(s2=0.2, s1=0.4, s0=0.1, s5=0.9))
    # Mean 0.1, standard deviation 0.1; 4.3027 is Student's t for two degrees of freedom.
    assert found["mean"] == pytest.approx(0.1)
    assert found["high"] - 0.1 == pytest.approx(4.3027 * 0.1 / 3**0.5, rel=1e-4)
    assert found["low"] + found["high"] == pytest.approx(0.2)
    assert found["seeds"] == 3


def test_one_seed_has_no_interval():
    found = difference(scores(s0=0.3), scores(s0=0.2))
    assert found == {"mean": pytest.approx(0.1), "low": None, "high": None, "seeds": 1}
