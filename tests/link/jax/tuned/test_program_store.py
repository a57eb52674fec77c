"""Programs on disk: found by equal graphs, and by no others."""

import errno
import logging
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import config
from pytensor.compile.mode import get_mode
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter

pytest.importorskip("jax")

import jax
from jax.experimental.compilation_cache.compilation_cache import reset_cache

from pytensor.compile.builders import OpFromGraph
from pytensor.compile.io import In
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_typify
from pytensor.link.jax.tuned import graph_key, jax_mode, program_store

MODE = jax_mode(donate=True, keep_programs=True)
SETTINGS = {
    "jax_compilation_cache_dir": None,
    "jax_enable_compilation_cache": True,
    "jax_persistent_cache_min_compile_time_secs": 0,
    "jax_enable_x64": None,
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Folder of JAX's cache, which keeps all programs; the settings are put back afterwards."""
    before = {name: getattr(jax.config, name) for name in SETTINGS}
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_enable_compilation_cache", True)
    program_store.say_once.cache_clear()
    program_store.warn_once.cache_clear()
    yield tmp_path / "pytensor"
    for name, value in before.items():
        jax.config.update(name, value)
    reset_cache()


def make_step(rate=0.5, mode=MODE, rows=3, start=1.0, **options):
    """(function, state): a loss, and an update of the weights; equal graphs for equal arguments."""
    x = pt.tensor("x", dtype="float64", shape=(rows, 4))
    w = pytensor.shared(np.full((4, 2), start), name="w", shape=(4, 2))
    loss = pt.tanh(x @ w).sum()
    updates = [(w, w - rate * pytensor.grad(loss, w))]
    return pytensor.function([x], loss, updates=updates, mode=mode, **options), w


def values(seed=0, rows=3):
    return np.random.default_rng(seed).normal(size=(rows, 4))


def run(step, w, times=3):
    """All that calls return and leave."""
    return [float(step(values(k))) for k in range(times)], w.get_value()


def assert_equal_runs(one, other):
    assert one[0] == other[0]
    np.testing.assert_array_equal(one[1], other[1])


def programs(folder):
    return sorted(p.name for p in folder.glob("*")) if folder.exists() else []


@pytest.fixture
def traced(monkeypatch):
    """List that grows whenever a graph is rewritten."""
    seen, prepare = [], program_store.FunctionMaker.prepare_fgraph

    def watched(*args):
        seen.append(args)
        return prepare(*args)

    monkeypatch.setattr(program_store.FunctionMaker, "prepare_fgraph", staticmethod(watched))
    return seen


# ------------------------------------------------------------------------------ found again


@pytest.mark.parametrize("donate", [True, False])
def test_a_second_start_does_nothing_but_run(folder, traced, donate):
    mode = jax_mode(donate=donate, keep_programs=True)
    first = run(*make_step(mode=mode))
    assert (len(traced), len(programs(folder))) == (1, 1)
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(event) if "backend_compile" in event else None
    )
    step, w = make_step(mode=mode)
    assert step.maker.deferred
    second = run(step, w)
    assert_equal_runs(first, second)
    assert len(set(first[0])) == 3
    assert (len(traced), len(programs(folder))) == (1, 1)
    if donate:
        w.set_value(jax.numpy.asarray(w.get_value()))
        old = w.get_value(borrow=True)
        step(values())
        assert not np.shares_memory(old, np.asarray(w.get_value(borrow=True)))


def test_the_state_of_a_found_program_is_donated():
    run(*make_step())
    step, w = make_step()
    step(values())
    (place,) = (k for k, c in enumerate(step.input_storage) if c.storage is w.container.storage)
    cell = step.input_storage[place].storage
    deleted = cell[0]
    held = [id(deleted), deleted.unsafe_buffer_pointer()]
    del deleted
    step(values())
    assert cell[0].unsafe_buffer_pointer() == held[1]


def test_without_a_folder_nothing_is_kept(folder, traced):
    jax.config.update("jax_compilation_cache_dir", None)
    one = run(*make_step())
    jax.config.update("jax_compilation_cache_dir", str(folder.parent))
    jax.config.update("jax_enable_compilation_cache", False)
    assert_equal_runs(one, run(*make_step()))
    assert programs(folder) == []
    jax.config.update("jax_enable_compilation_cache", True)
    assert_equal_runs(one, run(*make_step(mode=jax_mode(donate=True))))
    assert programs(folder) == []
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 60)
    assert_equal_runs(one, run(*make_step()))
    assert programs(folder) == []
    assert len(traced) == 4


