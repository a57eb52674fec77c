"""Where JAX keeps compiled programs: a program that is started again needs not compile again."""

import hashlib
import os
import tempfile
import warnings
from pathlib import Path

import jax

from pytensor.link.jax.internals import forget_compilation_cache
from pytensor.link.jax.kernels.processor import processor

__all__ = ["default_folder", "use_cache"]

VARIABLE = "JAX_COMPILATION_CACHE_DIR"
OFF = "off"


def default_folder() -> Path:
    """Return the folder for this machine's programs in the user's cache folder.

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
        raise FileNotFoundError(None, "this user has no home folder; give a folder") from error
    kind = jax.default_backend()
    if kind == "cpu":
        kind += f"-{hashlib.sha256(repr(processor()).encode()).hexdigest()[:12]}"
    return root / "pytensor-jax" / kind


def use_cache(
    choice: str | os.PathLike[str] | None = None, with_names: bool = False
) -> Path | None:
    """Have JAX keep the programs that it compiles from here on, and look there first.

    JAX leaves out those that took less than a second to compile, unless its own settings say else.

    Parameters
    ----------
    choice : str or path, optional
        A folder, or "off".  If not given, ``$JAX_COMPILATION_CACHE_DIR`` says so, or else it is
        `default_folder`.  JAX itself takes no notice of any of them if its
        ``$JAX_ENABLE_COMPILATION_CACHE`` is false.
    with_names : bool
        Whether a program with other names of operations is another program, as a profile needs it
        (see `pytensor.link.jax.profiling.report`).  JAX takes no notice of names by default, nor of
        lines of code.

    Returns
    -------
    Path or None
        The folder in use.

    Warns
    -----
    RuntimeWarning
        If the folder can't be used: programs are compiled each time then.
    """
    folder = choice or os.environ.get(VARIABLE)
    try:
        if folder == OFF or not jax.config.jax_enable_compilation_cache:
            folder = None
        else:
            folder = Path(folder or default_folder())
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".write_test."):
                pass
    except OSError as error:
        warnings.warn(
            f"compiled programs are not kept: {folder or 'no folder'} can't be used "
            f"({error.strerror}); give another folder, or {OFF!r}",
            RuntimeWarning,
            stacklevel=2,
        )
        folder = None
    jax.config.update("jax_compilation_cache_dir", None if folder is None else str(folder))
    jax.config.update("jax_compilation_cache_include_metadata_in_key", with_names)
    forget_compilation_cache()
    return folder
