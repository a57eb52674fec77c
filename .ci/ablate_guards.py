"""Guard mechanisms in a process that runs programs, so that `.ci/ablate.py` can leave them out.

A mechanism is an entry of a registry: a rewrite of ours in PyTensor's databases, a pass of ONNX's
or a replacement of nodes before it, or a conversion that corrects one of PyTensor's. The registries
are asked; no names are listed here.
"""

import functools
import os
import re
import signal
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cache, partial, singledispatch, wraps
from importlib.util import find_spec
from inspect import unwrap
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
CORRECTIONS = {"fixes", "corrected"}  # packages and modules of corrected conversions
SECONDS = 900  # for one run of a program
KEPT_CALLS = 3  # of each function: rounding alone moves later results of a training apart
KNOWN, ENTERED, LEFT_OUT = set(), set(), set()


def find_module(thing):
    """Return the path below `pytensor/` of the module of a function or a class, if it is ours."""
    thing, package = unwrap(thing), ROOT / "pytensor"
    code = getattr(thing, "__code__", None)
    module = sys.modules.get(thing.__module__)
    path = Path((code.co_filename if code else getattr(module, "__file__", None)) or "")
    return path.relative_to(package).with_suffix("") if path.is_relative_to(package) else None


def guard(name, function, state=lambda *_: None):
    """Wrap a function that changes a graph, so that it can be left out and is seen to change it.

    It has changed the graph if what `state` returns of it is another one, or if it returns true.
    """
    KNOWN.add(name)

    @wraps(function)
    def guarded(*args, **kwargs):
        if name in LEFT_OUT:
            return None
        before = state(*args)
        result = function(*args, **kwargs)
        if state(*args) != before if before else result:
            ENTERED.add(name)
        return result

    return guarded


def read_state(fgraph, *_):
    """Return what a rewriter may change: nodes, their tags, outputs, and features' attributes."""
    nodes = {
        node: (tuple(node.inputs), {key: id(value) for key, value in vars(node.tag).items()})
        for node in fgraph.apply_nodes
    }
    return nodes, tuple(fgraph.outputs), {*vars(fgraph)}


def guard_method(name, rewriter):
    """Guard the method of a rewriter that changes a graph, and return the rewriter."""
    graphs = hasattr(rewriter, "apply")
    method = "apply" if graphs else "transform"
    if method not in vars(rewriter):
        of_graph = (read_state,) if graphs else ()
        setattr(rewriter, method, guard(name, getattr(rewriter, method), *of_graph))
    return rewriter


def guard_rewriter(name, rewriter):
    """Guard a rewriter if it is ours, or the rewriters of a database."""
    from pytensor.graph.rewriting.db import RewriteDatabase

    inner = getattr(rewriter, "node_rewriter", rewriter)
    is_ours = find_module(getattr(inner, "fn", type(inner))) is not None
    # A rewriter that is registered for several places has a number at the end.
    label = "rewrite " + re.sub(r"_\d+$", "", name)
    if not isinstance(rewriter, RewriteDatabase):
        if is_ours:
            guard_method(label, rewriter)
    elif not is_ours:
        for entry in sorted(rewriter._names):
            guard_rewriter(entry, rewriter[entry])
    elif "query" not in vars(rewriter):  # it imports the rewriter when a mode asks for it
        query = rewriter.query
        rewriter.query = lambda *tags, **others: guard_method(label, query(*tags, **others))
        KNOWN.add(label)


def guarded_singledispatch(function):
    """Return a `singledispatch` whose corrections of PyTensor's conversions can be left out.

    Without its correction, a class has what was registered before, else what its base class has.
    """
    table = singledispatch(function)
    register = table.register

    def find_other(cls, before, op):
        if before is not None:
            return before
        rest = singledispatch(table.registry[object])
        for other, conversion in table.registry.items():
            if other is not cls:
                rest.register(other, conversion)
        return rest.dispatch(type(op))

    def register_guarded(cls, conversion=None):
        if not isinstance(cls, type):
            return register(cls) if conversion is None else register(cls, conversion)
        if conversion is None:
            return partial(register_guarded, cls)
        module = find_module(conversion)
        if find_module(cls) or not (module and CORRECTIONS.intersection(module.parts)):
            return register(cls, conversion)
        name, before = f"{module.as_posix()} {cls.__name__}", table.registry.get(cls)
        KNOWN.add(name)

        @wraps(conversion)
        def guarded(op, *args, **kwargs):
            # A conversion of another class may call this one by its name.
            if isinstance(op, cls) and name in LEFT_OUT:
                return find_other(cls, before, op)(op, *args, **kwargs)
            if isinstance(op, cls):
                ENTERED.add(name)
            return conversion(op, *args, **kwargs)

        return register(cls, guarded)

    table.register = register_guarded
    return table


