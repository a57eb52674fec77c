import math

import pytest

from pytensor.optimizers import EarlyStopping


def test_early_stopping():
    stopping = EarlyStopping(3)
    fitness = [0.1, 0.3, 0.3, 0.2, math.nan]
    assert [stopping.update(k, v) for k, v in enumerate(fitness)] == [False] * 4 + [True]
    assert stopping.best_epoch == 1


def test_patience():
    never = EarlyStopping(0)
    assert never.best_epoch == 0
    assert not any(never.update(epoch, 0.0) for epoch in range(1000))
    nothing_found = EarlyStopping(2)
    assert [nothing_found.update(k, 0.0) for k in (1, 2, 3)] == [False, False, True]
    with pytest.raises(ValueError, match="patience"):
        EarlyStopping(-1)
