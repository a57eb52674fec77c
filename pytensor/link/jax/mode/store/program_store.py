"""Compiled programs on disk, found before their graphs are rewritten, converted and traced.

JAX's persistent compilation cache saves XLA's work, which is most of it; then a second start of the
same training spends its time on rewrites and on tracing.  A function compiled with
``jax_mode(keep_programs=True)`` is looked up by its graph as the user built it (see
`pytensor.link.jax.mode.store.graph_key`), and by what its first arguments are like.  If its program
is found, nothing else is done.  The graph is rewritten and converted later if that turns out to be
needed: for arguments of other shapes, a copy of the function, or its HLO.

Programs are kept in the folder of JAX's cache, if it has one, and under its rule: those that took
longer to make than ``jax_persistent_cache_min_compile_time_secs``.  One that JAX finds in its own
cache is not, for XLA can't write a program that it has read; it will be found there again.  From a
folder that can't be written to, programs are read.  As with JAX's own, whoever can write to it can
run code here.
"""

import hashlib
import logging
import os
import pickle
import time
import warnings
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from uuid import uuid4

import jax
import jaxlib
from jax.errors import JaxRuntimeError

from pytensor.compile.maker import FunctionMaker
from pytensor.link.jax.internals import (
    all_settings,
    cache_hits,
    deserialize_program,
    make_lapack_known,
    meet,
    serialize_program,
    xla_version,
)
from pytensor.link.jax.kernels.processor import processor
from pytensor.link.jax.mode.store.deferred import KeptProgram
from pytensor.link.jax.mode.store.graph_key import NoKeyError, graph_key
from pytensor.link.jax.mode.wide_numbers import has_wide_numbers
from pytensor.link.jax.rewriting.host_checks import HostChecks
from pytensor.link.jax.rewriting.index_checks import find_index_checks
from pytensor.link.jax.rewriting.windows import needs_rewriting
from pytensor.link.jax.target import compiling_for
from pytensor.link.jax.xla_guard import compiled_guarded

__all__ = ["StoredFunction", "rewrite_or_defer"]

logger = logging.getLogger(__name__)
FOLDER = "pytensor"
# The oldest are deleted: every edit of a graph makes another program.
MAX_PROGRAMS = 64
DIGEST = hashlib.sha256().digest_size


def rewrite_or_defer(inputs, outputs, additional_outputs, fgraph, mode, profile):
    """Rewrite a graph, or put that off if there are programs of it on disk."""
    rewrite = partial(
        FunctionMaker.prepare_fgraph, inputs, outputs, additional_outputs, fgraph, mode, profile
    )
    # The platform holds in here, and maybe not when it is called.  A deferred graph is pickled.
    rewrite = partial(_rewrite_for, mode.linker.options.platform, rewrite)
    folder = store_folder()
    if folder is None:
        rewrite()
        return
    # In what can be written over, or need not be copied, PyTensor's graphs differ.
    flags = [(s.borrow, s.mutable, s.shared) for s in inputs], [s.borrow for s in outputs]
    try:
        key = graph_key(fgraph, mode, flags)
    except NoKeyError as error:
        log_once(
            f"A program is not kept on disk: {error}. It is compiled at every start; leave "
            "keep_programs=True out if that is all right"
        )
        rewrite()
        return
    wide = has_wide_numbers(fgraph)
    if has_programs(folder, key) and not needs_rewriting(fgraph):
        checks = find_index_checks(fgraph) if mode.linker.options.check_indices else []
        if checks:
            fgraph.attach_feature(HostChecks(fgraph.inputs, checks))
        fgraph.attach_feature(KeptProgram(key, rewrite, wide))
    else:
        rewrite()
        fgraph.attach_feature(KeptProgram(key, wide_numbers=wide))


def _rewrite_for(platform, rewrite):
    with compiling_for(platform):
        rewrite()


def store_folder():
    """Return where programs are kept, by the settings of JAX's cache; None if they aren't."""
    folder = jax.config.jax_compilation_cache_dir
    if not folder or not jax.config.jax_enable_compilation_cache or "://" in folder:
        return None
    return Path(folder) / FOLDER


def has_programs(folder, key):
    """Return whether there are programs of a graph; none if the folder can't be listed."""
    try:
        return any(folder.glob(f"{key[:32]}-*"))
    except OSError:  # which is told when the program is looked for
        return False


@cache
def log_once(message):
    """Log a warning, but not again in this process."""
    logger.warning(message)


@cache
def warn_once(message):
    """Warn, but not again in this process."""
    warnings.warn(message, stacklevel=3)