def test_mode_jax_keeps_nothing(folder):
    run(*make_step(mode="JAX"))
    assert programs(folder) == []


SCRIPT = """
import numpy as np
import jax
import pytensor
import pytensor.tensor as pt
from pytensor.graph.fg import FunctionGraph
from pytensor.link.jax.tuned.graph_key import Describer, graph_key
from pytensor.link.jax.tuned import jax_mode
from pytensor.tensor.special import log_softmax
x = pt.tensor4("x", shape=(2, 3, 8, 8), dtype="float32")
k = pytensor.shared(np.ones((4, 3, 3, 3), dtype="float32"), name="k", shape=(4, 3, 3, 3))
y = pt.silu(pt.conv2d(x, k, border_mode="half"))
one, zero = np.ones(4, dtype="float32"), np.zeros(4, dtype="float32")
y = pt.max_pool2d(pt.batch_normalization_train(y, one, zero, "spatial")[0], 2)
loss = log_softmax(y, axis=1)[0, 1:3].sum() + pt.resize(y, scale=(2, 2)).max()
graph = FunctionGraph([x, k], [loss, pytensor.grad(loss, k)], clone=True)
print(graph_key(graph, jax_mode(donate=True)))
print(Describer()({"a", "b", "c", "d"}))
"""


@pytest.mark.slow
def test_a_graph_has_one_key_in_all_processes():
    """Python's hashes, by which sets are in order, differ from process to process."""
    keys = set()
    for seed in ("1", "2", "3"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTENSOR_FLAGS": "floatX=float32"},
            capture_output=True,
            text=True,
            check=True,
        )
        keys.add(done.stdout)
    (key,) = keys
    assert len(key.split()[0]) == 64


# ------------------------------------------------------------------------------ told apart


def key_of(step):
    return step.maker.fgraph.kept_program.key


@pytest.mark.parametrize(
    "change",
    [
        {"rate": 0.25},
        {"rate": np.float64(0.5) + 1e-16 * 2},
        {"rows": 2},
        {"mode": jax_mode(donate=False, keep_programs=True)},
        {"mode": jax_mode(donate=True, precision="bf16", keep_programs=True)},
        {"mode": jax_mode(donate=True, named_scopes=False, keep_programs=True)},
        {"mode": MODE.excluding("local_neg_to_mul")},
        {"mode": MODE.including("local_remove_all_assert")},
    ],
)
def test_what_makes_another_program_makes_another_key(change):
    assert key_of(make_step()[0]) == key_of(make_step(start=2.0)[0])  # a value is no part of it
    assert key_of(make_step()[0]) != key_of(make_step(**change)[0])


def test_settings_and_code_are_part_of_the_key(monkeypatch):
    key = key_of(make_step()[0])
    with config.change_flags(cast_policy="numpy+floatX"):
        assert key_of(make_step()[0]) != key
    monkeypatch.setattr(graph_key, "code_state", lambda: "edited")
    assert key_of(make_step()[0]) != key


def test_edited_code_has_another_state(tmp_path, monkeypatch):
    file = tmp_path / "sub" / "module.py"
    file.parent.mkdir()
    file.write_text("a = 1")
    monkeypatch.setattr(pytensor, "__path__", [str(tmp_path)])
    states = [graph_key.code_state.__wrapped__()]
    file.write_text("a = 2")
    states.append(graph_key.code_state.__wrapped__())
    file.rename(file.with_name("other.py"))
    states.append(graph_key.code_state.__wrapped__())
    os.utime(file.with_name("other.py"), ns=(0, 0))  # a clone's files are of another time
    assert graph_key.code_state.__wrapped__() == states[-1]
    assert len(set(states)) == 3


def compile_graph(inputs, outputs, **options):
    return pytensor.function(inputs, outputs, mode=MODE, **options)


