"""Count what a GPU would run of YOLO11n's training step, without the GPU: PyTensor and plain JAX.

    python -m benchmarks.gpu.program [--device h200 a100 ...] [--sides PyTensor pure]
        [--precision bf16 float32] [--batch-size 64] [--image-size 320] [--devices 1]
        [--why N] [--record]
    python -m benchmarks.gpu.program --table

XLA compiles the whole step for the device, and its program is read: kernels, bytes, memory.  That
takes some minutes for each program, and `pip install 'jax[cuda12]'`, but no GPU and no driver.  No
time is measured.  `--table` writes the recorded figures into docs/what_the_gpu_runs.md.
"""

import argparse
import os
import re
import sys
from collections import Counter
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import results
from benchmarks.common.child import ROOT

PAGE = ROOT / "docs" / "what_the_gpu_runs.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
SIDES = {"PyTensor": "PyTensor", "pure": "plain JAX"}
# The parts of a program's key.
KEY = ("device", "devices", "batch size", "image size", "precision", "side")
# Figures that the page's table shows, of programs with one image size.
SHOWN = {"kernels": "{:,.0f}", "GB": "{:.2f}", "temporary MB": "{:,.0f}"}
IMAGE_SIZE = 320

NAMES = {
    "h200": "NVIDIA H200 141GB HBM3e",
    "h100": "NVIDIA H100 80GB HBM3",
    "h100-pcie": "NVIDIA H100 PCIe",
    "a100": "NVIDIA A100-SXM4-80GB",
    "a100-40gb": "NVIDIA A100-SXM4-40GB",
    "a100-pcie": "NVIDIA A100 80GB PCIe",
    "b200": "NVIDIA B200",
    "gb200": "NVIDIA GB200",
    "a6000": "NVIDIA RTX A6000",
    "v100": "Tesla V100-SXM2-16GB",
}
SMALL = 2_000_000
# These run nothing on the device, or only wait for what was started before them.
FREE = {
    "after-all", "bitcast", "constant", "get-tuple-element", "opt-barrier", "parameter",
    "partition-id", "replica-id", "tuple",
}  # fmt: skip
COPIES = {"bitcast", "copy", "parameter", "transpose", "tuple"}

COMPUTATION = re.compile(r"(?P<entry>ENTRY )?%?(?P<name>[\w.-]+) \(.*\{$")
INSTRUCTION = re.compile(
    r"\s+(?:ROOT )?%?([\w.-]+) = (.*?) ([a-z][\w-]*?)(-start|-done|-update)?\(([^)]*)\)(.*)$"
)
ARRAY = re.compile(r"\b(?:pred|[a-z]+(\d+)\w*)\[([\d,]*)\]")
CALLED = re.compile(r"\b(?:body|to_apply|calls|\w+_computations?)=(?:\{([^}]*)\}|(%?[\w.-]+))")


class NoPlugin(Exception):
    """XLA's compiler for GPUs isn't installed, or doesn't know the device."""


# ------------------------------------------------------------------------------------ devices


class Device(NamedTuple):
    """A GPU as XLA describes it: `text` is its GpuTargetConfigProto, `bandwidth` bytes a second."""

    name: str
    text: str
    memory: float
    bandwidth: float


def devices() -> dict[str, Device]:
    """Return the GPUs that the installed plugin of XLA describes, by their names.

    Raises
    ------
    NoPlugin
        If none is installed.
    """
    names = ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12") if find_spec("jax_plugins") else ()
    spec = next(filter(None, map(find_spec, names)), None)
    if spec is None:
        raise NoPlugin(
            "XLA's compiler for NVIDIA GPUs isn't installed; run: pip install 'jax[cuda12]' "
            "(5.5 GB; it needs no GPU)"
        )
    data, found = Path(spec.origin).with_name("xla_cuda_plugin.so").read_bytes(), {}
    for match in re.finditer(rb"gpu_device_info \{", data):
        start, end = data.rfind(b"\0", 0, match.start()) + 1, data.find(b"\0", match.start())
        text = data[start:end].decode()
        if 'platform_name: "CUDA"' in text:
            device = describe(text)
            found[device.name] = device
    return found


def describe(text: str) -> Device:
    """Read XLA's description of a device."""
    name = re.search(r'device_description_str: "([^"]*)"', text)[1]
    keys = ("device_memory_size", "memory_bandwidth")
    return Device(name, text, *(float(re.search(rf"{key}: (\d+)", text)[1]) for key in keys))


def find_device(name: str) -> Device:
    """Return the GPU of a name of XLA's, or of `NAMES`.

    Raises
    ------
    NoPlugin
        If there is no plugin, or it has no such device.
    """
    known, full = devices(), NAMES.get(name.lower(), name)
    if full not in known:
        short = ", ".join(short for short, long in NAMES.items() if long in known)
        raise NoPlugin(f"XLA describes no device {name!r}; it has {short}, {', '.join(known)}")
    return known[full]


