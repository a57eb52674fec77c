"""What a program that XLA compiled for a GPU consists of, and how long it takes at least.

`devices` reads the descriptions of GPUs that XLA's CUDA plugin carries, `compile_for` compiles a
function of JAX for one of them (the GPU need not be there), `read` lists a compiled program's
kernels from its text, and `roofline` bounds their time from below.  Nothing here measures a time.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import NamedTuple

SHORT_NAMES = {
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
# Numbers of XLA's PrimitiveType, by which a description lists its rates.
RATES = {"f16": 10, "f32": 11, "f64": 12, "bf16": 16}
SMALL = 2_000_000
# These run nothing on the device, or only wait for what was started before them.
FREE = {
    "after-all", "bitcast", "constant", "get-tuple-element", "opt-barrier", "parameter",
    "partition-id", "replica-id", "tuple",
}  # fmt: skip
MOVES = {"bitcast", "copy", "copy-start", "parameter", "transpose", "tuple"}
ARITHMETIC = {
    "abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "compare", "cosine", "divide", "erf",
    "exponential", "exponential-minus-one", "floor", "log", "log-plus-one", "logistic", "maximum",
    "minimum", "multiply", "negate", "not", "or", "power", "remainder", "round-nearest-afz",
    "round-nearest-even", "rsqrt", "select", "sign", "sine", "sqrt", "subtract", "tan", "tanh",
    "xor",
}  # fmt: skip
TRANSFERS = {"infeed", "outfeed", "send", "recv"}
ACROSS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")

COMPUTATION = re.compile(r"(?P<entry>ENTRY )?%?(?P<name>[\w.-]+) \(.*\{$")
INSTRUCTION = re.compile(
    r"\s+(?:ROOT )?%?(?P<name>[\w.-]+) = (?P<shape>.*?) (?P<code>[a-z][\w-]*)\((?P<rest>.*)$"
)
ARRAY = re.compile(r"\b(pred|[a-z]+\d\w*)\[([\d,]*)\](?:\{([\d,]*)([^}]*)\})?")


class NoPlugin(Exception):
    """What compiles for GPUs isn't installed, or doesn't know the device."""


# ------------------------------------------------------------------------------------ devices


class Device(NamedTuple):
    """A GPU as XLA describes it.

    Attributes
    ----------
    name : str
    text : str
        XLA's GpuTargetConfigProto.
    memory, bandwidth : float
        Bytes, and bytes a second.
    matrix, scalar : dict of str to float
        Floating point operations a second by type, of matrix units ("f32" is TF32) and of the
        others; empty where XLA lists none.
    """

    name: str
    text: str
    memory: float
    bandwidth: float
    matrix: dict
    scalar: dict


def describe(text: str) -> Device:
    """Read XLA's description of a device, a GpuTargetConfigProto as text."""
    number = {key: float(value) for key, value in re.findall(r"(\w+): ([\d.]+)\b", text)}
    units = re.split(r"(scalar|matrix)_unit_description", text)
    rates = {"scalar": {}, "matrix": {}}
    for kind, part in zip(units[1::2], units[2::2], strict=True):
        found = re.findall(
            r"key: (\d+)\s+value \{\s*clock_rate_ghz: ([\d.]+)\s+units_per_core: (\d+)"
            r"\s+ops_per_clock: (\d+)",
            part,
        )
        # An operation is a multiplication and an addition.
        by_key = {
            int(key): 2e9 * float(clock) * int(per_core) * int(ops) * number["core_count"]
            for key, clock, per_core, ops in found
        }
        rates[kind] = {name: by_key[key] for name, key in RATES.items() if key in by_key}
    return Device(
        re.search(r'device_description_str: "([^"]*)"', text)[1], text,
        number["device_memory_size"], number["memory_bandwidth"], rates["matrix"], rates["scalar"],
    )  # fmt: skip


def plugin() -> Path:
    """Return the path of XLA's CUDA plugin.

    Raises
    ------
    NoPlugin
        If none is installed.
    """
    for version in (13, 12):
        name = f"jax_plugins.xla_cuda{version}"
        if find_spec("jax_plugins") and (spec := find_spec(name)):
            return Path(spec.origin).with_name("xla_cuda_plugin.so")
    raise NoPlugin(
        "XLA's compiler for NVIDIA GPUs isn't installed; run: pip install 'jax[cuda12]' (5.5 GB; "
        "it needs no GPU)"
    )


