"""What GPUs would run of YOLO11n's training step, found out without one: PyTensor, and plain JAX.

    python -m benchmarks.gpu.program [--device h200 a100 ...] [--sides PyTensor NHWC NCHW]
        [--what step sync-step drawn inference] [--precision bf16 float32 highest] [--devices 1]
        [--batch-size 64] [--image-size 320] [--largest-batch] [--why N] [--json FILE]
        [--keep FOLDER]
    python -m benchmarks.gpu.program --list-devices
    python -m benchmarks.gpu.program --read FILE [--device h200]

XLA compiles the whole step for the device, which need not be there, and its program is read:
kernels, bytes, operations, calls of cuDNN, memory.  It needs `pip install 'jax[cuda12]'`; no GPU
and no driver.  No time is measured.  A bound of the time is computed from XLA's own description of
the device, and from two assumptions, which are options: what a kernel's launch takes in a CUDA
graph (--graph-launch-us) and without one (--launch-us).

What can be compiled:
    step        the training step with images from the host
    sync-step   the same on several devices that share batch normalizations' statistics
    drawn       the training step that draws its images on the device (PyTensor alone)
    inference   images to boxes, with the averaged weights (PyTensor alone)

Precisions: float32 is JAX's default, in which products are TF32's; highest keeps them float32.
With --json the results are put into a file, in the place of those of the same programs.
"""

import os

# Before the first imports of pytensor and jax, which read them once.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"  # JAX's plugin looks for a GPU otherwise

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from contextlib import nullcontext
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.common import step_sides, xla_gpu

WHAT = ("step", "sync-step", "drawn", "inference")
SIDES = ("PyTensor", "NHWC", "NCHW")
PRECISIONS = ("bf16", "float32", "highest")
# Squares on the device of the step that draws from them; a program differs in nothing else.
PICTURES = 1024
KEY = ("device", "what", "side", "precision", "batch size", "image size", "devices")
PACKAGES = ("jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda13-plugin", "pytensor")


def program(what, side, precision, batch_size, image_size, mesh):
    """Return a jitted function, and its arguments' shapes; in a block of `compiling_for`.

    Raises
    ------
    ValueError
        If plain JAX has no such function.
    """
    number = "float32" if precision == "highest" else precision
    if side != "PyTensor":
        if what != "step":
            raise ValueError(f"plain JAX has no {what}, only the step")
        weights = step_sides.initial_weights()
        pure = step_sides.PureStep(image_size, batch_size, weights, side, precision=number)
        return pure.program(mesh)
    if what == "inference":
        return inference(image_size, batch_size, mesh)
    from pytensor.link.jax.tuned import jax_mode

    mode = jax_mode(
        donate=True, precision=number, platform="cuda", cpu_kernels=True, mesh=mesh,
        sync_batchnorm=what == "sync-step",
    )  # fmt: skip
    pictures = PICTURES * (what == "drawn")
    demo = step_sides.DemoStep(image_size, batch_size, mode=mode, pictures=pictures)
    return demo.program(mesh)


def inference(image_size, batch_size, mesh):
    """Return `program` of the demo's detector, in float32 as the demo has it."""
    step_sides.use_demo()
    from model import YOLO11n
    from training.train_step import compile_detector

    model = YOLO11n(step_sides.CLASSES)
    function = compile_detector(model, image_size, batch_size)
    images, *weights = (v.type for v in function.maker.fgraph.inputs)
    arguments = [step_sides.shape_of(images, step_sides.split_rows(mesh))]
    return function.vm.jit_fn, arguments + [step_sides.shape_of(v) for v in weights]


def compile_program(device, what, side, precision, batch_size, image_size, devices):
    """Compile one of the programs for so many devices of a kind."""
    import jax

    from pytensor.link.jax.target import compiling_for

    mesh = xla_gpu.mesh_of(device, devices)
    highest = jax.default_matmul_precision("highest") if precision == "highest" else nullcontext()
    with compiling_for("cuda"), highest:
        function, arguments = program(what, side, precision, batch_size, image_size, mesh)
        return xla_gpu.compile_for(mesh, function, arguments)


def estimate(kernels, device, assumed):
    """Return the least seconds of a run, with their parts; None where XLA lists no rates."""
    least = xla_gpu.roofline(kernels, device)
    if least is None:
        return None
    count = sum(k.times for k in kernels)
    launch = {name: count * 1e-6 * us for name, us in assumed.items()}
    return {
        "bytes and operations": least,
        "bytes alone": sum(k.times * k.bytes for k in kernels) / device.bandwidth,
        # In a graph a kernel starts when the one before it has ended; without one the host
        # launches while the device computes, and the slower of them decides.
        "with CUDA graphs": least + launch["with CUDA graphs"],
        "without CUDA graphs": max(least, launch["without CUDA graphs"]),
    }