def graphs():
    """Pairs of graphs that differ in one thing."""
    x, y = pt.matrix("x"), pt.matrix("y")
    v, u = pytensor.shared(np.zeros((2, 2)), name="v"), pytensor.shared(np.zeros((2, 2)), name="u")
    inner = pt.vector("inner")
    double, triple = (OpFromGraph([inner], [inner * k]) for k in (2, 3))
    array = np.arange(4.0)
    yield "inputs' order", ([x, y], x - y), ([y, x], x - y)
    yield "outputs' order", ([x, y], [x - y, x]), ([x, y], [x, x - y])
    yield "axis", ([x], x.sum(axis=0)), ([x], x.sum(axis=1))
    yield "index", ([x], x[0, 1:]), ([x], x[0, 2:])
    yield "negative zero", ([x], x * np.float64(0.0)), ([x], x * np.float64(-0.0))
    yield "constant", ([x], x + pt.constant(array)), ([x], x + pt.constant(array[::-1]))
    yield "shape", ([x], x + pt.constant(array)), ([x], x + pt.constant(array[None]))
    yield "dtype", ([x], x + np.float32(1)), ([x], x + np.float64(1))
    yield "cast", ([x], x.astype("int32")), ([x], x.astype("int64"))
    yield "inner graph", ([x], double(x[0])), ([x], triple(x[0]))
    yield "scalar Op", ([x], pt.sin(x)), ([x], pt.cos(x))
    yield "borrowed", ([In(x, borrow=True)], x), ([x], x)
    yield "name", ([x], x + v), ([x], x + pytensor.shared(np.zeros((2, 2)), name="w"))
    same = [pytensor.shared(np.zeros((2, 2)), name="same") for _ in range(2)]
    one, other = (([x], same[0] - same[1], [(v, x)]) for v in same)
    yield "target", one, other
    yield "updated", ([x], x, [(v, u), (u, u + 1)]), ([x], x, [(u, v), (v, u + 1)])
    pads = [pt.conv2d(x[None, None], y[None, None], border_mode=m) for m in ("valid", "half")]
    yield "padding", ([x, y], pads[0]), ([x, y], pads[1])


@pytest.mark.parametrize("pair", list(graphs()), ids=lambda pair: pair[0])
def test_graphs_are_told_apart(pair):
    one, other, again = (
        compile_graph(inputs, outputs, updates=updates[0] if updates else None)
        for inputs, outputs, *updates in (pair[1], pair[2], pair[1])
    )
    assert key_of(one) == key_of(again)
    assert key_of(one) != key_of(other)


class Foreign(Op):
    """An Op from outside of PyTensor."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + 1


@jax_funcify.register(Foreign)
def convert_foreign(op, **kwargs):
    return lambda x: x + 1


def plus(x):
    return x + 1


def loop():
    states = pytensor.scan(
        lambda h: h * 2, outputs_info=[pt.zeros(())], n_steps=3, return_updates=False
    )
    return states[-1]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (lambda x: Foreign()(x), "is from tests.link.jax.tuned.test_program_store, outside"),
        (
            lambda x: pt.exp(OpFromGraph([v := pt.matrix()], [Foreign()(v)])(x)),
            "Foreign is from tests.link.jax.tuned.test_program_store",
        ),
        (lambda x: x + loop(), "has an inner graph, and no properties"),
    ],
)
def test_what_is_not_pytensors_has_no_key(graph, message):
    x = pt.dmatrix("x")
    fgraph = pytensor.graph.fg.FunctionGraph([x], [graph(x)])
    with pytest.raises(graph_key.NoKeyError, match=message):
        graph_key.graph_key(fgraph, MODE)


def test_a_value_that_refers_to_foreign_code_has_no_key():
    assert graph_key.pickled([np.dtype("int8"), pt.dmatrix, len])
    for value in (plus, [Foreign], Foreign()):
        with pytest.raises(graph_key.NoKeyError, match=r"is from tests\.link\.jax"):
            graph_key.pickled(value)


def test_functions_without_a_key_are_compiled_as_ever(folder, caplog):
    x = pt.dmatrix("x")
    for _ in range(2):
        assert compile_graph([x], Foreign()(x))(np.ones((1, 1))) == 2
    assert programs(folder) == []
    assert caplog.text.count("not kept on disk: Foreign is from") == 1


def test_a_foreign_rewrite_or_conversion_leaves_no_key(monkeypatch, caplog):
    """Which is told once, for PyTensor's functions have it all from then on."""
    x = pt.dmatrix("x")
    assert key_of(compile_graph([x], x + 1))

    @node_rewriter(None)
    def of_a_user(fgraph, node):
        return None

    database = MODE.optdb["canonicalize"]
    found = type(database.__db__["canonicalize"])([of_a_user])
    with monkeypatch.context() as patch:
        patch.setitem(database.__db__, "of_a_user", found)
        for rate in (1, 2):
            assert not hasattr(compile_graph([x], x + rate).maker.fgraph, "kept_program")
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "of_a_user is from tests.link.jax.tuned.test_program_store" in record.getMessage()
    assert "install it as a package" in record.getMessage()
    conversions = dict(jax_funcify.registry) | {pt.basic.Eye: convert_foreign}
    monkeypatch.setattr(jax_funcify, "registry", conversions)
    assert not hasattr(compile_graph([x], x + 1).maker.fgraph, "kept_program")