def devices() -> dict[str, Device]:
    """Return NVIDIA's GPUs that the installed plugin describes, by their names."""
    data, found = plugin().read_bytes(), {}
    for match in re.finditer(rb"gpu_device_info \{", data):
        start, end = data.rfind(b"\0", 0, match.start()) + 1, data.find(b"\0", match.start())
        text = data[start:end].decode()
        if 'platform_name: "CUDA"' in text:
            device = describe(text)
            found[device.name] = device
    return found


def find_device(name: str) -> Device:
    """Return the GPU of a name of XLA's, or of `SHORT_NAMES`.

    Raises
    ------
    NoPlugin
        If there is no plugin, or it has no such device.
    """
    known = devices()
    full = SHORT_NAMES.get(name.lower(), name)
    if full not in known:
        short = ", ".join(short for short, long in SHORT_NAMES.items() if long in known)
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

    Arguments are trees of jax.ShapeDtypeStruct; those without a sharding lie on every device.
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


class Array(NamedTuple):
    """Type and place of an array, as a text of XLA says them; `order` has the innermost first."""

    dtype: str
    dims: tuple
    order: tuple
    space: str

    @property
    def size(self):
        return prod(self.dims)

    @property
    def bytes(self):
        bits = 8 if self.dtype == "pred" else int(re.search(r"\d+", self.dtype)[0])
        return self.size * bits // 8


class Instruction(NamedTuple):
    """One line of a computation; `arrays` is its result, `rest` what follows its operands."""

    name: str
    code: str
    arrays: list
    operands: list
    rest: str


@dataclass
class Kernel:
    """Something that a program starts on the device, `times` times a run.

    Attributes
    ----------
    kind : str
        ``"loop fusion"``, ``"cuDNN forward"``, ``"copy"`` …
    node : str
        Where it comes from: with PyTensor the node (see `pytensor.link.jax.tuned.scopes`).
    bytes : int
        Of its operands and results.
    flop : dict of str to int
        Operations of products and convolutions by type, and of all others as "other".
    detail : str
        Type and layout, of cuDNN's and cuBLAS's.
    moves : bool
        Whether it only copies or transposes.
    transposes : bool
        Whether it transposes at all.
    """

    name: str
    kind: str
    node: str
    bytes: int
    flop: dict = field(default_factory=dict)
    detail: str = ""
    moves: bool = False
    transposes: bool = False
    times: int = 1


def arrays_of(text: str) -> list[Array]:
    """Return the arrays that a shape of XLA's names, such as ``(f32[8,4]{1,0}, u8[0]{0})``."""

    def numbers(digits):
        return tuple(int(n) for n in digits.split(",") if n)

    return [Array(t, numbers(d), numbers(o), s) for t, d, o, s in ARRAY.findall(text)]


def parse(text: str) -> tuple[dict, str]:
    """Split a program's text: instructions by computation and name, and the entry's name."""
    computations, entry = {}, None
    for line in text.splitlines():
        if match := COMPUTATION.match(line):
            current = computations[match["name"]] = {}
            entry = match["name"] if match["entry"] else entry
        elif match := INSTRUCTION.match(line):
            inside, _, rest = match["rest"].partition(")")
            operands = re.findall(r"%([\w.-]+)", inside)
            # A parameter's number stands where the operands of others do.
            operands = operands or [inside]
            shape, code = match["shape"], match["code"]
            if code.endswith("-start"):
                # Operands stand in a tuple of their own before the result.
                shape = shape.partition("), ")[2] if shape.startswith("((") else shape
            current[match["name"]] = Instruction(
                match["name"], code, arrays_of(shape), operands, rest
            )
    if entry is None:
        raise ValueError("this is not the text of a compiled program: it has no ENTRY")
    return computations, entry


def read(text: str) -> list[Kernel]:
    """List the kernels of a compiled program, from ``compiled.as_text()``.

    A kernel is an instruction of the entry computation that runs something: a fusion, a call of a
    library, a copy.  The bodies of loops, calls and branches count as well: those of loops as often
    as XLA knows them to run (once if it does not), of branches all.

    Bytes are those of a kernel's operands and results, by their shapes.  Where a fusion only
    gathers from an operand, or takes a slice whose place is computed, what it takes is counted.
    """
    computations, entry = parse(text)
    return list(_kernels(computations, entry, 1))


