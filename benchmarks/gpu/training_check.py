"""What a training run would take on a GPU: whether it fits, its memory, images a second, hours.

    bash train.sh --check [NAME] [options of train_yolo11n.py]
    python -m benchmarks.gpu.training_check [NAME] [options of train_yolo11n.py]

NAME is a GPU that XLA describes, such as h200, h100, h100-pcie, a100 or a100-40gb; without one it
is that of this machine.  The run's own training step is compiled for it, which takes minutes and
needs no GPU, but `pip install 'jax[cuda12]'`; its program says the memory, and bounds the time from
below by its bytes and kernels.  On a machine with a GPU the step runs, too, on zeros for data, and
prints its time next to the expected one.

Nothing is downloaded: of COCO the number of images is the one that is asked for.  The times are
for training steps only, without preparing data, validation and export.
"""

import os
import sys
from pathlib import Path

import benchmarks.common.float32  # noqa: F401, before pytensor

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "onnx" / "onnx-yolo-demo"))
# JAX's plugin looks for a GPU otherwise, and is not loaded.
os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"

import math
import time
from typing import NamedTuple

import jax
import numpy as np
from data.augment import LAYERS, Augment
from data.listing import DataError, box_counts, leave_out_crowds, most_boxes
from data.merging import read_parts, split_share
from data.things import MOST_BOXES
from model import BACKBONE, YOLO11n
from training.options import make_recipe, parse_arguments
from training.recipe import StepSettings, resolve
from training.train_step import DeviceImages, TrainStep

from benchmarks.common.step_sides import shape_of, split_rows
from benchmarks.gpu import program
from pytensor.link.jax import jax_mode
from pytensor.link.jax.parallel.devices import Devices
from pytensor.link.jax.target import compiling_for

# Rows for the boxes of an image, where the run's data aren't there.
MAX_BOXES = 64
# What JAX takes of a device's memory if XLA_CLIENT_MEM_FRACTION doesn't say otherwise.
SHARE = 0.75
# Microseconds that a kernel's launch in a CUDA graph is taken to last.
LAUNCH = 1.5
SQUARES = 256  # on the device in what is compiled; the run's are added
STEPS, WARMUP = 20, 3


class Part(NamedTuple):
    """One compiled function of a step: how often a batch runs it, its kernels and its memory."""

    share: float
    kernels: list
    memory: object  # what JAX calls its `memory_analysis`


class Images(NamedTuple):
    """The training images of a run."""

    count: int
    boxes: int  # at most in one image
    source: str  # where that number comes from


class Run(NamedTuple):
    """What a run computes."""

    step: TrainStep
    images: Images
    batches: int  # of an epoch
    accumulate: int
    squares: int  # bytes of the training images on the device


def training_images(o):
    """Return the `Images` of a run; nothing is downloaded or drawn.

    Raises
    ------
    DataError
        If only a download could tell.
    """
    if o.train_images:
        return Images(o.train_images, MAX_BOXES, "are assumed")
    if o.train_images == 0:
        raise DataError("how many images all of COCO gives is not known here; give --train-images")
    paths = [split_share(each)[0] for each in o.data]
    listing = read_parts(paths, "train", o.classes)
    if o.max_boxes is not None:
        leave_out_crowds(listing, o.max_boxes)
    counts = box_counts(listing)
    counts[[*listing.excluded]] = 0
    most, first = most_boxes(counts, o.mosaic > 0), int(np.argmax(counts))
    most = most if o.max_boxes is None else min(most, o.max_boxes)
    pasted = Augment(copy_paste=o.copy_paste).pasted * MOST_BOXES + LAYERS * bool(o.paste_on)
    return Images(
        len(listing.pictures) - len(listing.excluded), most + pasted,
        f"have room, as {listing.pictures[first].name} has {counts[first]}",
    )  # fmt: skip


def build(o, memory):
    """Build the run's training step, for a device with `memory` bytes."""
    images = training_images(o)
    recipe = resolve(make_recipe(o), images.count, o.batch_size, o.epochs, len(o.classes))
    batches = math.ceil(images.count / o.batch_size)
    settings = StepSettings(recipe, o.epochs, batches, o.batch_size)
    squares = images.count * o.image_size**2 * 3
    on_device = squares <= memory / 2 if o.device_augment == "auto" else o.device_augment == "on"
    few = np.zeros((min(images.count, SQUARES), o.image_size, o.image_size, 3), "uint8")
    pasted = Augment(copy_paste=o.copy_paste).pasted + LAYERS * bool(o.paste_on)
    step = TrainStep(
        YOLO11n(len(o.classes), size=o.size or "n", kept=BACKBONE if o.freeze else 0),
        o.image_size, o.batch_size, images.boxes, settings.weight_decay, settings.accumulate,
        mode=jax_mode(donate=True, precision=o.precision, cpu_kernels=True, platform="cuda"),
        optimizer=recipe.optimizer,
        images=DeviceImages(few, o.image_size, o.batch_size, pasted) if on_device else None,
    )  # fmt: skip
    return Run(step, images, batches, settings.accumulate, squares * on_device)


def shapes(function, rows, mesh):
    """Return shapes of a function's arguments; the first ones have a row for each image."""
    types = [v.type for v in function.maker.fgraph.inputs]
    return [shape_of(t, split_rows(mesh) if k < rows else None) for k, t in enumerate(types)]