PACKAGE = """
from pytensor.compile import optdb
from pytensor.graph.rewriting.basic import node_rewriter

@node_rewriter(None)
def of_a_package(fgraph, node):
    return None

optdb["canonicalize"].register("of_a_package", of_a_package, use_db_name_as_tag=False)
"""


def install(site, version="1.0", editable=False, code=PACKAGE):
    """Install a package that registers a rewrite; its modules' code is elsewhere if editable."""
    source = site.parent / "source" if editable else site
    (source / "a_package").mkdir(parents=True, exist_ok=True)
    (source / "a_package" / "rewrites.py").write_text(code)
    record = "a_package.pth,," if editable else "a_package/rewrites.py,,"
    (site / "a_package.dist-info").mkdir(parents=True, exist_ok=True)
    for name, text in {
        "METADATA": f"Metadata-Version: 2.1\nName: a-package\nVersion: {version}\n",
        "RECORD": f"{record}\na_package.dist-info/METADATA,,\na_package.dist-info/RECORD,,\n",
    }.items():
        (site / "a_package.dist-info" / name).write_text(text)
    return os.pathsep.join(map(str, {site: None, source: None}))


START = """
import sys
import numpy as np
import _pytensor_graft
import a_package.rewrites
import jax
import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.tuned import jax_mode
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
for k in (1, 2):
    x = pt.dmatrix("x")
    f = pytensor.function([x], pt.exp(k * x), mode=jax_mode(keep_programs=True))
    print(f.maker.deferred, float(f(np.ones((1, 1)))[0, 0]))
"""


