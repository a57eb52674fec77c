"""Gradients, statistics and the first optimizer steps against the golden vectors.

All through the compiled functions that training uses.
"""

import numpy as np
import pytest
from data.loader import Batch
from model import YOLO11n
from training.recipe import Rates, Recipe
from training.train_step import HostImages, TrainStep

from pytensor.link.jax import jax_mode
from tests.examples import yolo11n_golden as golden

pytestmark = [pytest.mark.training, pytest.mark.usefixtures("compiler", "compiled_sooner")]


# Of a GPU's form the whole network's step is long: a small network's is compared with a processor's
# in test_train_step.py, and the forward passes of both forms with golden vectors in test_model.py.
@pytest.fixture(scope="module", params=golden.PROCESSOR_FIRST)
def golden_steps(request):
    """Run the first three steps of the golden trajectory.

    Gradients are accumulated by one function and applied by another, so that the gradient can be
    read between the two.
    """
    model = YOLO11n(2)
    golden.load_golden_weights(model)
    images = HostImages(320, 2, "float32")
    mode = jax_mode(donate=True, cpu_kernels=True, **request.param)  # a GPU's form has no kernels
    step = TrainStep(model, 320, 2, 8, 5e-4, max_accumulate=2, images=images, mode=mode)
    boxes, classes, num_boxes = golden.targets("main", 8)
    batch = Batch(golden.images(), boxes, classes, num_boxes, np.arange(2))
    results = []
    for k in range(3):
        rates = Rates(0.002, 0.002, 0.937, Recipe().decay_of_averages(k))
        # as `TrainStep.run` with a step, in its two halves
        parts, _ = step.run(batch, rates, step_now=False)
        if k == 0:
            suffix = ".accumulated_gradient"
            gradients = {
                name.removesuffix(suffix): np.asarray(v.get_value())
                for name, v in step.state.items()
                if name.endswith(suffix)
            }
            statistics = {
                name: value for name, value in model.state_dict().items() if "running" in name
            }
        norm = step.apply(rates)
        results.append([float(v) for v in (*parts, norm)])
    return request.param, gradients, statistics, results


@pytest.mark.slow
def test_gradient_norms(golden_steps):
    form, gradients, _, _ = golden_steps
    low = form == golden.LOW
    expected = golden.load_json("grad_norms_nc2.json")
    assert set(gradients) == set(expected["per_param"])
    for name, (norm, largest) in expected["per_param"].items():
        if name.endswith(golden.ZERO):
            assert np.abs(gradients[name]).max() < (2e-3 if low else 1e-5), name
        else:
            got = np.linalg.norm(gradients[name].astype(np.float64))
            np.testing.assert_allclose(got, norm, rtol=0.5 if low else 1e-3, err_msg=name)
            largest_found = np.abs(gradients[name]).max()
            np.testing.assert_allclose(largest_found, largest, rtol=1 if low else 2e-3)
    total = np.sqrt(sum(np.sum(g.astype(np.float64) ** 2) for g in gradients.values()))
    np.testing.assert_allclose(total, expected["total_norm"], rtol=0.15 if low else 1e-3)


def test_complete_gradients(golden_steps):
    form, gradients, _, _ = golden_steps
    for name, expected in golden.load_arrays(golden.CORE / "grads_full_nc2.npz").items():
        error = np.linalg.norm(gradients[name] - expected)
        if name.endswith(golden.ZERO):
            assert error < (0.02 if form == golden.LOW else 1e-5)
        else:
            limit = 0.7 if form == golden.LOW else 1e-3
            assert error < limit * np.linalg.norm(expected), name


def test_statistics_after_one_step(golden_steps):
    form, _, statistics, _ = golden_steps
    expected = golden.load_arrays(golden.CORE / "bn_after_train_nc2.npz")
    assert set(statistics) == set(expected)
    for name, value in expected.items():
        atol = 1e-2 if form == golden.LOW else 1e-5
        np.testing.assert_allclose(statistics[name], value, atol=atol, rtol=0, err_msg=name)


def test_trajectory(golden_steps):
    form, *_, results = golden_steps
    steps = golden.load_json("trajectory_nc2.json")["float32"][:3]
    expected = [[s[k] for k in ("box", "cls", "dfl", "grad_norm_before_clip")] for s in steps]
    # A first step by gradients in bfloat16, and the norms behind it are a fifth apart.
    np.testing.assert_allclose(results, expected, rtol=0.3 if form == golden.LOW else 1e-3)