def functions(run):
    """Return a step's functions, how many arguments have rows, and how often a batch runs."""
    step, rows = run.step, len(run.step.images.variables) + 3
    if step.fused:
        return [(step._step, rows, 1.0)]
    return [(step._add, rows, 1.0), (step._apply, 0, 1 / run.accumulate)]


def compiled(run, mesh):
    """Compile a step for the devices of a mesh: its parts."""
    parts = []
    for function, rows, share in functions(run):
        with compiling_for("cuda"):
            step = program.compile_for(mesh, function.vm.jit_fn, shapes(function, rows, mesh))
        parts.append(Part(share, program.read(step.as_text()), step.memory_analysis()))
    return parts


def seconds_at_least(parts, device):
    """Bound the seconds of a batch from below, by bytes and launches."""
    return sum(
        part.share * kernel.times * (kernel.bytes / device.bandwidth + 1e-6 * LAUNCH)
        for part in parts
        for kernel in part.kernels
    )


def needed(run, parts, devices):
    """Return the bytes that a device must have: variables, two batches, temporary memory."""
    held = sum(v.get_value(borrow=True).nbytes for v in run.step.variables)
    few = sum(v.get_value(borrow=True).nbytes for v in run.step.images.shared)
    function, rows, _ = functions(run)[0]
    batch = sum(math.prod(s.shape) * s.dtype.itemsize for s in shapes(function, rows, None)[:rows])
    plans = [part.memory for part in parts]
    others = (p.temp_size_in_bytes + p.output_size_in_bytes - p.alias_size_in_bytes for p in plans)
    return held - few + run.squares + 2 * batch // devices + max(others)


def measure(run, devices):
    """Run a step on zeros: seconds of a batch, and the most bytes that its device held or None."""
    devices.replicate(run.step.variables)
    total = 0.0
    for function, rows, share in functions(run):
        given = sum(not each.implicit for each in function.maker.inputs)
        zeros = [np.zeros(s.shape, s.dtype) for s in shapes(function, rows, None)[:given]]
        arrays = [*devices.shard(jax.device_put(zeros[:rows])), *zeros[rows:]]
        for repeat in (WARMUP, STEPS):
            begun = time.perf_counter()
            for _ in range(repeat):
                function(*arrays)
            jax.block_until_ready([v.get_value(borrow=True) for v in run.step.variables])
            took = (time.perf_counter() - begun) / repeat
        total += share * took
    return total, (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use")


def this_device():
    """Return the GPU of this machine as XLA describes it.

    Raises
    ------
    NoPlugin
        If there is none, or XLA describes none of its kind.
    """
    kind = jax.devices()[0].device_kind
    if jax.default_backend() != "gpu":
        raise program.NoPlugin("this machine has no GPU: name one, for example --check h100")
    known = program.devices()
    name = min((name for name in known if name.startswith(kind)), key=len, default=kind)
    return program.find_device(name)


def speed(run, o, seconds):
    """Say the images a second and the hours of a run, in words."""
    hours = o.epochs * run.batches * seconds / 3600
    rate = o.batch_size / seconds
    return f"{1e3 * seconds:.2f} ms a batch, {rate:,.0f} images/s, {hours:.2f} h of steps"


def check(name, o):
    """Print what a run takes on a device; return what would be refused."""
    device = this_device() if name is None else program.find_device(name)
    if o.batch_size % o.devices:
        return [f"{o.devices} devices can't share a batch of {o.batch_size} equally"]
    room = SHARE * device.memory
    run = build(o, room)
    print(f"{device.name}: {o.precision}, batches of {o.batch_size} at {o.image_size} px on "
          f"{o.devices} device(s), {run.images.count:,} images, {o.epochs} epochs, "
          f"{run.step.optimizer}; images are drawn on the {'device' if run.squares else 'host'}; "
          f"{run.images.boxes} boxes an image {run.images.source}", flush=True)  # fmt: skip
    parts = compiled(run, program.mesh_of(device, o.devices))
    size = needed(run, parts, o.devices)
    print(f"memory: {size / 1e9:.2f} GB of each device, of which JAX takes {room / 1e9:.1f} GB "
          f"({SHARE:.0%}); training images {run.squares / 1e9:.2f} GB")  # fmt: skip
    least = seconds_at_least(parts, device)
    print(f"time, estimated from below, not measured: {speed(run, o, least)} (all bytes at the "
          f"memory's full bandwidth, and {LAUNCH} µs a kernel)")  # fmt: skip
    if jax.default_backend() == "gpu" and size <= room:
        seconds, peak = measure(run, Devices(o.devices))
        held = "" if peak is None else f", {peak / 1e9:.2f} GB held at most"
        print(f"measured on {jax.devices()[0].device_kind}: {speed(run, o, seconds)}{held}")
    if size > room:
        return [f"the batch does not fit: it takes {size / 1e9:.1f} GB, and JAX {room / 1e9:.1f}"]
    return []


def main(arguments=None):
    """Check what the command line names; return the exit code."""
    arguments = [*(sys.argv[1:] if arguments is None else arguments)]
    name = arguments.pop(0) if arguments and not arguments[0].startswith("-") else None
    options = parse_arguments(__doc__.splitlines()[0], arguments)
    try:
        refused = check(name, options)
    except (program.NoPlugin, DataError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for reason in refused:
        print(f"refused: {reason}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