def guard_onnx():
    """Guard ONNX's passes, wherever they were imported, and its replacements of nodes."""
    from pytensor.link.onnx import passes, verify  # noqa: F401 (it imports the passes)
    from pytensor.link.onnx.lowering import lowering, rewriting  # noqa: F401

    guarded = {apply: guard(f"ONNX pass {apply.__name__}", apply) for apply in passes.PASSES}
    for name in ("PASSES", "NECESSARY"):
        tuples = getattr(passes, name)
        for module in list(sys.modules.values()):
            if vars(module).get(name) is tuples:
                setattr(module, name, tuple(guarded[apply] for apply in tuples))
    replace_nodes = rewriting.replace_nodes

    def replace_guarded(fgraph, replacement):
        name = getattr(replacement, "func", replacement).__name__
        replace_nodes(fgraph, guard(f"ONNX rewrite {name}", replacement))

    rewriting.replace_nodes = replace_guarded


def guard_everything():
    """Guard all mechanisms, in a process that hasn't imported PyTensor."""
    functools.singledispatch = guarded_singledispatch
    from pytensor.compile.mode import optdb
    from pytensor.graph.rewriting.db import RewriteDatabase

    guard_rewriter("", optdb)
    register = RewriteDatabase.register

    def register_guarded(self, name, rewriter, *tags, **settings):
        register(self, name, rewriter, *tags, **settings)
        guard_rewriter(name, rewriter)

    RewriteDatabase.register = register_guarded
    if find_spec("onnx"):
        guard_onnx()


@dataclass
class Outcome:
    """The results of a program, and seconds of its functions' first and fastest later calls."""

    entered: frozenset = frozenset()
    known: frozenset = frozenset()
    results: list = field(default_factory=list)
    error: str = ""
    compiled: int = 0
    first: float = 0.0
    later: float = 0.0


class Calls:
    """The calls of compiled functions and onnxruntime's sessions, except those within others."""

    def begin(self):
        """Forget the last program."""
        self.results, self.times, self.inside, self.compiled = [], {}, False, 0

    def count(self, event, *_, **__):
        """Count the programs that XLA compiles."""
        self.compiled += event == "/jax/core/compile/backend_compile_duration"

    def watch(self, owner, method):
        """Watch the calls of a method."""
        call = getattr(owner, method)

        @wraps(call)
        def watched(function, *args, **kwargs):
            if self.inside:
                return call(function, *args, **kwargs)
            self.inside, begun = True, time.perf_counter()
            try:
                found = call(function, *args, **kwargs)
                results = found if isinstance(found, list | tuple) else [found]
                # Copying waits for what JAX is computing.
                values = [np.array(v.toarray() if hasattr(v, "toarray") else v) for v in results]
            finally:
                self.inside = False
            _, times = self.times.setdefault(id(function), (function, []))
            times.append(time.perf_counter() - begun)
            if len(times) <= KEPT_CALLS:
                self.results += [v for v in values if v.dtype.kind != "O"]
            return found

        setattr(owner, method, watched)


CALLS = Calls()


def prepare():
    """Prepare a process for programs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the run, not its programs
    os.environ |= {"JAX_PLATFORMS": "cpu", "PYTENSOR_FLAGS": "cxx=,traceback__limit=0"}
    os.chdir(tempfile.mkdtemp(dir=os.environ["ABLATE_FOLDER"]))
    sys.path.insert(0, str(ROOT))
    guard_everything()
    import jax

    from pytensor.compile.executor import Function

    CALLS.watch(Function, "__call__")
    if find_spec("onnxruntime"):
        from onnxruntime import InferenceSession

        CALLS.watch(InferenceSession, "run")
    jax.monitoring.register_event_duration_secs_listener(CALLS.count)


@cache
def load(group):
    """Return the programs of a group by their names."""
    return group()


def list_programs(group):
    """Return the names of a group's programs."""
    return [*load(group)]


def stop(*_):
    """End a program that takes too long."""
    raise TimeoutError(f"it took more than {SECONDS} s")


def run(group, program, left_out):
    """Return the outcome of a program without some mechanisms."""
    import jax

    import pytensor

    jax.clear_caches()
    ENTERED.clear()
    LEFT_OUT.clear()
    LEFT_OUT.update(left_out)
    CALLS.begin()
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    error = ""
    with (
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        # A program may set it for good.
        pytensor.config.change_flags(floatX=pytensor.config.floatX),
    ):
        warnings.simplefilter("ignore")
        try:
            load(group)[program]()
        # Whatever a program raises is told, and the next one runs.
        except (Exception, SystemExit) as raised:
            error = f"{type(raised).__name__}: {str(raised).strip().partition('\n')[0][:150]}"
    signal.alarm(0)
    times = [times for _, times in CALLS.times.values()]
    first, later = sum(t[0] for t in times), sum(min(t[1:], default=0) for t in times)
    sets = frozenset(ENTERED), frozenset(KNOWN)
    return Outcome(*sets, CALLS.results, error, CALLS.compiled, first, later)
