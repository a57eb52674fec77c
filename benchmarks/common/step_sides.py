"""Parts that the benchmarks of the training step share: the sides and their inputs.

A side has a `name`; `place` puts a sample's arrays where it takes them from; `run` runs a step;
`wait` returns when all steps have ended; `arrays` gives what the steps have changed.  Steps of JAX
have a `program` too, whose costs XLA tells.
"""

import math
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np

DEMO = Path(__file__).parents[2] / "examples" / "onnx" / "onnx-yolo-demo"
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
    """The demo's `TrainStep`, in the mode in which the demo trains if no other is given.

    Parameters
    ----------
    image_size, batch_size : int
    weights : dict, optional
        A state dict; the model draws its own otherwise.
    mode : str or Mode, optional
    precision : "float32" or "bf16"
        Without a mode.
    devices : int
        Over which the rows of a batch are spread; a mode that is given has a mesh of its own.
    guard, cpu_kernels : bool
        As `jax_mode`'s; without a mode.
    """

    name = "PyTensor"

    def __init__(
        self, image_size, batch_size, weights=None, *, mode=None, precision="float32",
        devices=1, guard=True, cpu_kernels=True,
    ):  # fmt: skip
        use_demo()
        from model import YOLO11n
        from training.recipe import Rates
        from training.train_step import LOSS_PARTS, DeviceBatch, TrainStep

        from pytensor.link.jax import jax_mode

        several = devices_for(devices)
        self._mesh = several and several.mesh
        if mode is None:
            mode = jax_mode(
                donate=True, precision=precision, keep_programs=True, cpu_kernels=cpu_kernels,
                guard=guard, mesh=self._mesh,
            )  # fmt: skip
        self.model = YOLO11n(CLASSES)
        if weights is not None:
            self.model.load_state_dict(weights)
        options = getattr(getattr(mode, "linker", None), "options", None)
        self._sharing = sharing = options.devices if options else 1
        self.step = TrainStep(
            self.model, image_size, batch_size, MAX_BOXES, WEIGHT_DECAY, mode=mode,
            devices=sharing, place=several and several.replicate,
        )  # fmt: skip
        self._parts, self._batch, self._rates = LOSS_PARTS, DeviceBatch, Rates

    def place(self, sample):
        """Put a sample's arrays where the step takes them from."""
        return put_on_device(sample, self._mesh)

    def run(self, sample, number):
        """Step number `number`, from 0; the loss parts by name, and the gradient's norm."""
        batch = self._batch(None, list(sample))
        rates = self._rates(LR, BIAS_LR, MOMENTUM, ema_decay(number))
        parts, norm = self.step.run(batch, rates)
        return dict(zip(self._parts, parts, strict=True)), norm

    def wait(self):
        """Return when all steps have ended."""
        import jax

        jax.block_until_ready([v.get_value(borrow=True) for v in self.step.variables])

    def first_call(self):
        """Return the context of the demo's first call, where JAX traces and compiles."""
        from pytensor.link.jax.mode.building import paused_collection

        return paused_collection()

    def has_program(self):
        """Return whether the first call makes a program, or finds it, besides JAX's."""
        from pytensor.link.jax.mode.store.disk import store_folder
        from pytensor.link.jax.xla_guard import guard_options

        return store_folder() is not None or guard_options() is not None

    def program(self, mesh=None):
        """Return what JAX compiles: a jitted function, and its arguments' shapes.

        They lie on a mesh of devices if one is given, which need not be there.
        """
        function = self.step._step
        mesh, inputs = mesh or self._mesh, function.maker.fgraph.inputs
        # Images and three arrays of targets, four numbers, and the shared variables.
        rows, numbers = 4, 8
        arguments = [shape_of(v.type, split_rows(mesh), self._sharing) for v in inputs[:rows]]
        arguments += [shape_of(v.type) for v in inputs[rows:numbers]]
        arguments += [shape_of(v.type, whole(mesh)) for v in inputs[numbers:]]
        return function.vm.jit_fn, arguments

    def arrays(self):
        """Return parameters and statistics, momenta, and averages, by the state dict's names."""
        ending = ".momentum_buffer"
        momenta = {n.removesuffix(ending): v for n, v in self.step.state.items() if ending in n}
        by_name = self.model.named_variables(), momenta, self.step.averages
        return [{n: np.array(v.get_value()) for n, v in part.items()} for part in by_name]


