"""Kernels, in C++, for what XLA is slow at on a CPU.

XLA makes patches of the images, or transposes them, and multiplies matrices; for the gradients of
filters it reaches a third of what a processor can do.  For a normalization and its gradient it
passes over memory twice as often as it must.  The kernels (in ``kernels/``) read images where they
lie.  Wheels for Linux bring them compiled, for the processors in `LEVELS`; elsewhere, and from
sources, PyTensor's C++ compiler makes them once per machine, in PyTensor's `compiledir`.  XLA calls
them on its own threads, through its foreign function interface.

They serve functions that were compiled with ``jax_mode(cpu_kernels=True)`` and run on a CPU that is
JAX's only device, or with a mesh of CPUs.  With two spatial axes they compute:

- gradients of filters, without groups or with a filter per channel;
- gradients of images with strides, without groups and dilation;
- convolutions without groups, and their gradients of images, of few channels or 3 x 3;
- batch normalization with SiLU behind it, and their gradient (`NormalizeByKernels`).

Images, and their gradients, are float32 or, with ``precision="bf16"``, bfloat16.  Everything is
summed up in float32.  As XLA computes in bfloat16 slowly, the kernels then compute all convolutions
without groups, and their gradients.

XLA's count of a program's operations leaves the kernels out.
"""

import ctypes
import hashlib
import itertools
import logging
import subprocess
from functools import cache, wraps
from pathlib import Path
from threading import Lock
from uuid import uuid4

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

from pytensor.configdefaults import config
from pytensor.link.jax.dispatch.conv import channels_second
from pytensor.link.jax.kernels.processor import processor
from pytensor.link.jax.rewriting.channels_last import ChannelsLast
from pytensor.link.jax.rewriting.recompute import Moments, NormalizedSiLU, SiLUNormalizationGrad
from pytensor.link.jax.target import shares_statistics, sharing_devices, target_platform
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput

__all__ = ["load_kernels", "with_cpu_kernels"]

