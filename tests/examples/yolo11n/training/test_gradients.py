"""Gradients, statistics and the first optimizer steps against the golden vectors.

All through the compiled functions that training uses.
"""

import numpy as np
import pytest
from data.loader import Batch
from model import YOLO11n
from training.recipe import Recipe
from training.train_step import HostImages, TrainStep

from tests.examples import yolo11n_golden as golden

pytestmark = [pytest.mark.training, pytest.mark.usefixtures("compiler")]

# Mathematically zero: a batch normalization behind them removes any constant per channel.
ZERO = {
    "model.10.m.0.attn.pe.bn.bias",
    "model.10.m.0.attn.proj.bn.bias",
    "model.10.m.0.ffn.1.bn.bias",
}


@pytest.fixture(scope="module")
def golden_steps():
    """Run the first three steps of the golden trajectory.

    Gradients are accumulated by one function and applied by another, so that the gradient can be
    read between the two.
    """
    model = YOLO11n(2)
    golden.load_golden_weights(model)
    images = HostImages(320, 2, "float32")
    step = TrainStep(model, 320, 2, 8, weight_decay=5e-4, max_accumulate=2, images=images)
    boxes, classes, num_boxes = golden.targets("main", 8)
    batch = Batch(golden.images(), boxes, classes, num_boxes, np.arange(2))
    recipe = Recipe()
    rates = (0.002, 0.002, 0.937)
    results = []
    for k in range(3):
        # as `TrainStep.run` with a step, in its two halves
        parts, _ = step.run(batch, rates, step_now=False, steps_done=k, recipe=recipe)
        if k == 0:
            suffix = ".accumulated_gradient"
            gradients = {
                name.removesuffix(suffix): np.asarray(v.get_value())
                for name, v in step.state.items()
                if name.endswith(suffix)
            }
            statistics = {
                name: np.asarray(v.get_value()) for name, v in model.store.statistics.items()
            }
        norm = step.apply(rates, steps_done=k, recipe=recipe)
        results.append([float(v) for v in (*parts, norm)])
    return model, step, gradients, statistics, results


@pytest.mark.slow
def test_gradient_norms(golden_steps):
    _, _, gradients, _, _ = golden_steps
    expected = golden.load_json("grad_norms_nc2.json")
    assert set(gradients) == set(expected["per_param"])
    for name, (norm, largest) in expected["per_param"].items():
        if name in ZERO:
            assert np.abs(gradients[name]).max() < 1e-5, name
        else:
            got = np.linalg.norm(gradients[name].astype(np.float64))
            np.testing.assert_allclose(got, norm, rtol=1e-3, err_msg=name)
            np.testing.assert_allclose(np.abs(gradients[name]).max(), largest, rtol=2e-3)
    total = np.sqrt(sum(np.sum(g.astype(np.float64) ** 2) for g in gradients.values()))
    np.testing.assert_allclose(total, expected["total_norm"], rtol=1e-3)


def test_complete_gradients(golden_steps):
    _, _, gradients, _, _ = golden_steps
    for name, expected in golden.load_arrays(golden.CORE / "grads_full_nc2.npz").items():
        error = np.linalg.norm(gradients[name] - expected)
        if name in ZERO:
            assert error < 1e-5
        else:
            assert error < 1e-3 * np.linalg.norm(expected), name


def test_statistics_after_one_step(golden_steps):
    _, _, _, statistics, _ = golden_steps
    expected = golden.load_arrays(golden.CORE / "bn_after_train_nc2.npz")
    assert set(statistics) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(statistics[name], value, atol=1e-5, rtol=0, err_msg=name)


@pytest.mark.parametrize("k", range(3))
def test_trajectory(golden_steps, k):
    *_, results = golden_steps
    expected = golden.load_json("trajectory_nc2.json")["float32"][k]
    keys = ["box", "cls", "dfl", "grad_norm_before_clip"]
    np.testing.assert_allclose(results[k], [expected[key] for key in keys], rtol=1e-3)