class PureStep:
    """The step in plain JAX.

    Parameters
    ----------
    image_size, batch_size : int
    weights : dict
        A state dict.
    precision : "float32" or "bf16"
    devices : int
        Over which the rows of a batch are spread.
    """

    name = "plain JAX"

    def __init__(self, image_size, batch_size, weights, precision="float32", devices=1):
        from benchmarks.common.pure_jax_yolo11n import Targets, init_state, make_train_step

        self.size, self._targets = (batch_size, image_size), Targets
        several = devices_for(devices)
        self._mesh = several and several.mesh
        self.state = init_state(weights)
        if self._mesh is not None:
            import jax

            self.state = jax.device_put(self.state, whole(self._mesh))
        dtype = {"float32": "float32", "bf16": "bfloat16"}[precision]
        self.step = make_train_step(WEIGHT_DECAY, dtype)

    def place(self, sample):
        """Put a sample's arrays where the step takes them from."""
        return put_on_device(sample, self._mesh)

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

    def first_call(self):
        """Do as `DemoStep.first_call`: nothing is done around a jitted function's call."""
        return nullcontext()

    def has_program(self):
        """Return False: all that is made is made by JAX; see `DemoStep.has_program`."""
        return False

    def program(self, mesh=None):
        """Return what `DemoStep.program` does."""
        import jax

        mesh = mesh or self._mesh
        *batch, rates = self._arguments(draw_sample(0, *self.size), 0)
        return self.step, [
            jax.tree.map(lambda v: shape_of(v, whole(mesh)), self.state),
            *jax.tree.map(lambda v: shape_of(v, split_rows(mesh)), batch),
            jax.tree.map(shape_of, rates),
        ]

    def arrays(self):
        """Return the arrays as `DemoStep.arrays` does."""
        from benchmarks.common.pure_jax_yolo11n import state_dict

        params, statistics, *others = map(state_dict, self.state)
        return [params | statistics, *others]


class TorchStep:
    """The step in PyTorch.

    Parameters
    ----------
    image_size, batch_size : int
    weights : dict
        A state dict.
    channels_last : bool
    compiled : None, "default", "reduce-overhead" or "max-autotune"
        Mode of `torch.compile`.
    precision : "float32" or "bf16"
    backend : str, optional
        "gpu" or "cpu"; JAX is asked for its own otherwise.
    """

    name = "PyTorch"

    def __init__(
        self, image_size, batch_size, weights, channels_last=False, compiled=None,
        precision="float32", backend=None,
    ):  # fmt: skip
        torch, self.device = torch_like_jax(backend)
        from benchmarks.common import torch_yolo11n

        self._torch, self._targets = torch, torch_yolo11n.Targets
        self.model = torch_yolo11n.YOLO11n(CLASSES)
        self.model.load_arrays(weights)
        self.step = torch_yolo11n.TrainStep(
            self.model.to(self.device), WEIGHT_DECAY, channels_last, compiled, precision
        )
        how = f"compiled ({compiled})" * bool(compiled)
        words = ["PyTorch", "channels-last" * channels_last, how]
        self.name = " ".join(filter(None, words))

    def place(self, sample):
        """Put a sample's arrays where the step takes them from."""
        return Sample(*(self._torch.tensor(np.asarray(v), device=self.device) for v in sample))

    def run(self, sample, number):
        """Step number `number`, from 0; the loss parts by name, and the gradient's norm."""
        targets = self._targets(*sample[1:])
        return self.step(sample[0], targets, (LR, BIAS_LR, MOMENTUM), ema_decay(number))

    def wait(self):
        """Return when all steps have ended."""
        if self.device.type == "cuda":
            self._torch.cuda.synchronize()

    def arrays(self):
        """Return what `DemoStep.arrays` does."""
        state = {n: v for n, v in self.model.state_dict().items() if n in self.step.averages}
        momenta = {
            name: self.step.optimizer.state[parameter]["momentum_buffer"]
            for name, parameter in self.model.named_parameters()
            if parameter.requires_grad
        }
        parts = state, momenta, self.step.averages
        return [{n: v.detach().cpu().numpy().copy() for n, v in part.items()} for part in parts]