def _kernels(computations, name, times):
    instructions = computations[name]
    for one in instructions.values():
        if one.code in FREE or one.code.endswith(("-done", "-update")):
            continue
        inner = re.findall(r"(?:body|to_apply|calls|_computations?)=\{?%?([\w.-]+)", one.rest)
        if one.code == "while":
            trips = re.search(r'"known_trip_count":\{"n":"(\d+)"', one.rest)
            body = re.search(r"body=%?([\w.-]+)", one.rest)[1]
            yield from _kernels(computations, body, times * int(trips[1] if trips else 1))
        elif one.code in ("call", "conditional", "async-start"):
            if one.code == "conditional":
                branches = re.search(r"branch_computations=\{([^}]*)\}", one.rest)
                inner = re.findall(r"%?([\w.-]+)", branches[1]) if branches else inner
            for computation in inner:
                yield from _kernels(computations, computation, times)
        else:
            yield _kernel(computations, instructions, one, times)


def _kernel(computations, instructions, one, times):
    fused = one.code.removesuffix("-start") == "fusion"
    called = re.search(r"calls=%?([\w.-]+)", one.rest) if fused else None
    inner = computations[called[1]] if called else {one.name: one}
    codes = {each.code for each in inner.values()}
    kind, detail, flop = _library_call(instructions, one)
    if kind is None:
        kind, flop = _kind(one, codes), _operations(inner if called else instructions, inner)
    read_bytes = sum(_read_bytes(instructions, one, inner if called else {}))
    # What a copy starts with names its operand beside its result.
    results = one.arrays[:1] if one.code == "copy-start" else one.arrays
    written = sum(array.bytes for array in results)
    return Kernel(
        one.name, kind, _node(one, inner), read_bytes + written, flop, detail,
        codes <= MOVES, "transpose" in codes, times,
    )  # fmt: skip


def _kind(one, codes):
    if one.code == "custom-call":
        return re.search(r'custom_call_target="([^"]*)"', one.rest)[1].strip("_")
    across = [code for code in codes if code.startswith(ACROSS)]
    if across or one.code.removesuffix("-start") != "fusion":
        return (across or [one.code])[0].removesuffix("-start")
    kind = re.search(r"kind=k(\w+)", one.rest)[1].lower()
    if "__triton" in one.rest:
        kind = "triton"
    return f"{kind} {'product' if 'dot' in codes else 'fusion'}"


def _node(one, inner):
    # A fusion without a name of its own belongs to what comes last in it.
    rests = [one.rest, *(each.rest for each in reversed(inner.values()))]
    paths = [found[1] for rest in rests if (found := re.search(r'op_name="([^"]*)"', rest))]
    parts = paths[0].split(";")[0].split("/") if paths else ["(none)"]
    return parts[1] if len(parts) > 2 else parts[-1]


def _read_bytes(instructions, one, inner):
    """Yield the bytes that are read of each operand."""
    users, numbers = defaultdict(list), {}
    for each in inner.values():
        if each.code == "parameter":
            numbers[each.name] = int(each.operands[0])
        for place, operand in enumerate(each.operands):
            users[operand].append((each, place))
    taken = {}
    for name, number in numbers.items():
        of = users[name]
        if of and all(u.code in ("gather", "dynamic-slice") and place == 0 for u, place in of):
            taken[number] = sum(u.arrays[0].bytes for u, _ in of)
    for place, operand in enumerate(one.operands):
        if operand in instructions:
            whole = sum(array.bytes for array in instructions[operand].arrays)
            yield min(taken.get(place, whole), whole)


# ---------------------------------------------------------------------------- operations


def _library_call(instructions, one):
    """Return kind, detail and operations of a call of cuDNN or cuBLAS; else None thrice."""
    target = re.search(r'custom_call_target="__(cudnn|cublas)\$(\w+)"', one.rest)
    if target is None:
        return None, "", None
    library, function = target.groups()
    operands = [instructions[name].arrays[0] for name in one.operands if name in instructions]
    first, second, result = operands[0], operands[1], one.arrays[0]
    if library == "cublas":
        contracted = re.search(r'"lhs_contracting_dimensions":\["(\d+)"', one.rest)
        number = 2 * result.size * first.dims[int(contracted[1])] if contracted else 0
        return f"cuBLAS {function}", first.dtype, {_type(one, first): number}
    if "dim_labels=" not in one.rest:
        return f"cuDNN {function}", first.dtype, {}
    labels = re.search(r"dim_labels=(\w+)_(\w+)->(\w+)", one.rest)
    kind = function.removeprefix("conv")
    # Of the convolution forward: its filters, and its result.
    filters, out = {
        "BackwardFilter": (result, second), "BackwardInput": (second, first),
    }.get(kind, (second, result))  # fmt: skip
    number = 2 * out.size * filters.size // filters.dims[labels[2].index("o")]
    # As they lie in memory: outermost first.
    images = result if kind != "BackwardFilter" else first
    letters = labels[3] if "Forward" in kind else labels[1]
    layout = "".join(letters[axis] for axis in reversed(images.order))
    layout = layout.translate(str.maketrans("bf01", "NCHW"))
    words = {
        "BackwardFilter": "filter gradient", "BackwardInput": "input gradient",
        "Forward": "forward", "BiasActivationForward": "forward with bias",
    }  # fmt: skip
    name = f"cuDNN {words.get(kind, kind)}"
    return name, f"{first.dtype} {layout}", {_type(one, first): number}


