"""Donation where a call fails or is interrupted."""

import gc

import numpy as np
import pytest

import pytensor.tensor as pt

jax = pytest.importorskip("jax")

from tests.link.jax.mode.test_donation import VALUES, Peek, compile_step, held, variable  # noqa: E402


class TestErrors:
    @pytest.mark.slow
    def test_wrong_shape(self):
        v, x = variable(), pt.vector("x")
        step = compile_step([(v, v + x)], [x], [x.sum()])
        step(VALUES)
        kept = Peek(held(v))
        for _ in range(2):
            with pytest.raises((TypeError, ValueError), match="shape"):
                step(np.ones(4))
            assert not kept.deleted
        np.testing.assert_allclose(held(v), VALUES * 2)
        gc.collect()  # the errors' frames hold the arguments
        step(VALUES)
        assert kept.deleted
        np.testing.assert_allclose(held(v), VALUES * 3)

    @pytest.mark.by_default("after it")
    @pytest.mark.parametrize("moment", ["within the call", "after it"])
    def test_interrupt(self, moment, monkeypatch):
        """The new values are kept: the old ones are gone."""
        v = variable()
        step = compile_step([(v, v + 1)])
        step()
        if moment == "within the call":
            # the handler runs when JAX has returned
            run = step.vm.jit_fn
            interrupted = Interrupting(lambda args: run(*args))
            monkeypatch.setattr("pytensor.link.jax.mode.donation.starmap", interrupted)
        else:
            monkeypatch.setattr(step.vm, "_updated", Interrupted(step.vm._updated))
        with pytest.raises(KeyboardInterrupt):
            step()
        monkeypatch.undo()
        np.testing.assert_allclose(held(v), VALUES + 2)
        step()
        np.testing.assert_allclose(held(v), VALUES + 3)

    def test_lost_values_are_named(self):
        v = variable(name="weights")
        step = compile_step([(v, v + 1)])
        step()
        run = step.vm.jit_fn

        def fail(*args):
            run(*args)
            raise RuntimeError("out of memory")

        step.vm.jit_fn = fail
        with pytest.raises(RuntimeError, match="out of memory") as error:
            step()
        assert "weights. Their values are lost" in "".join(error.value.__notes__)
        step.vm.jit_fn = run
        v.set_value(VALUES)
        step()
        np.testing.assert_allclose(held(v), VALUES + 1)


class Interrupting:
    """In `starmap`'s place: gives the result, then a signal's handler raises."""

    def __init__(self, run):
        self.run = run

    def __call__(self, function, arguments):
        yield self.run(*arguments)
        raise KeyboardInterrupt


class Interrupted(list):
    """Raises the first time it is walked through."""

    walks = 0

    def __iter__(self):
        Interrupted.walks += 1
        if Interrupted.walks == 1:
            raise KeyboardInterrupt
        return super().__iter__()
