"""Compiled programs on disk: a training that is started again needs not compile again."""

import hashlib
import os
import platform
import tempfile
from pathlib import Path

import jax
from jax.experimental.compilation_cache.compilation_cache import reset_cache

VARIABLE = "JAX_COMPILATION_CACHE_DIR"
OFF = "off"


def default_folder():
    """The folder for this machine's programs in the user's cache folder.

    Programs of CPUs are code for one kind of processor, and homes are shared by machines: each
    kind has a folder.  On other devices JAX tells the kinds apart.

    Raises
    ------
    OSError
        If the user has no home.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        root = Path(base) if base else Path.home() / ".cache"
    except RuntimeError as error:
        raise FileNotFoundError(None, "there is no home folder") from error
    platform_name = jax.default_backend()
    kind = f"cpu-{processor()}" if platform_name == "cpu" else platform_name
    return root / "pytensor-yolo11n" / kind


def processor(cpuinfo=Path("/proc/cpuinfo")):
    """Twelve hexadecimal digits that stand for what this kind of processor is and can do.

    Parameters
    ----------
    cpuinfo : Path
        Linux's description; elsewhere the system's short one must do.
    """
    facts = [platform.system(), platform.machine(), platform.processor()]
    if cpuinfo.exists():
        # of the first of them: they are alike
        first = cpuinfo.read_text().split("\n\n")[0]
        wanted = ("vendor_id", "cpu family", "model", "model name", "flags", "Features", "CPU part")
        facts += [line for line in first.splitlines() if line.split(":")[0].strip() in wanted]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


def use_cache(choice=None, with_names=False, say=print):
    """Have JAX keep the programs that it compiles from here on, and look there first.

    JAX leaves out those that took less than a second to compile, unless its own settings say else.

    Parameters
    ----------
    choice : str or path, optional
        A folder, or "off".  If not given, ``$JAX_COMPILATION_CACHE_DIR`` says so, or else it is
        `default_folder`.  JAX itself takes no notice of any of them if its
        ``$JAX_ENABLE_COMPILATION_CACHE`` is false.
    with_names : bool
        Whether a program with other names of operations is another program, as a profile needs it.
        They cost no time, so that JAX takes no notice of them by default, nor of lines of code.
    say : callable of str
        Told if the folder can't be used: programs are compiled each time then.

    Returns
    -------
    Path or None
        The folder in use.
    """
    folder = choice or os.environ.get(VARIABLE)
    try:
        if folder == OFF or not jax.config.jax_enable_compilation_cache:
            folder = None
        else:
            folder = Path(folder or default_folder())
            check_folder(folder)
    except OSError as error:
        say(
            f"warning: compiled programs are not kept: {folder or 'no folder'} can't be used "
            f"({error.strerror}); give another --compilation-cache, or {OFF}"
        )
        folder = None
    jax.config.update("jax_compilation_cache_dir", None if folder is None else str(folder))
    jax.config.update("jax_compilation_cache_include_metadata_in_key", with_names)
    reset_cache()  # JAX looks at its settings once
    return folder


def check_folder(folder):
    """Make a folder, and see that it can be written to; an OSError if not."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".write_test."):
        pass