def _type(one, operand):
    """Return the key of the rate: JAX's "highest" keeps float32 off the matrix units."""
    highest = operand.dtype == "f32" and "highest" in one.rest
    return "f32 highest" if highest else operand.dtype


def _operations(instructions, inner):
    """Count the operations of an own kernel: products by type, and the elements of all others."""
    flop = Counter()
    for each in inner.values():
        operands = [instructions[name] for name in each.operands if name in instructions]
        if each.code == "dot":
            first = operands[0].arrays[0]
            axes = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", each.rest)[1].split(",")
            contracted = prod(first.dims[int(axis)] for axis in axes if axis)
            flop[_type(each, first)] += 2 * each.arrays[0].size * contracted
        elif each.code in ("reduce", "reduce-window"):
            # Each element of what goes in is taken once; windows overlap.
            window = re.search(r"window=\{size=([\dx]+)", each.rest)
            times = prod(int(n) for n in window[1].split("x")) if window else 1
            size = each.arrays[0].size if window else operands[0].arrays[0].size
            flop["other"] += size * times
        elif each.code in ARITHMETIC:
            flop["other"] += each.arrays[0].size
    return dict(flop)


# ------------------------------------------------------------------------- sums and estimates


def roofline(kernels: Iterable[Kernel], device: Device) -> float | None:
    """Return the least seconds of kernels: each takes its bytes or operations, the longer.

    None where XLA lists no rates of the device's matrix units.
    """
    if not device.matrix:
        return None
    rates = device.matrix | dict.fromkeys(("f32 highest", "other"), device.scalar["f32"])
    return sum(
        k.times
        * max(k.bytes / device.bandwidth, sum(number / rates[t] for t, number in k.flop.items()))
        for k in kernels
    )


def summary(kernels: Iterable[Kernel]) -> dict:
    """Return counts and sums of a program's kernels, ready for JSON."""
    kernels = list(kernels)

    def count(wanted):
        return sum(k.times for k in kernels if wanted(k))

    def counted(key, wanted=lambda k: True):
        counts = Counter()
        for k in kernels:
            if wanted(k):
                counts[key(k)] += k.times
        return dict(counts.most_common())

    flop = Counter()
    for k in kernels:
        flop.update({name: k.times * number for name, number in k.flop.items()})
    return {
        "kernels": count(lambda k: True),
        "kernels under 2 MB": count(lambda k: k.bytes < SMALL),
        "bytes": sum(k.times * k.bytes for k in kernels),
        "flop": dict(flop),
        "kinds": counted(lambda k: k.kind),
        "libraries": counted(lambda k: f"{k.kind} {k.detail}", lambda k: bool(k.detail)),
        "copies": count(lambda k: k.moves),
        "bytes of copies": sum(k.times * k.bytes for k in kernels if k.moves),
        "transposing": count(lambda k: k.transposes),
        "all-reduces": count(lambda k: k.kind.startswith(ACROSS)),
        "bytes of all-reduces": sum(
            k.times * k.bytes // 2 for k in kernels if k.kind.startswith(ACROSS)
        ),
    }


def host_transfers(text: str) -> int:
    """Count the instructions that move something between host and device within a program."""
    computations, _ = parse(text)
    every = (one for inner in computations.values() for one in inner.values())
    # XLA's memory space 5 is the host's.
    return sum(
        one.code in TRANSFERS
        or (one.code == "copy-start" and any("S(5)" in array.space for array in one.arrays))
        for one in every
    )


def memory(compiled) -> dict:
    """Return what a program takes of a device's memory, in bytes."""
    plan = compiled.memory_analysis()
    parts = {
        "arguments": plan.argument_size_in_bytes,
        "results": plan.output_size_in_bytes,
        "temporary": plan.temp_size_in_bytes,
        "donated": plan.alias_size_in_bytes,
    }
    total = parts["arguments"] + parts["results"] + parts["temporary"] - parts["donated"]
    return parts | {"total": total}