def torch_like_jax(backend=None):
    """Return PyTorch, with as many threads as JAX has, and its device of JAX's kind.

    Parameters
    ----------
    backend : str, optional
        JAX's; without it, JAX is started.
    """
    import torch

    if backend is None:
        import jax

        backend = jax.default_backend()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return torch, torch.device("cuda" if backend == "gpu" else "cpu")


def devices_for(count):
    """Return `Devices` of `count` devices; None for one, for which JAX need not start."""
    if count == 1:
        return None
    from pytensor.link.jax.parallel.devices import Devices

    return Devices(count)


def put_on_device(sample, mesh):
    """Put a sample on JAX's device, or its rows on a mesh's devices."""
    import jax

    return jax.device_put(sample, split_rows(mesh))


def split_rows(mesh):
    """Return the sharding of arrays with a row for each image; None without a mesh."""
    import jax

    return mesh and jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))


def whole(mesh):
    """Return the sharding of arrays that lie on every device of a mesh; None without one."""
    import jax

    return mesh and jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())


def shape_of(value, sharding=None, parts=1):
    """Return what JAX needs to know of an argument to compile; `value` is one of `parts` parts."""
    import jax

    shape = value.shape if parts == 1 else (parts * value.shape[0], *value.shape[1:])
    return jax.ShapeDtypeStruct(shape, value.dtype, sharding=sharding)


def pure_rates(number):
    """Numbers of the step `number`, as the demo's recipe has them."""
    from benchmarks.common.pure_jax_yolo11n import Rates

    return Rates(*(np.float32(v) for v in (LR, BIAS_LR, MOMENTUM, ema_decay(number))))


def ema_decay(number):
    """Decay of the averages in the step `number`, as the demo's recipe has it."""
    return EMA_DECAY * (1 - math.exp(-(number + 1) / EMA_STEPS))


def use_demo():
    """Put the demo's folder first on the path."""
    if sys.path[0] != str(DEMO):
        sys.path.insert(0, str(DEMO))


def initial_weights():
    """Return a state dict with which all sides of a run begin."""
    use_demo()
    from model import YOLO11n

    return YOLO11n(CLASSES).state_dict()


def use_matmul_precision(name, torch=None):
    """Say what convolutions and matrix products of float32 are computed in.

    Parameters
    ----------
    name : "default", "tf32" or "highest"
        "default" leaves each side its own.  JAX's own is TF32 on GPUs that have it.
    torch : module, optional
        To say it to PyTorch, not to JAX.
    """
    if name == "default":
        return
    if torch is not None:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = name == "tf32"
        return
    import jax

    jax.config.update("jax_default_matmul_precision", "default" if name == "tf32" else name)


def matmul_precision():
    """Return what the libraries here compute convolutions and products of float32 in."""
    state = {}
    if "jax" in sys.modules:
        name = "jax_default_matmul_precision"
        state[name] = getattr(sys.modules["jax"].config, name)
    if "torch" in sys.modules:
        backends = sys.modules["torch"].backends
        state["torch.backends.cuda.matmul.allow_tf32"] = backends.cuda.matmul.allow_tf32
        state["torch.backends.cudnn.allow_tf32"] = backends.cudnn.allow_tf32
    return state


def peak_bytes(side):
    """Return the most of the device's memory this process has held; None on a CPU."""
    import jax

    if isinstance(side, TorchStep):
        on_gpu = side.device.type == "cuda"
        return sys.modules["torch"].cuda.max_memory_allocated() if on_gpu else None
    return (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use")


def out_of_memory(error):
    """Return whether an exception says that there isn't enough memory."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(
        words in text for words in ("resource_exhausted", "out of memory")
    )


def keep_freed_memory():
    """Set the process's allocator as training does; whether it could be."""
    from pytensor.link.jax.mode import host_memory

    return host_memory.keep_freed_memory()
