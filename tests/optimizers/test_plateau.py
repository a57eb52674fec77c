import numpy as np
import pytest

import pytensor
from pytensor.optimizers import SGD, ReduceLROnPlateau

LOSSES = [3, 2, 2, 2, 2, 1.99999, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, np.nan, 1.4, 1.39]


@pytest.mark.parametrize(
    ("how", "rates"),
    [  # of PyTorch's
        ({"patience": 2}, [0.1] * 4 + [0.01] * 5 + [0.001] * 3 + [0.0001] * 3),
        (
            {"patience": 1, "factor": 0.5, "minimum": 0.03},
            [0.1] * 3 + [0.05] * 2 + [0.03] * 10,
        ),
        ({"patience": 1, "minimum": 0.2}, [0.1] * 15),
    ],
)
def test_rates_are_those_of_torch(how, rates):
    plateau = ReduceLROnPlateau(0.1, **how)
    found = []
    for loss in LOSSES:
        plateau.update(loss)
        found.append(float(plateau.rate.get_value()))
    np.testing.assert_allclose(found, rates)


def test_its_state_is_all_that_has_to_be_saved():
    plateaus = [ReduceLROnPlateau(0.1, patience=2) for _ in range(2)]
    for loss in LOSSES[:8]:
        plateaus[0].update(loss)
    for name, variable in plateaus[0].state.items():
        assert variable.name == name
        assert np.isfinite(variable.get_value()).all()
        plateaus[1].state[name].set_value(variable.get_value())
    for loss in LOSSES[8:10]:
        for plateau in plateaus:
            plateau.update(loss)
    assert plateaus[1].rate.get_value() == pytest.approx(0.001)


def test_a_step_follows_it():
    plateau = ReduceLROnPlateau(0.5, factor=0.5, patience=0)
    w = pytensor.shared(np.ones(1), name="w")
    updates = SGD(plateau.rate).minimize(w.sum(), [w])
    step = pytensor.function([], updates=updates, mode="FAST_COMPILE")
    step()
    plateau.update(1.0)
    plateau.update(1.0)
    step()
    np.testing.assert_allclose(w.get_value(), [0.25])


@pytest.mark.parametrize(
    "how", [{"factor": 1.0}, {"factor": 0.0}, {"patience": -1}, {"learning_rate": -1.0}]
)
def test_bad_arguments(how):
    with pytest.raises(ValueError, match="must be"):
        ReduceLROnPlateau(**({"learning_rate": 0.1} | how))
