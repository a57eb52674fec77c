"""The profile of a training run's steps; `tests/link/jax/test_profiling.py` has its figures."""

import jax
import numpy as np
import pytest
import train_yolo11n
from training.profiling import WARM_UP, Profiler

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.tuned import jax_mode
from tests.examples.yolo11n_runs import command, write_data


class SmallStep:
    """What `Profiler` needs of a `TrainStep`."""

    def __init__(self):
        x = pt.tensor("x", dtype="float32", shape=(50, 60))
        w = pytensor.shared(np.ones((60, 60), "float32"), name="w", shape=(60, 60))
        self.variables = [w]
        self.function = pytensor.function(
            [x], [], updates=[(w, pt.tanh(x.T @ (x @ w)))], mode=jax_mode(), trust_input=True
        )

    def run(self):
        self.function(np.ones((50, 60), "float32"))

    def programs(self):
        return [(self.function, [jax.ShapeDtypeStruct((50, 60), "float32")])]


@pytest.fixture(scope="module")
def small():
    return SmallStep()


def run_steps(profiler, step, count):
    for _ in range(count):
        profiler.before_step()
        step.run()
        profiler.after_step()


def test_no_profile_unless_asked(small, tmp_path):
    said = []
    profiler = Profiler(tmp_path, None, small, said.append)
    run_steps(profiler, small, WARM_UP + 2)
    profiler.end()
    profiler.close()
    assert not [*tmp_path.iterdir()]
    assert said == []


def test_the_steps_asked_for_are_profiled(small, tmp_path):
    said = []
    profiler = Profiler(tmp_path, 4, small, said.append)
    run_steps(profiler, small, WARM_UP + 4 + 2)
    assert len(said) == 1
    assert said[0].startswith(f"profile (the trace is in {tmp_path / 'profile'}):\n")
    assert "mean of 4 calls" in said[0]
    assert (tmp_path / "profile" / "profile.txt").read_text().startswith(said[0].split("\n")[1])


def test_an_epochs_end_ends_the_trace(small, tmp_path):
    """And none is begun again; what an earlier run left is gone."""
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "old").write_text("x")
    said = []
    profiler = Profiler(tmp_path, 50, small, said.append, warm_up=1)
    run_steps(profiler, small, 3)
    profiler.end()
    run_steps(profiler, small, 3)
    profiler.end()
    assert len(said) == 1
    assert "mean of 2 calls" in said[0]
    assert not (tmp_path / "profile" / "old").exists()


def test_a_run_that_fails_leaves_no_trace_running(small, tmp_path):
    profilers = [Profiler(tmp_path, 5, small, warm_up=0) for _ in range(2)]
    for profiler in profilers:  # JAX has one trace at a time; a dropped one would end by itself
        profiler.before_step()
        profiler.close()
        with pytest.raises(RuntimeError, match="No profile started"):
            jax.profiler.stop_trace()


@pytest.mark.long
@pytest.mark.parametrize("nominal_batch", [4, 8])
def test_profile_of_a_training(tmp_path, capsys, nominal_batch):
    """One function a step, or two."""
    data = write_data(tmp_path / "data")
    own = ["--epochs", 3, "--no-export", "--output-dir", tmp_path / "run", "--profile", 2]
    arguments = command(data, *own, "--nominal-batch", nominal_batch, "--warmup-epochs", 0)
    assert train_yolo11n.main(arguments) == 0
    folder = tmp_path / "run" / "profile"
    text = (folder / "profile.txt").read_text()
    assert "mean of 2 calls" in text
    assert text.splitlines()[0] in capsys.readouterr().out
    assert text.count("Conv[model.") > 80
    assert "Conv[model.0.conv.weight]" in text