def mesh_of(device: Device, count: int):
    """Return `count` devices of a kind that need not be there, as a mesh along the axis "data"."""
    from jax.experimental import topologies

    from pytensor.link.jax.parallel.sharding import data_parallel_mesh

    topology = topologies.get_topology_desc(
        device.name, "cuda", target_config=device.text, topology=f"1x1x{count}"
    )
    return data_parallel_mesh(topology.devices)


def compile_for(mesh, function, arguments):
    """Compile a jitted function for the devices of a mesh.

    Arguments are trees of jax.ShapeDtypeStruct; those without a sharding are on every device.
    """
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    def place(value):
        return jax.ShapeDtypeStruct(
            value.shape, value.dtype,
            sharding=value.sharding or NamedSharding(mesh, PartitionSpec()),
        )  # fmt: skip

    return function.lower(*jax.tree.map(place, arguments)).compile()


# ------------------------------------------------------------------------------------ the text


class Kernel(NamedTuple):
    """A kernel that a program starts on the device, `times` times a run.

    Attributes
    ----------
    kind : str
        "loop fusion", "cudnn$convForward", "copy", ...
    node : str
        Where it comes from: with PyTensor the node (see `pytensor.link.jax.profiling.node_names`).
    bytes : int
        Of its operands and results.
    copies : bool
        Whether it only copies or transposes.
    """

    kind: str
    node: str
    bytes: int
    copies: bool = False
    times: int = 1


class Instruction(NamedTuple):
    """A line of a program; `bytes` is its result's size, `rest` is what follows its operands."""

    code: str
    ending: str | None
    bytes: int
    operands: list
    rest: str


def bytes_of(shape: str) -> int:
    """Return the bytes of a shape of XLA's, such as ``(f32[8,4]{1,0}, u8[0]{0})``."""
    return sum(
        prod(int(n) for n in dims.split(",") if n) * int(bits or 8) // 8
        for bits, dims in ARRAY.findall(shape)
    )


def read(text: str) -> list[Kernel]:
    """List the kernels of a compiled program, from ``compiled.as_text()``.

    A kernel is an instruction of the entry computation that runs something: a fusion, a call of a
    library, a copy.  The bodies of loops, calls and branches count as well: a loop's body as often
    as XLA knows them to run (once if it does not), of branches all.

    Raises
    ------
    ValueError
        If the text is of something else.
    """
    computations, entry = {}, None
    for line in text.splitlines():
        if match := COMPUTATION.match(line):
            current = computations[match["name"]] = {}
            entry = match["name"] if match["entry"] else entry
        elif match := INSTRUCTION.match(line):
            name, shape, code, ending, operands, rest = match.groups()
            # What is started has its operands in a tuple before the result.
            shape = shape.partition("), ")[2] if shape.startswith("((") else shape
            operands = re.findall(r"%([\w.-]+)", operands)
            current[name] = Instruction(code, ending, bytes_of(shape), operands, rest)
    if entry is None:
        raise ValueError("this is not the text of a compiled program: it has no ENTRY")
    return list(_kernels(computations, entry, 1))


def _kernels(computations, name, times):
    instructions = computations[name]
    for one in instructions.values():
        if one.code in FREE or one.ending in ("-done", "-update"):
            continue
        several_or_one = (each for pair in CALLED.findall(one.rest) for each in pair)
        called = [name for names in several_or_one for name in re.findall(r"[\w.-]+", names)]
        if one.code in ("while", "call", "conditional", "async"):
            trips = re.search(r'"known_trip_count":\{"n":"(\d+)"', one.rest)
            rounds = times * int(trips[1] if trips else 1)
            for computation in called:
                yield from _kernels(computations, computation, rounds)
        else:
            inner = computations[called[0]] if one.code == "fusion" else {"": one}
            given = sum(instructions[o].bytes for o in one.operands if o in instructions)
            codes = {each.code for each in inner.values()}
            yield Kernel(
                _kind(one, codes), _node(one, inner), given + one.bytes, codes <= COPIES, times
            )


def _kind(one, codes):
    if one.code == "custom-call":
        return re.search(r'custom_call_target="([^"]*)"', one.rest)[1].strip("_")
    if one.code != "fusion":
        return one.code
    if "all-reduce" in codes:
        return "all-reduce"
    kind = re.search(r"kind=k(\w+)", one.rest)[1].lower()
    return f"{'triton' if '__triton' in one.rest else kind} fusion"


def _node(one, inner):
    # A fusion without a name of its own belongs to what comes last in it.
    rests = [one.rest, *(each.rest for each in reversed(inner.values()))]
    paths = [found[1] for rest in rests if (found := re.search(r'op_name="([^"]*)"', rest))]
    parts = paths[0].split(";")[0].split("/") if paths else ["(none)"]
    return parts[1] if len(parts) > 2 else parts[-1]


# ------------------------------------------------------------------------------------ figures