def start(path, folder):
    """What a process tells that imports the package, and its lines: whether found, and values."""
    done = subprocess.run(
        [sys.executable, "-c", START, str(folder)], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([path, *filter(None, sys.path)])},
    )  # fmt: skip
    return done.stderr, [line.split()[0] for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_rewrites_of_an_installed_package(tmp_path):
    path = install(tmp_path / "site")
    for found in ("False", "True"):
        told, lines = start(path, tmp_path / "cache")
        assert lines == [found] * 2
        assert "not kept" not in told
    install(tmp_path / "site", version="1.1")
    assert start(path, tmp_path / "cache")[1] == ["False"] * 2


@pytest.mark.slow
def test_rewrites_of_an_editable_package(tmp_path):
    path = install(tmp_path / "site", editable=True)
    told, lines = start(path, tmp_path / "cache")
    assert lines == ["False"] * 2
    assert told.count("the rewrite of_a_package is from a_package.rewrites") == 1
    assert programs(tmp_path / "cache" / "pytensor") == []


def test_code_of_packages_is_named_by_their_version(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(graph_key, "package_code", graph_key.package_code.__wrapped__)
    install(tmp_path, code="a = 1")
    monkeypatch.setitem(sys.modules, "a_package.rewrites", import_module("a_package.rewrites"))
    named = graph_key.package_code("a_package.rewrites")
    assert "a-package 1.0" in named
    install(tmp_path, version="1.1", code="a = 1")
    assert "a-package 1.1" in graph_key.package_code("a_package.rewrites")
    install(tmp_path, code="a = 2")  # by hand, in the folder of the installed ones
    assert graph_key.package_code("a_package.rewrites") != named
    (tmp_path / "a_package.dist-info" / "RECORD").write_text("another.py,,\n")
    assert graph_key.package_code("a_package.rewrites") is None
    for module in ("__main__", "builtins", "a_package", "no_such_module", __name__):
        assert graph_key.package_code(module) is None
    assert "pytest" in graph_key.package_code("_pytest.config")  # of another name


def test_a_mode_with_rewrites_of_its_own_has_no_key():
    x = pt.dmatrix("x")
    fgraph = pytensor.graph.fg.FunctionGraph([x], [x + 1])
    mode = MODE.register((MODE.optimizer, 100))
    with pytest.raises(graph_key.NoKeyError, match="the mode has rewrites of its own"):
        graph_key.graph_key(fgraph, mode)


# ------------------------------------------------------------------------------ random numbers


def make_draws(mode):
    """(function, generator): draws, which a loss and an update of a state depend on."""
    rng = pytensor.shared(np.random.default_rng(3), name="rng")
    after, draws = pt.random.normal(size=(2, 3), rng=rng, return_next_rng=True)
    w = pytensor.shared(np.zeros(3), name="w")
    updates = [(rng, after), (w, w + draws.sum(0))]
    with pytest.warns(UserWarning, match="a copy will be used"):
        return pytensor.function([], [draws, w], updates=updates, mode=mode), rng, w


@pytest.mark.parametrize("donate", [True, False])
def test_a_shared_generator(donate, folder, traced):
    expected, rng, w = make_draws(jax_mode(donate=donate))
    calls, state = [expected() for _ in range(3)], w.get_value()
    assert len({float(draws[0, 0]) for draws, _ in calls}) == 3  # the generator has advanced
    before = rng.get_value().bit_generator.state
    traced.clear()
    empty_jax_cache(folder)
    for deferred in (False, True):
        f, rng, w = make_draws(jax_mode(donate=donate, keep_programs=True))
        assert f.maker.deferred == deferred
        for call in calls:
            for one, other in zip(f(), call, strict=True):
                np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(w.get_value(), state)
        # As in mode JAX, the function has a generator of its own.
        assert rng.get_value().bit_generator.state == before
        rng.set_value(np.random.default_rng(4))
        assert rng.get_value().random() == np.random.default_rng(4).random()
        assert f.maker.deferred == deferred
    assert (len(traced), len(programs(folder))) == (1, 1)


def test_functions_that_share_a_generator(folder):
    """Each draws from a copy of its own, whether its program was found or not."""
    for _ in range(2):
        rng = pytensor.shared(np.random.default_rng(3), name="rng")
        after, draws = pt.random.uniform(size=(2,), rng=rng, return_next_rng=True)
        with pytest.warns(UserWarning, match="a copy will be used"):
            one, other = (
                pytensor.function([], k * draws, updates=[(rng, after)], mode=MODE) for k in (1, 2)
            )
        first = one()
        np.testing.assert_array_equal(2 * first, other())
        assert not np.array_equal(first, one())
    assert len(programs(folder)) == 2


def test_a_found_program_of_draws_is_converted_when_it_is_asked_for():
    calls = [f() for f in [make_draws(MODE)[0]] for _ in range(3)]
    f, *_ = make_draws(MODE)
    assert f.maker.deferred
    arguments = [container.storage[0] for container in f.input_storage]
    assert "threefry" in f.vm.jit_fn.lower(*arguments).as_text()
    assert not f.maker.deferred
    for call in calls:
        for one, other in zip(f(), call, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("donate", [True, False])
def test_draws_of_arguments_of_other_shapes(donate):
    """A found program doesn't fit: the function is traced, and goes on with its generator."""
    results = []
    for _ in range(2):
        x = pt.matrix("x", dtype="float64")
        rng = pytensor.shared(np.random.default_rng(3), name="rng")
        after, draws = pt.random.normal(x, rng=rng, return_next_rng=True)
        mode = jax_mode(donate=donate, keep_programs=True)
        with pytest.warns(UserWarning, match="a copy will be used"):
            f = pytensor.function([x], draws, updates=[(rng, after)], mode=mode)
        results.append([f(np.zeros((rows, 2))) for rows in (3, 4, 4, 3)])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len({float(draws[0, 0]) for draws in results[0]}) == 4


def test_a_copy_of_a_found_function_that_draws():
    def two_calls(f):
        with pytest.warns(UserWarning, match="a copy will be used"):
            copy = f.copy()
        return [[float(draws[0, 0]) for draws, _ in (g(), g())] for g in (f, copy)]

    first = two_calls(make_draws(MODE)[0])
    f, *_ = make_draws(MODE)
    assert f.maker.deferred
    assert two_calls(f) == first


@pytest.mark.parametrize("donate", [True, False])
def test_a_generator_as_an_argument(donate, folder):
    """Mode JAX takes its own kind of generators, and those of trusting functions alone."""
    rng = pt.random.type.random_generator_type("rng")
    w = pytensor.shared(np.zeros(3), name="w")
    after, draws = pt.random.normal(size=(3,), rng=rng, return_next_rng=True)
    results = []
    for keep in (False, True, True):
        mode = jax_mode(donate=donate, keep_programs=keep)
        w.set_value(np.zeros(3))
        updates = [(w, w + draws)]
        f = pytensor.function([rng], [after, draws], updates=updates, mode=mode, trust_input=True)
        state, values = jax_typify(np.random.default_rng(3)), []
        for _ in range(3):
            state, drawn = f(state)
            values.append(drawn)
        np.testing.assert_allclose(w.get_value(), sum(values))
        results.append(values)
        assert len({float(drawn[0]) for drawn in values}) == 3
        if not keep:
            empty_jax_cache(folder)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    assert len(programs(folder)) == 1
    with pytest.raises(TypeError, match="Generator"):
        f(np.random.default_rng(3))


# ------------------------------------------------------------------------------ other arguments


@pytest.mark.parametrize("donate", [True, False])
def test_arguments_of_other_shapes(donate, traced):
    mode = jax_mode(donate=donate, keep_programs=True)
    x = pt.matrix("x", dtype="float64")
    results = []
    for _ in range(2):
        v = pytensor.shared(np.zeros(()), name="v")
        f = pytensor.function([x], x.sum(0) + v, updates=[(v, v + 1)], mode=mode)
        results.append([f(values(k, rows)) for k, rows in enumerate((3, 3, 5, 2, 3))])
        assert v.get_value() == 5
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(traced) == 2  # the second function's graph too, for the arguments of another shape


def test_first_arguments_of_another_shape(folder):
    x = pt.matrix("x", dtype="float64")
    for rows, count in ((3, 1), (5, 2), (3, 2), (5, 2)):
        np.testing.assert_array_equal(
            compile_graph([x], 2 * x)(values(0, rows)), 2 * values(0, rows)
        )
        assert len(programs(folder)) == count


@pytest.mark.parametrize("found", [False, True])
def test_errors_are_those_of_the_call(found):
    if found:
        run(*make_step(trust_input=True))
    step, w = make_step(trust_input=True)
    run(step, w)
    with pytest.raises(TypeError, match=r"incompatible shapes|dot_general"):
        step(np.ones((3, 5)))
    assert float(step(values())) == pytest.approx(float(np.tanh(values() @ w.get_value()).sum()), 9)
    np.testing.assert_array_equal(w.get_value().shape, (4, 2))


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable:UserWarning")
def test_updates_of_another_shape(folder):
    """An array that grows can't be written over the old one, as JAX warns."""
    results = []
    for _ in range(2):
        v = pytensor.shared(np.ones(2), name="v", shape=(None,))
        grow = pytensor.function([], v.sum(), updates=[(v, pt.concatenate([v, v]))], mode=MODE)
        results.append([float(grow()) for _ in range(3)])
        assert v.get_value().shape == (16,)
    assert results[0] == results[1] == [2.0, 4.0, 8.0]


def test_constants_of_a_graph_that_is_converted_while_it_is_traced():
    x = pt.matrix("x", dtype="float64")
    table = np.arange(6.0).reshape(3, 2)
    for _ in range(2):
        f = pytensor.function([x], x[:, None] @ pt.constant(table.T[None]), mode=MODE)
        for rows in (3, 5, 4):  # the last is traced with what was converted in the one before
            given = values(0, rows)[:, :2]
            np.testing.assert_allclose(f(given)[:, 0], given @ table.T)


# ------------------------------------------------------------------------------ made from others


def test_copies_of_a_deferred_function(folder):
    expected = run(*make_step())
    step, _ = make_step()
    other = pytensor.shared(np.full((4, 2), 1.0), name="w", shape=(4, 2))
    (w,) = step.get_shared()
    assert step.maker.deferred
    copy = step.copy(swap={w: other})
    assert (step.maker.deferred, copy.maker.deferred) == (False, False)
    assert_equal_runs(expected, run(copy, other))
    still = step.copy(delete_updates=True)
    before = w.get_value()
    assert float(still(values())) == expected[0][0]
    np.testing.assert_array_equal(w.get_value(), before)
    assert_equal_runs(expected, run(step, w))
    assert len(programs(folder)) == 1


def test_a_deferred_function_can_be_pickled():
    expected = run(*make_step())
    step, _ = make_step()
    again = pickle.loads(pickle.dumps(step))
    assert [float(again(values(k))) for k in range(3)] == expected[0]


def test_the_graph_of_a_deferred_function_is_rewritten_when_it_is_asked_for(traced):
    expected = run(*make_step())
    step, w = make_step()
    assert (step.maker.deferred, len(traced)) == (True, 1)
    graph = str(make_step(mode=jax_mode(donate=True))[0].maker.fgraph)
    assert str(step.maker.fgraph) == graph
    assert (step.maker.deferred, len(traced)) == (False, 3)
    assert_equal_runs(expected, run(step, w))


def test_a_length_is_no_part_of_a_program_on_disk(folder):
    x, n = pt.vector("x", dtype="float64"), pt.lscalar("n")
    for _ in range(2):
        f = compile_graph([x, n], pt.reshape(x, (n, -1)))
        assert [f(np.ones(12), k).shape for k in (3, 4)] == [(3, 4), (4, 3)]
    assert programs(folder) == []


def test_the_text_of_a_program_that_was_found():
    run(*make_step())
    step, w = make_step()
    run(step, w)
    shapes = [jax.ShapeDtypeStruct(v.type.shape, v.type.dtype) for v in step.maker.fgraph.inputs]
    assert "tanh" in step.vm.jit_fn.lower(*shapes).as_text()
    assert not step.maker.deferred


# ------------------------------------------------------------------------------ files


def test_a_damaged_program_is_compiled_anew(folder):
    expected = run(*make_step())
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for data in (whole[:-1], b"", whole[:100] + b"?" + whole[101:]):
        file.write_bytes(data)
        empty_jax_cache(folder)
        with pytest.warns(UserWarning, match="is damaged; the program is compiled anew"):
            assert_equal_runs(expected, run(*make_step()))
        assert len(file.read_bytes()) > 1000
    assert_equal_runs(expected, run(*make_step()))


def empty_jax_cache(folder):
    for file in folder.parent.glob("*-cache"):
        file.unlink()
    reset_cache()


def test_what_jax_has_read_is_not_written(folder):
    """XLA would write it without its code."""
    expected = run(*make_step())
    (file,) = folder.iterdir()
    file.unlink()
    assert_equal_runs(expected, run(*make_step()))
    assert programs(folder) == []
    empty_jax_cache(folder)
    assert_equal_runs(expected, run(*make_step()))
    assert programs(folder) == [file.name]
    assert_equal_runs(expected, run(*make_step()))


def test_a_program_that_xla_cannot_read(folder, monkeypatch):
    expected = run(*make_step())

    def fail(*args, **kwargs):
        raise jax.errors.JaxRuntimeError("made for another machine")

    monkeypatch.setattr(program_store, "deserialize_and_load", fail)
    with pytest.warns(UserWarning, match="made for another machine; the program is compiled anew"):
        assert_equal_runs(expected, run(*make_step()))


def test_a_folder_that_cannot_be_made(folder):
    folder.write_text("a file")
    with pytest.warns(UserWarning, match="compiled programs are not kept"):
        run(*make_step())
    run(*make_step(0.25))  # said once
    assert folder.read_text() == "a file"


@pytest.fixture
def make_read_only(folder, monkeypatch):
    """Makes the programs' folder read-only, for root too, whom permission bits don't stop."""

    def make(number):
        def refused(method):
            def call(path, *args, **kwargs):
                if folder in (Path(path), *Path(path).parents):
                    raise OSError(number, os.strerror(number))
                return method(path, *args, **kwargs)

            return call

        monkeypatch.setattr(os, "utime", refused(os.utime))
        for name in ("mkdir", "write_bytes", "replace", "unlink"):
            monkeypatch.setattr(Path, name, refused(getattr(Path, name)))

    return make


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_a_read_only_folder_is_read(number, folder, traced, caplog, make_read_only):
    caplog.set_level(logging.INFO, logger="pytensor.link.jax.tuned.program_store")
    expected = [run(*make_step(rate)) for rate in (0.5, 0.25)]
    kept, files = programs(folder), [path.read_bytes() for path in sorted(folder.iterdir())]
    make_read_only(number)
    for rate, one in zip((0.5, 0.25), expected, strict=True):
        step, w = make_step(rate)
        assert step.maker.deferred
        assert_equal_runs(one, run(step, w))
        assert step.maker.deferred
    assert len(traced) == 2
    (said,) = (record.getMessage() for record in caplog.records)
    assert str(folder) in said
    assert "only read" in said
    with pytest.warns(UserWarning, match=f"{folder} can't be written to"):
        run(*make_step(0.125))
    run(*make_step(0.0625))  # said once
    assert programs(folder) == kept
    assert [path.read_bytes() for path in sorted(folder.iterdir())] == files


def test_a_full_disk_leaves_no_part_of_a_program(folder, monkeypatch):
    write = Path.write_bytes

    def full(path, data):
        if path.parent != folder:
            return write(path, data)
        write(path, data[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.warns(UserWarning, match="No space left on device"):
        run(*make_step())
    assert programs(folder) == []
    monkeypatch.undo()
    empty_jax_cache(folder)
    run(*make_step())
    assert len(programs(folder)) == 1


def test_a_program_that_cannot_be_read_from_the_disk(folder):
    expected = run(*make_step())
    (file,) = folder.iterdir()
    file.unlink()
    file.mkdir()
    empty_jax_cache(folder)
    with (
        pytest.warns(UserWarning, match="can't be written to"),
        pytest.warns(UserWarning, match=f"{file.name}: Is a directory; the program is compiled"),
    ):
        assert_equal_runs(expected, run(*make_step()))
    assert programs(folder) == [file.name]


def test_a_folder_that_cannot_be_listed(folder, monkeypatch):
    expected, glob = run(*make_step()), Path.glob

    def refused(path, pattern):
        if path == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return glob(path, pattern)

    monkeypatch.setattr(Path, "glob", refused)
    step, w = make_step()
    assert not step.maker.deferred
    assert_equal_runs(expected, run(step, w))


def test_a_program_is_kept_where_old_ones_cannot_be_deleted(folder, monkeypatch, caplog):
    """In a folder of several users, say, or as another process has just deleted them."""
    caplog.set_level(logging.INFO, logger="pytensor.link.jax.tuned.program_store")
    monkeypatch.setattr(program_store, "MAX_PROGRAMS", 1)
    unlink = Path.unlink

    def refused(path, **options):
        if path.parent == folder and path.exists():
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", refused)
    for rate in (0.5, 0.25):
        run(*make_step(rate))
    assert len(programs(folder)) == 2
    assert "Operation not permitted" in caplog.text


def test_threads_that_write_one_program(folder, monkeypatch):
    """They have both written it when the first gives it its name."""
    barrier, replace = threading.Barrier(2, timeout=20), Path.replace

    def together(path, target):
        if path.parent == folder:
            barrier.wait()
        return replace(path, target)

    program = jax.jit(lambda x: x + 1).lower(np.ones(3)).compile()
    monkeypatch.setattr(Path, "replace", together)
    with ThreadPoolExecutor(2) as threads:
        done = [threads.submit(program_store.save, folder / "0-0", program) for _ in range(2)]
        for thread in done:
            thread.result()
    assert programs(folder) == ["0-0"]
    assert program_store.load(folder / "0-0", jax.devices()[0])(np.ones(3))[0] == 2


def test_programs_that_call_python_are_not_kept(folder, caplog):
    caplog.set_level(logging.INFO, logger="pytensor.link.jax.tuned.program_store")
    double = jax.jit(
        lambda x: jax.pure_callback(lambda v: 2 * v, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    )
    program_store.save(folder / "0-0", double.lower(np.ones(3)).compile())
    assert programs(folder) == []
    assert "The program is not kept on disk" in caplog.text


def test_platforms_that_cannot_write_programs(folder, caplog, monkeypatch):
    caplog.set_level(logging.INFO, logger="pytensor.link.jax.tuned.program_store")

    def fail(program):
        raise jax.errors.JaxRuntimeError("UNIMPLEMENTED: not on this platform")

    monkeypatch.setattr(program_store, "serialize", fail)
    run(*make_step())
    assert programs(folder) == []
    assert "not kept on disk: UNIMPLEMENTED" in caplog.text


def test_old_programs_are_deleted(folder, monkeypatch):
    monkeypatch.setattr(program_store, "MAX_PROGRAMS", 2)
    kept = []
    for k, rate in enumerate((0.1, 0.2, 0.3)):
        run(*make_step(rate))
        (new,) = set(programs(folder)) - set(kept)
        kept = [*kept, new][-2:]
        os.utime(folder / new, (1000 + k, 1000 + k))
        assert set(programs(folder)) == set(kept)
    run(*make_step(0.2))  # used last now
    run(*make_step(0.4))
    assert kept[0] in programs(folder)
    assert kept[1] not in programs(folder)


def test_arguments_on_several_devices_or_processes(monkeypatch):
    assert program_store.the_device([np.ones(2)]) is jax.local_devices()[0]
    device = jax.devices()[0]
    assert program_store.the_device([jax.device_put(np.ones(2), device)]) is device

    class Spread:
        committed = True
        sharding = type("Sharding", (), {"device_set": {0, 1}})()

    monkeypatch.setattr(program_store, "is_committed", lambda value: True)
    assert program_store.the_device([Spread()]) is None
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    assert program_store.the_device([]) is None


def test_where_arrays_are_is_part_of_the_signature():
    array = np.ones(2)
    kinds = [array, array[:1], array.astype("f4"), jax.device_put(array, jax.devices()[0])]
    assert len({str(program_store.signature([value])) for value in kinds}) == 4
    # where JAX was not told, it makes the same program
    assert program_store.signature([array]) == program_store.signature([jax.device_put(array)])


def test_precision_in_a_context_makes_another_program(folder):
    run(*make_step())
    with jax.default_matmul_precision("highest"):
        run(*make_step())
    assert len(programs(folder)) == 2
    names = {name.split("-")[0] for name in programs(folder)}
    assert len(names) == 1  # of the same graph


def test_modes_linker_tells_its_choice():
    assert "keep_programs=True" in repr(MODE.linker)
    assert not get_mode(jax_mode()).linker.keep_programs