class StoredFunction:
    """A jitted function whose program may be on disk.

    The key names the graph, or is None where its program is not on disk; `facts` say how it was
    jitted.  If it was jitted with a guard, its program is spared that if it can be; see
    `pytensor.link.jax.xla_guard`.  `sizes` are those that it was made for, if lengths depend on
    them.  `together` says that several processes call it, each with devices of its own: they wait
    for each other before they call it first, for collectives of CPUs wait half a minute alone for
    a process that still compiles.
    """

    def __init__(self, jitted, key, *facts, guarded=False, sizes=None, together=False):
        self.jitted, self._key, self._facts = jitted, key, facts
        self._together = together
        self._sizes = sizes
        self._compile = compiled_guarded if guarded else jax.stages.Lowered.compile
        self._guarded = guarded
        self._call = self._signature = None

    def resolve(self, args):
        """Return what to call with arguments of this kind: a program, or the jitted function."""
        folder = None if self._key is None else store_folder()
        device = the_device(args)
        kept = folder is not None or self._guarded
        if self._together:
            program = self.jitted.trace(*args).lower().compile()
            self._signature = signature(args)
            meet()
            return program
        if not kept or device is None or jax.config.jax_disable_jit:
            return self.jitted
        self._signature = signature(args)
        if folder is None:
            return self._compile(self.jitted.trace(*args).lower())
        facts = repr((self._signature, self._facts, self._sizes, machine_facts(device)))
        # The rewritten graph tells which sizes there are, so its rewriting isn't put off for these.
        kind = self._key[:32] + ("" if self._sizes is None else "s")
        name = f"{kind}-{hashlib.sha256((self._key + facts).encode()).hexdigest()[:32]}"
        program = load(folder / name, device)
        if program is None:
            start = time.perf_counter()
            lowered, hits = self.jitted.trace(*args).lower(), len(cache_hits())
            program = self._compile(lowered)
            # XLA can't write what it has read: programs from JAX's cache would lack their code.
            read = len(cache_hits()) > hits
            if not read and time.perf_counter() - start >= minimum_time():
                save(folder / name, program)
        return program

    def fits(self, args):
        """Return whether arguments are like those for which the program was made."""
        return signature(args) == self._signature

    def __call__(self, *args):
        if self._call is None:
            self._call = self.resolve(args)
        try:
            return self._call(*args)
        except (TypeError, ValueError):
            # A program takes arguments of one kind; a jitted function makes another for others.
            if self._call is self.jitted or self.fits(args):
                raise
        self._call = self.jitted
        return self.jitted(*args)


def signature(args):
    """Return what arguments are like: what decides which program JAX makes, and where it runs.

    They are arrays, or generators, which are dicts of arrays.
    """
    values, structure = jax.tree.flatten(args)
    kinds = [
        (str(jax.typeof(value)), str(value.sharding) if is_committed(value) else None)
        for value in values
    ]
    return kinds, str(structure)


def is_committed(value):
    """Return whether JAX was told where an array must be."""
    return isinstance(value, jax.Array) and value.committed


def the_device(args):
    """Return the device on which JAX would run; None if there are several, or processes."""
    if jax.process_count() > 1:
        return None
    values = jax.tree.leaves(args)
    devices = {d for v in values if is_committed(v) for d in v.sharding.device_set}
    if not devices:
        default = jax.config.jax_default_device
        if isinstance(default, str):
            return None
        return default or jax.local_devices()[0]
    return devices.pop() if len(devices) == 1 else None


def minimum_time():
    """Return the seconds that a program must have taken to be kept; JAX's setting."""
    return jax.config.jax_persistent_cache_min_compile_time_secs


def machine_facts(device):
    """Return all that JAX's programs depend on beside what they compute."""
    settings = [
        (name, value)
        for name, value in all_settings()
        if "cache" not in name and not name.startswith("jax_log")
    ]
    flags = [os.environ.get(name) for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")]
    versions = jax.__version__, jaxlib.__version__, xla_version(device)
    place = device.device_kind, device.id, len(jax.devices())
    return [*versions, *place, processor(), flags, settings]


def load(path, device):
    """Load a program; None if there is none, or it can't be used, which is told."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        warnings.warn(f"{path}: {error.strerror}; the program is compiled anew", stacklevel=2)
        return None
    if hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
        warnings.warn(f"{path} is damaged; the program is compiled anew", stacklevel=2)
        return None
    if device.platform == "cpu":
        make_lapack_known()
    try:
        program = deserialize_program(pickle.loads(data[DIGEST:]), device)
    except JaxRuntimeError as error:
        warnings.warn(f"{path}: {error}; the program is compiled anew", stacklevel=2)
        return None
    with suppress(OSError):  # of a folder that is only read
        os.utime(path)  # the oldest are deleted
    return program


# What is raised for programs that call Python, and by platforms whose programs can't be written.
UNWRITABLE = (
    AttributeError, JaxRuntimeError, NotImplementedError, pickle.PicklingError, TypeError,
    ValueError,
)  # fmt: skip


def save(path, program):
    """Write a program, unless it can't be, or the disk is full, say."""
    try:
        data = pickle.dumps(serialize_program(program))
    except UNWRITABLE as error:
        logger.info("The program is not kept on disk: %s", error)
        return
    folder = path.parent
    # A name of its own: other threads, or processes on other machines, may be writing it too.
    part = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(hashlib.sha256(data).digest() + data)
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        warn_once(
            f"{folder} can't be written to ({error.strerror}); compiled programs are not kept there"
        )
        return
    with suppress(OSError):  # of another user's, or one that another process has just deleted
        by_age = sorted(folder.glob("*-*"), key=lambda path: path.stat().st_mtime)
        for old in by_age[:-MAX_PROGRAMS]:
            old.unlink(missing_ok=True)