def examine(device, devices, batch_size, image_size, precision, side):
    """Compile the step; return its figures by name (`summary`), and its kernels."""
    from benchmarks.common import step_sides
    from pytensor.link.jax import jax_mode
    from pytensor.link.jax.target import compiling_for

    mesh = mesh_of(device, devices)
    with compiling_for("cuda"):
        if side == "PyTensor":
            mode = jax_mode(donate=True, precision=precision, platform="cuda", mesh=mesh)
            step = step_sides.DemoStep(image_size, batch_size, mode=mode)
        else:
            weights = step_sides.initial_weights()
            step = step_sides.PureStep(image_size, batch_size, weights, precision)
        compiled = compile_for(mesh, *step.program(mesh))
    kernels = read(compiled.as_text())
    temporary = compiled.memory_analysis().temp_size_in_bytes
    return summary(kernels, device) | {"temporary MB": round(temporary / 1e6)}, kernels


def summary(kernels, device):
    """Return counts and sums of a program's kernels."""
    total = sum(k.times * k.bytes for k in kernels)
    return {
        "kernels": sum(k.times for k in kernels),
        "kernels under 2 MB": sum(k.times for k in kernels if k.bytes < SMALL),
        "copies": sum(k.times for k in kernels if k.copies),
        "all-reduces": sum(k.times for k in kernels if k.kind == "all-reduce"),
        "GB": round(total / 1e9, 2),
        "ms for the bytes": round(1e3 * total / device.bandwidth, 2),
    }


def print_why(kernels, number):
    """List the nodes and kinds that most bytes, and most kernels, come from."""
    times, sizes = Counter(), Counter()
    for k in kernels:
        group = k.node.partition("[")[0], k.kind
        times[group] += k.times
        sizes[group] += k.times * k.bytes
    for title, counts in (("most bytes", sizes), ("most kernels", times)):
        print(f"{title}: kernels, MB, node, kind")
        for group, _ in counts.most_common(number):
            print(f"{times[group]:8,} {sizes[group] / 1e6:10,.1f}  {'  '.join(group)}")


def nested(key, found):
    """Return figures as `results.record` takes them, by the parts of a program's key."""
    device, devices, batch_size, image_size, precision, side = key
    names = (
        device, f"devices {devices}", f"batch size {batch_size}", f"image size {image_size}",
        precision, SIDES[side],
    )  # fmt: skip
    for name in reversed(names):
        found = {name: found}
    return found


def recorded(path=results.RESULTS):
    """Return what was found, by the program's key; the last measurement counts."""
    programs = {}
    for row in results.read(path):
        if row["command"].startswith(f"python -m {__spec__.name} "):
            *key, name = row["figure"].split(" > ")
            pairs = zip(KEY, key, strict=True)
            texts = (part.removeprefix(f"{column} ") for column, part in pairs)
            key = tuple(int(text) if text.isdigit() else text for text in texts)
            programs.setdefault(key, {})[name] = float(row["value"])
    return programs


def page():
    """Return the page of the documentation with the table of the results that are there now."""
    head = [*(name for name in KEY if name != "image size"), *SHOWN]
    lines = [head, ["---"] * len(head)]
    for (device, devices, batch_size, size, *key), found in sorted(recorded().items()):
        if size == IMAGE_SIZE:
            cells = [form.format(found[name]) for name, form in SHOWN.items()]
            said = [device.removeprefix("NVIDIA "), str(devices), str(batch_size), *key]
            lines.append([*said, *cells])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    before, rest = PAGE.read_text().split(BEGIN)
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--device", nargs="+", default=["h200"], metavar="NAME", help="as XLA calls it, or short")
    add("--sides", nargs="+", choices=SIDES, default=[*SIDES], help="pure is plain JAX")
    add("--precision", nargs="+", choices=["bf16", "float32"], default=["bf16"])
    add("--batch-size", type=int, default=64, help="on all devices together")
    add("--image-size", type=int, default=IMAGE_SIZE)
    add("--devices", type=int, default=1, help="that share a batch")
    add("--why", type=int, default=0, metavar="N", help="list where most bytes and kernels are")
    results.add_options(parser, json=False)
    add("--table", action="store_true", help="compile nothing, write the page's table")
    o = parser.parse_args()
    if o.table:
        PAGE.write_text(page())
        return
    # Before the first imports of pytensor and jax, which read them once.
    os.environ["PYTENSOR_FLAGS"] = f"floatX=float32,{os.environ.get('PYTENSOR_FLAGS', '')}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"  # JAX's plugin looks for a GPU otherwise
    for device in map(find_device, o.device):
        for precision in o.precision:
            for side in o.sides:
                key = device.name, o.devices, o.batch_size, o.image_size, precision, side
                found, kernels = examine(device, *key[1:])
                print(*key, sep=", ")
                print(
                    *(f"{value:12,} {name}" for name, value in found.items()), sep="\n", flush=True
                )
                if o.why:
                    print_why(kernels, o.why)
                results.save(o, None, nested(key, found))


if __name__ == "__main__":
    try:
        main()
    except NoPlugin as error:
        sys.exit(f"error: {error}")
