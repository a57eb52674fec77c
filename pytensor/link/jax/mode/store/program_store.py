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

import time

import jax

from pytensor.link.jax.xla_guard import compiled_guarded

__all__ = ["StoredFunction"]


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
        if self._together:
            return self._when_all_have_it(args)
        folder, device = self._folder(), the_device(args)
        kept = folder is not None or self._guarded
        if not kept or device is None or jax.config.jax_disable_jit:
            return self.jitted
        self._signature = signature(args)
        if folder is None:
            return self._compile(self.jitted.trace(*args).lower())
        return self._kept_in(folder, args, device)

    def _when_all_have_it(self, args):
        from pytensor.link.jax.internals import meet

        program = self.jitted.trace(*args).lower().compile()
        self._signature = signature(args)
        meet()
        return program

    def _folder(self):
        if self._key is None:
            return None
        from pytensor.link.jax.mode.store.disk import store_folder

        return store_folder()

    def _kept_in(self, folder, args, device):
        """Return a program that is on disk, or compile it and keep it there."""
        from pytensor.link.jax.internals import cache_hits
        from pytensor.link.jax.mode.store import disk

        facts = repr((self._signature, self._facts, self._sizes, disk.machine_facts(device)))
        # The rewritten graph tells which sizes there are, so its rewriting isn't put off for these.
        path = folder / disk.file_name(self._key, facts, sized=self._sizes is not None)
        program = disk.load(path, device)
        if program is None:
            start = time.perf_counter()
            lowered, hits = self.jitted.trace(*args).lower(), len(cache_hits())
            program = self._compile(lowered)
            # XLA can't write what it has read: programs from JAX's cache would lack their code.
            read = len(cache_hits()) > hits
            if not read and time.perf_counter() - start >= disk.minimum_time():
                disk.save(path, program)
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
