"""What the benchmarks of the training step share: both sides, their inputs, and the machine."""

import math
import os
import platform
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

DEMO = Path(__file__).parents[1] / "examples" / "onnx" / "onnx-yolo-demo"
CLASSES, MAX_BOXES = 2, 8
WEIGHT_DECAY = 5e-4
LR, BIAS_LR, MOMENTUM = 0.002, 0.004, 0.937
EMA_DECAY, EMA_STEPS = 0.9999, 2000.0


class Sample(NamedTuple):
    """The arrays of one step, in the order in which both sides take them."""

    images: np.ndarray  # uint8 (B, 3, S, S)
    boxes: np.ndarray  # float32 (B, MAX_BOXES, 4), fractions of the image
    classes: np.ndarray  # int32 (B, MAX_BOXES)
    counts: np.ndarray  # int32 (B,)


def draw_sample(seed, batch_size, image_size):
    """Draw noise with boxes of up to some times its size: what an untrained head overlaps."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0.2, 0.8, (batch_size, MAX_BOXES, 2))
    # The first boxes are 15 cells wide, of 8, 16 or 32 pixels.
    largest = max(480 / image_size, 1.0)
    sides = largest * rng.uniform(0.1, 1.0, (batch_size, MAX_BOXES, 1))
    sides = sides * rng.uniform(0.7, 1.4, (batch_size, MAX_BOXES, 2))
    return Sample(
        rng.integers(0, 256, (batch_size, 3, image_size, image_size), dtype=np.uint8),
        np.concatenate([centres, sides], axis=-1).astype("float32"),
        rng.integers(0, CLASSES, (batch_size, MAX_BOXES), dtype=np.int32),
        rng.integers(1, MAX_BOXES + 1, batch_size, dtype=np.int32),
    )


class DemoStep:
    """The demo's `TrainStep` in mode JAX.

    Parameters
    ----------
    image_size, batch_size : int
    """

    name = "PyTensor"

    def __init__(self, image_size, batch_size):
        use_demo()
        from model import YOLO11n
        from recipe import Recipe
        from train_step import LOSS_PARTS, DeviceBatch, TrainStep

        self.model = YOLO11n(CLASSES)
        self.step = TrainStep(self.model, image_size, batch_size, MAX_BOXES, WEIGHT_DECAY)
        self._recipe = Recipe(ema_decay=EMA_DECAY, ema_steps=EMA_STEPS)
        self._parts, self._batch = LOSS_PARTS, DeviceBatch

    def run(self, sample, number):
        """Step number `number`, from 0; the loss parts by name, and the gradient's norm."""
        batch = self._batch(None, list(sample))
        parts, norm = self.step.run(batch, (LR, BIAS_LR, MOMENTUM), True, number, self._recipe)
        return dict(zip(self._parts, parts, strict=True)), norm

    def wait(self):
        """Return when all steps have ended."""
        import jax

        jax.block_until_ready([v.get_value(borrow=True) for v in self.step.variables])

    def program(self):
        """What JAX compiles: a jitted function, and its arguments' shapes."""
        function = self.step._step
        return function.vm.jit_fn, [shape_of(v.type) for v in function.maker.fgraph.inputs]

    def arrays(self):
        """Parameters and statistics, momenta, and averages, each by the names of the state dict."""
        ending = ".momentum_buffer"
        momenta = {n.removesuffix(ending): v for n, v in self.step.state.items() if ending in n}
        by_name = self.model.store.all, momenta, self.step.averages
        return [{n: np.array(v.get_value()) for n, v in part.items()} for part in by_name]


class PureStep:
    """The step in plain JAX.

    Parameters
    ----------
    image_size, batch_size : int
    weights : dict
        A state dict.
    layout : "NHWC" or "NCHW"
    donate : bool
    """

    name = "plain JAX"

    def __init__(self, image_size, batch_size, weights, layout="NHWC", donate=True):
        from pure_jax_yolo11n import Targets, init_state, make_train_step

        self.size, self.layout, self._targets = (batch_size, image_size), layout, Targets
        self.state = init_state(weights, layout)
        self.step = make_train_step(WEIGHT_DECAY, layout, donate)

    def _arguments(self, sample, number):
        return sample[0], self._targets(*sample[1:]), pure_rates(number)

    def run(self, sample, number):
        """Step number `number`, from 0; the loss parts by name, and the gradient's norm."""
        self.state, parts, norm = self.step(self.state, *self._arguments(sample, number))
        return parts, norm

    def wait(self):
        """Return when all steps have ended."""
        import jax

        jax.block_until_ready(self.state)

    def program(self):
        """What JAX compiles: a jitted function, and its arguments' shapes."""
        import jax

        arguments = self._arguments(draw_sample(0, *self.size), 0)
        return self.step, jax.tree.map(shape_of, [self.state, *arguments])

    def arrays(self):
        """As `DemoStep.arrays`."""
        from pure_jax_yolo11n import state_dict

        params, statistics, *others = (state_dict(part, self.layout) for part in self.state)
        return [params | statistics, *others]


def shape_of(value):
    """What JAX needs to know of an argument to compile."""
    import jax

    return jax.ShapeDtypeStruct(value.shape, value.dtype)


def pure_rates(number):
    """Numbers of the step `number`, as the demo's recipe has them."""
    from pure_jax_yolo11n import Rates

    decay = EMA_DECAY * (1 - math.exp(-(number + 1) / EMA_STEPS))
    return Rates(*(np.float32(v) for v in (LR, BIAS_LR, MOMENTUM, decay)))


def use_demo():
    """Put the demo's folder first on the path: benchmarks have files of the same names."""
    if sys.path[0] != str(DEMO):
        sys.path.insert(0, str(DEMO))


def machine():
    """What a figure depends on: processor, cores, device, versions, other load."""
    import jax

    import pytensor

    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "device": str(jax.devices()[0]),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "jax": jax.__version__,
        "pytensor": pytensor.__version__,
    }


def processor():
    """Name of the processor, where the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def machine_line(facts):
    return ", ".join(f"{key} {value}" for key, value in facts.items())


def quartiles(values):
    """Lower quartile, median, upper quartile."""
    return np.quantile(values, [0.25, 0.5, 0.75]).tolist()