def examine(device, key, options):
    """Compile a program and say what it is made of: a row of the results, and its kernels."""
    begun = time.perf_counter()
    compiled = compile_program(device, *key)
    text = compiled.as_text()
    row = dict(zip(KEY, (device.name, *key), strict=True))
    row["compiled in seconds"] = round(time.perf_counter() - begun, 1)
    kernels = xla_gpu.read(text)
    row |= xla_gpu.summary(kernels)
    row["host transfers"] = xla_gpu.host_transfers(text)
    row["memory"] = xla_gpu.memory(compiled)
    row["estimated seconds"] = estimate(kernels, device, options.assumed)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        name = "_".join(str(part) for part in (device.name, *key)).replace(" ", "_")
        (options.keep / f"{name}.txt").write_text(text)
    return row, kernels


def largest_batch(device, key, total, options):
    """Return the batch that fills the device, from a second compilation; compiled as a check.

    Memory is taken to be linear in the batch.  Where the check finds that a batch doesn't fit, the
    line goes through what was found.  JAX may use a share of a device's memory.
    """
    what, side, precision, batch_size, *rest = key
    room = options.memory_share * device.memory
    step = 8 * rest[-1]

    def compiled(size):
        program = compile_program(device, what, side, precision, size, *rest)
        return size, xla_gpu.memory(program)["total"]

    known = batch_size, total
    other = compiled(batch_size // 2)
    while True:
        each = (other[1] - known[1]) / (other[0] - known[0])
        size = int((room - total) / each + batch_size) // step * step
        # A device alone holds its part of the batch.
        found = {"batch": size, "bytes of an image": each, "share of memory": options.memory_share}
        if not options.confirm:
            return found
        other = compiled(size)
        if other[1] <= room:
            return found | {"bytes by a compilation": other[1]}


# ------------------------------------------------------------------------------------- tables


def print_row(row):
    """Print what a program is made of."""
    print(f"\n{title(row)}")
    took, flop = row["memory"], row["flop"]
    tera = ", ".join(f"{name} {number / 1e12:.3f}" for name, number in flop.items() if number)
    lines = [
        ("kernels", f"{row['kernels']:,}; under 2 MB {row['kernels under 2 MB']:,}"),
        ("read and written", f"{row['bytes'] / 1e9:.2f} GB"),
        ("operations, 10^12", tera),
        ("by kind", counts(row["kinds"])),
        ("libraries", counts(row["libraries"])),
        ("only copy or transpose",
         f"{row['copies']} kernels, {row['bytes of copies'] / 1e6:.1f} MB; "
         f"{row['transposing']} transpose"),
        ("host transfers", row["host transfers"]),
        ("all-reduces", f"{row['all-reduces']}, {row['bytes of all-reduces'] / 1e6:.1f} MB"),
        ("memory", ", ".join(f"{name} {size / 1e6:,.1f} MB" for name, size in took.items())),
    ]  # fmt: skip
    if seconds := row["estimated seconds"]:
        parts = ", ".join(f"{name} {1e3 * s:.2f} ms" for name, s in seconds.items())
        lines.append(("estimated, not measured", parts))
    if found := row.get("largest batch"):
        state = "compiled, fits" if "bytes by a compilation" in found else "an estimate"
        lines.append(("largest batch", f"{found['batch']:,} ({state})"))
    for name, text in lines:
        print(f"  {name:24} {text}")


def title(row):
    return ", ".join(f"{row[name]}" if name in KEY[:4] else f"{name} {row[name]}" for name in KEY)


def counts(numbers):
    return ", ".join(f"{name} {count:,}" for name, count in numbers.items()) or "none"


def print_why(kernels, number):
    """List the largest kernels, and where most and most bytes come from."""
    print(f"  {'largest kernels':24} MB, kind, node")
    for k in sorted(kernels, key=lambda k: -k.bytes)[:number]:
        print(f"{k.bytes / 1e6:36.1f}  {k.kind:22} {k.node}  ({k.name})")
    times, sizes = Counter(), defaultdict(int)
    for k in kernels:
        group = k.node.partition("[")[0], k.kind
        times[group] += k.times
        sizes[group] += k.times * k.bytes
    print(f"  {'most frequent':24} kernels, MB together, kind, node")
    for (node, kind), count in times.most_common(number):
        print(f"{count:36,}  {sizes[node, kind] / 1e6:9,.1f}  {kind:22} {node}")
    print(f"  {'most bytes':24} kernels, MB together, kind, node")
    for (node, kind), size in sorted(sizes.items(), key=lambda item: -item[1])[:number]:
        print(f"{times[node, kind]:36,}  {size / 1e6:9,.1f}  {kind:22} {node}")


def versions():
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write(path, row, options):
    """Put a row into a file of results, in the place of one of the same program."""
    old = json.loads(path.read_text())["programs"] if path.exists() else []
    key = [row[name] for name in KEY]
    rows = [each for each in old if [each[name] for name in KEY] != key]
    row["versions"], row["assumed microseconds of a launch"] = versions(), options.assumed
    rows = sorted([*rows, row], key=lambda each: [str(each[name]) for name in KEY])
    path.write_text(json.dumps({"programs": rows}, indent=1) + "\n")


def print_devices():
    """Print the devices that the plugin describes, with what it says of them."""
    print(f"{'short name':12} {'XLA':38} {'GB':>6} {'TB/s':>6} {'bf16':>6} {'TF32':>6}  TFLOP/s")
    short = {full: name for name, full in xla_gpu.SHORT_NAMES.items()}
    for name, d in sorted(xla_gpu.devices().items()):
        tera = (d.matrix.get(dtype, 0) / 1e12 for dtype in ("bf16", "f32"))
        rates = (f"{rate:6.0f}" if rate else "     -" for rate in tera)
        sizes = f"{d.memory / 1e9:6.1f} {d.bandwidth / 1e12:6.2f}"
        print(f"{short.get(name, ''):12} {name:38} {sizes} {' '.join(rates)}")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--list-devices", action="store_true")
    add("--device", nargs="+", default=["h200"], metavar="NAME")
    add("--what", nargs="+", choices=WHAT, default=["step"])
    add("--sides", nargs="+", choices=SIDES, default=["PyTensor", "NHWC"])
    add("--precision", nargs="+", choices=PRECISIONS, default=["bf16"])
    add("--batch-size", type=int, default=64, help="on all devices together")
    add("--image-size", type=int, default=320)
    add("--devices", type=int, default=1, help="that share a batch")
    add("--largest-batch", action="store_true", help="compile half the batch, and conclude")
    add("--confirm", action="store_true", help="compile the largest batch, too")
    add("--memory-share", type=float, default=0.75, help="what JAX takes of a device's memory")
    add("--graph-launch-us", type=float, default=1.5, help="a launch in a CUDA graph, assumed")
    add("--launch-us", type=float, default=4.0, help="a launch without one, assumed")
    add("--why", type=int, default=0, metavar="N", help="list the N largest kernels and sources")
    add("--json", type=Path, metavar="FILE")
    add("--keep", type=Path, metavar="FOLDER", help="where programs are written as text")
    add("--read", type=Path, metavar="FILE", help="read such a text instead of compiling")
    options = parser.parse_args()
    options.assumed = {
        "with CUDA graphs": options.graph_launch_us, "without CUDA graphs": options.launch_us
    }  # fmt: skip
    return options


def main():
    o = parse_arguments()
    if o.list_devices:
        return print_devices()
    if o.read:
        kernels = xla_gpu.read(o.read.read_text())
        row = xla_gpu.summary(kernels)
        row["estimated seconds"] = estimate(kernels, xla_gpu.find_device(o.device[0]), o.assumed)
        print(json.dumps(row, indent=1))
        return print_why(kernels, o.why)
    for device in [xla_gpu.find_device(name) for name in o.device]:
        for precision in o.precision:
            for what, side in ((what, side) for what in o.what for side in o.sides):
                if what != "step" and side != "PyTensor":
                    continue
                if what == "sync-step" and o.devices == 1:
                    sys.exit("sync-step is a step of several --devices")
                # The detector has no other form.
                form = "float32" if (what, precision) == ("inference", "bf16") else precision
                key = what, side, form, o.batch_size, o.image_size, o.devices
                row, kernels = examine(device, key, o)
                if o.largest_batch:
                    row["largest batch"] = largest_batch(device, key, row["memory"]["total"], o)
                print_row(row)
                if o.why:
                    print_why(kernels, o.why)
                sys.stdout.flush()
                if o.json:
                    write(o.json, row, o)


if __name__ == "__main__":
    try:
        main()
    except xla_gpu.NoPlugin as error:
        sys.exit(f"error: {error}")
