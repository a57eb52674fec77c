"""Building without garbage collection and stack traces; both are as before afterwards."""

import gc

import pytest

import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.configdefaults import config
from pytensor.link.jax.mode.building import FEW, paused_collection, quick_building


@pytest.fixture
def collecting():
    """Have the collector on, whatever a test does to it."""
    before = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if before else gc.disable)()


def test_collection_is_paused(collecting):
    with quick_building():
        assert not gc.isenabled()
        with quick_building():
            assert not gc.isenabled()
        # The inner one has not switched it on.
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collection_goes_on_after_an_error(collecting):
    with pytest.raises(ZeroDivisionError), quick_building():
        1 / 0  # noqa: B018
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off(collecting):
    gc.disable()
    with paused_collection():
        pass
    assert not gc.isenabled()


@pytest.mark.slow
def test_what_was_made_is_old(collecting):
    """A young collection would look at all of it, and keep it."""
    gc.unfreeze()  # what tests/conftest.py froze
    try:
        with paused_collection():
            made = *([] for _ in range(FEW + 1)), {"some": []}
        assert gc.get_freeze_count() == 0
        ages = [any(made is other for other in gc.get_objects(generation=k)) for k in range(3)]
        assert ages == [False, False, True]
    finally:
        gc.freeze()


@pytest.mark.parametrize("number", [0, FEW + 1])
def test_what_is_frozen_stays_so(collecting, number):
    frozen = []
    gc.freeze()  # as tests/conftest.py does, this list included
    with paused_collection():
        made = [[] for _ in range(number)]
    assert len(made) == number
    assert not any(frozen is other for other in gc.get_objects())


def test_no_stack_traces():
    with config.change_flags(traceback__limit=8):
        with quick_building():
            silent = pt.vector("x") + 1
        noted = pt.vector("x") + 1
        assert config.traceback__limit == 8
    assert noted.tag.trace
    assert not getattr(silent.tag, "trace", None)