logger = logging.getLogger(__name__)
SOURCE = Path(__file__).with_name("cpu_kernels.cc")
GRAD_FILTERS = "pytensor_conv_grad_filters"
GRAD_IMAGE = "pytensor_conv_grad_image"
CONVOLUTION = "pytensor_convolution"
MOMENTS = "pytensor_moments"
NORMALIZE_SILU = "pytensor_normalize_silu"
NORMALIZE_SILU_GRAD = "pytensor_grad_normalize_silu"
KERNELS = (
    GRAD_FILTERS, GRAD_IMAGE, CONVOLUTION, MOMENTS, NORMALIZE_SILU, NORMALIZE_SILU_GRAD
)  # fmt: skip
DTYPES = "float32", "bfloat16"  # of images
# What Linux says of a processor that runs a wheel's library, by the library's name, best first.
_V3 = {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
LEVELS = {
    "x86_64_v4": _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"},
    "x86_64_v3": _V3,
    "aarch64": {"asimd"},
}
_loading = Lock()


def load_kernels():
    """Make the kernels known to XLA, and return the digest of their code; compile them if need be.

    None if there are none: they are for a CPU that is JAX's only device, or for devices of which
    each computes on rows of its own; or the wheel brought none that fit and they can't be compiled,
    which is told as a warning in the log.
    """
    several = jax.device_count() > 1 and sharing_devices() == 1
    if target_platform() != "cpu" or several:
        return None
    with _loading:  # two threads would load two libraries, and XLA takes a name once
        return _load(config.cxx, config.gcc__cxxflags, str(config.compiledir))


@cache
def _load(compiler, flags, folder):
    """Do what `load_kernels` does, once for a compiler and a folder."""
    if (path := shipped()) is not None:
        try:
            return _register(path)
        except (OSError, jax.errors.JaxRuntimeError) as error:  # made for another system, or JAX
            logger.info("The kernels that came with the package don't fit: %s", error)
    try:
        return _register(_compiled(compiler, flags, Path(folder)))
    except (KernelsError, OSError) as error:
        logger.warning("What kernels could compute is computed by XLA, and slower: %s", error)
        return None


def shipped():
    """Return the path of the library that the wheel brought for this processor, or None."""
    known = set(" ".join(processor()).split())
    fitting = [level for level, needs in LEVELS.items() if needs <= known]
    found = [p for level in fitting for p in SOURCE.parent.glob(f"cpu_kernels_{level}_*.so")]
    return found[0] if found else None


def _register(path):
    """Make a library's kernels known to XLA, and return the digest in the library's name."""
    library, digest = ctypes.CDLL(str(path)), path.stem.rpartition("_")[2]
    for name, dtype in itertools.product(KERNELS, DTYPES):
        handler = jax.ffi.pycapsule(getattr(library, f"{name}_{dtype}"))
        jax.ffi.register_ffi_target(target(name, dtype, digest), handler, platform="cpu")
    return digest


def target(kernel, dtype, library):
    """Return XLA's name of a kernel: other flags make another library, in the same process too."""
    return f"{kernel}_{dtype}_{library}"


class KernelsError(Exception):
    """Why the kernels can't be compiled."""


def _compiled(compiler, flags, folder):
    """Return the path of the compiled library, which is made if it isn't there."""
    if not compiler:
        raise KernelsError("PyTensor has no C++ compiler (config.cxx); install g++")
    code = [(p.name, p.read_bytes()) for p in (SOURCE, *sorted(SOURCE.parent.glob("*.h")))]
    facts = code, compiler, flags, jaxlib.__version__, processor()
    path = folder / f"jax_cpu_kernels_{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}.so"
    if path.exists():
        return path
    from pytensor.link.c.cmodule import GCC_compiler

    # PyTensor's flags are those for this processor.
    command = [
        compiler, "-std=gnu++17", *GCC_compiler.compile_args(), "-O3", "-shared", "-fPIC",
        "-Wall", "-Wextra", "-isystem", jax.ffi.include_dir(), str(SOURCE),
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    # A file, for other processes of PyTensor's delete empty folders there; of its own name, as they
    # may be making it too.
    made = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        done = subprocess.run([*command, "-o", made], capture_output=True, text=True)
        if done.returncode:
            logger.info("the command was: %s", " ".join(command))
            raise KernelsError(f"{compiler} couldn't compile {SOURCE}:\n{done.stderr.strip()}")
        if done.stderr:
            logger.info("%s warns:\n%s", compiler, done.stderr.strip())
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
    return path


def with_cpu_kernels(convert, library):
    """Wrap a node conversion, such that the kernels of `library` compute what they can."""

    @wraps(convert)
    def converted(op, node=None, **kwargs):
        otherwise = convert(op, node=node, **kwargs)
        channels_last = isinstance(op, ChannelsLast)
        core = op.op if channels_last else op
        if isinstance(core, Moments) and shares_statistics():
            return otherwise
        if type(core) in NORMALIZATIONS:
            return _normalization(library, core, otherwise)
        by_kernel = CONVOLUTIONS.get(type(core))
        if by_kernel is None or core.n_spatial != 2:
            return otherwise

        def computed(image, filters, *cotangent):
            images = [v if channels_last else jnp.moveaxis(v, 1, -1) for v in (image, *cotangent)]
            shapes = [channels_second(v.shape) for v in images]
            if cotangent:
                core._check_cotangent(shapes[0], filters.shape, shapes[1])
            (dtype, *others), out = {v.dtype.name for v in (*images, filters)}, None
            if dtype in DTYPES and not others:
                out = by_kernel(library, core, images[0], filters.astype("float32"), *images[1:])
            if out is None:
                return otherwise(image, filters, *cotangent)
            is_image = not isinstance(core, ConvGradFilters)
            return jnp.moveaxis(out, -1, 1) if is_image and not channels_last else out

        return computed

    return converted


def _normalization(library, op, otherwise):
    """Return a function that computes a normalization by a kernel, where the channels are last."""
    kernel, images, vectors = NORMALIZATIONS[type(op)]
    if op.axes != (*range(len(op.axes)),):
        return otherwise

    def computed(x, *others):
        if x.dtype.name not in DTYPES:
            return otherwise(x, *others)
        if isinstance(op, Moments):
            others = others[:1]  # without a number near the mean: it doesn't need one
        others = [v.astype(x.dtype if v.ndim == x.ndim else "float32") for v in others]
        results = [jax.ShapeDtypeStruct(x.shape, x.dtype)] * images
        results += [jax.ShapeDtypeStruct(x.shape[-1:], np.dtype("float32"))] * vectors
        name = target(kernel, x.dtype.name, library)
        compute = jax.ffi.ffi_call(name, results, vmap_method="sequential")
        out = compute(x, *others, epsilon=np.float32(op.epsilon))
        if isinstance(op, SiLUNormalizationGrad):
            out = op.select(out)
        return out if len(out) > 1 else out[0]

    computed.takes_bfloat16 = True
    return computed


# With the numbers of results that are images, and that have a value for each channel.
NORMALIZATIONS = {
    Moments: (MOMENTS, 0, 3),
    NormalizedSiLU: (NORMALIZE_SILU, 1, 0),
    SiLUNormalizationGrad: (NORMALIZE_SILU_GRAD, 1, 2),
}


def grad_filters(library, op, image, filters, cotangent):
    """Return the gradient of filters, channels last; None for groups of several channels."""
    if op.num_groups > 1 and not op.num_groups == image.shape[-1] == len(filters):
        return None
    shape = *filters.shape[2:], *filters.shape[1::-1]
    out = call(GRAD_FILTERS, library, shape, op, filters.shape[2:], image, cotangent)
    return (jnp.flip(out, (0, 1)) if op.filter_flip else out).transpose(3, 2, 0, 1)


def _to_hwio(op, filters):
    """Return filters with the axes (row, column, input, output), to multiply images with."""
    filters = filters.transpose(2, 3, 1, 0)
    return jnp.flip(filters, (0, 1)) if op.filter_flip else filters


def _is_left_to_xla(op, image, filters):
    """Return whether XLA is as fast, or must: in float32 with many channels, but not for 3 x 3."""
    unsupported = op.num_groups != 1 or op.filter_dilation[1] > 1
    if unsupported or image.dtype == "bfloat16":
        return unsupported
    *channels, height, width = filters.shape
    squares = (height, width, *op.filter_dilation, *op.subsample) == (3, 3, 1, 1, 1, 1)
    few = min(channels) < (16 if max(op.subsample) > 1 else 32) and max(height, width) > 1
    return not (few or squares)


def convolution(library, op, image, filters):
    """Return the convolution; None for groups, and where XLA is as fast."""
    if _is_left_to_xla(op, image, filters):
        return None
    _, _, size = op._run_time_shapes(channels_second(image.shape), filters.shape)
    shape = image.shape[0], *size, len(filters)
    return call(CONVOLUTION, library, shape, op, filters.shape[2:], image, _to_hwio(op, filters))


def grad_image(library, op, image, filters, cotangent):
    """Return the gradient of images; None with groups, dilation, or where XLA is as fast."""
    if max(op.filter_dilation) > 1 or op.num_groups > 1:
        return None
    if max(op.subsample) == 1 and _is_left_to_xla(op, image, filters):
        return None
    hwoi = _to_hwio(op, filters).swapaxes(2, 3)
    return call(GRAD_IMAGE, library, image.shape, op, filters.shape[2:], cotangent, hwoi)


CONVOLUTIONS = {Conv: convolution, ConvGradFilters: grad_filters, ConvGradInput: grad_image}


def call(kernel, library, shape, op, filter_shape, image, other):
    """Return what a kernel computes, of a shape: filters, or images like the one it reads."""
    pads = (low for low, _ in op.pads(filter_shape))
    window = np.array([*op.subsample, *op.filter_dilation, *pads], dtype="int64")
    dtype = "float32" if kernel == GRAD_FILTERS else image.dtype
    name, result = target(kernel, image.dtype.name, library), jax.ShapeDtypeStruct(shape, dtype)
    return jax.ffi.ffi_call(name, result, vmap_method="sequential")(image, other, window=window)
