"""Files of compiled programs: where they are kept, and how they are read and written."""

import hashlib
import logging
import os
import pickle
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

import jax
import jaxlib
from jax.errors import JaxRuntimeError

from pytensor.link.jax.internals import (
    all_settings,
    deserialize_program,
    make_lapack_known,
    serialize_program,
    xla_version,
)
from pytensor.link.jax.kernels.processor import processor

__all__ = [
    "file_name", "has_programs", "load", "machine_facts", "minimum_time", "save", "store_folder",
]  # fmt: skip

logger = logging.getLogger(__name__)
FOLDER = "pytensor"
# The oldest are deleted: every edit of a graph makes another program.
MAX_PROGRAMS = 64
DIGEST = hashlib.sha256().digest_size


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
def warn_once(message):
    """Warn, but not again in this process."""
    warnings.warn(message, stacklevel=3)


def file_name(key, facts, *, sized):
    """Return the name of the file of a program of a graph with a key, for these facts."""
    kind = f"{key[:32]}s" if sized else key[:32]
    return f"{kind}-{hashlib.sha256((key + facts).encode()).hexdigest()[:32]}"


def minimum_time():
    """Return the seconds that a program must have taken to be kept; JAX's setting."""
    return jax.config.jax_persistent_cache_min_compile_time_secs


def machine_facts(device):
    """Return all that JAX's programs depend on besides what they compute."""
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
        warnings.warn(f"{path}: {error.strerror}; the program is recompiled", stacklevel=2)
        return None
    if hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
        warnings.warn(f"{path} is damaged; the program is recompiled", stacklevel=2)
        return None
    if device.platform == "cpu":
        make_lapack_known()
    try:
        program = deserialize_program(pickle.loads(data[DIGEST:]), device)
    except JaxRuntimeError as error:
        warnings.warn(f"{path}: {error}; the program is recompiled", stacklevel=2)
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
