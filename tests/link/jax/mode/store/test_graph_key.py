"""Names of graphs: equal for equal graphs, and for no others."""

import os
import sys

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import config
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import node_rewriter

pytest.importorskip("jax")


from pytensor.compile.builders import OpFromGraph
from pytensor.compile.io import In
from pytensor.link.jax import jax_mode
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.mode.store import graph_key
from tests.link.jax.mode.store.stored import MODE, compile_graph, make_step, programs
from tests.link.jax.process import in_a_process

pytestmark = pytest.mark.usefixtures("folder")


def key_of(step):
    return step.maker.fgraph.kept_program.key


@pytest.mark.by_default("change7")
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
    monkeypatch.setattr(graph_key, "code_state", lambda *package: "edited")
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


def graphs():
    """Yield pairs of graphs that differ in one thing."""
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
    steps = [
        pytensor.scan(lambda row, k=k: k * row.sum(), sequences=[x], return_updates=False)
        for k in (2, 3)
    ]
    yield "scan", ([x], steps[0]), ([x], steps[1])


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

    __module__ = "__main__"
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


plus.__module__ = "__main__"


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (lambda x: Foreign()(x), "is from __main__, which is not part of a package"),
        (
            lambda x: pt.exp(OpFromGraph([v := pt.matrix()], [Foreign()(v)])(x)),
            "Foreign is from __main__",
        ),
    ],
)
def test_what_is_in_no_package_has_no_key(graph, message):
    x = pt.dmatrix("x")
    fgraph = pytensor.graph.fg.FunctionGraph([x], [graph(x)])
    with pytest.raises(graph_key.NoKeyError, match=message):
        graph_key.graph_key(fgraph, MODE)


def test_a_value_that_refers_to_foreign_code_has_no_key():
    assert graph_key.pickled([np.dtype("int8"), pt.dmatrix, len])
    for value in (plus, [Foreign], Foreign()):
        with pytest.raises(graph_key.NoKeyError, match="is from __main__"):
            graph_key.pickled(value)


@pytest.mark.slow
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

    def of_a_user(fgraph, node):
        return None

    for function in (of_a_user, convert_foreign):
        monkeypatch.setattr(function, "__module__", "__main__")
    database = MODE.optdb["canonicalize"]
    found = type(database.__db__["canonicalize"])([node_rewriter(None)(of_a_user)])
    with monkeypatch.context() as patch:
        patch.setitem(database.__db__, "of_a_user", found)
        for rate in (1, 2):
            assert not hasattr(compile_graph([x], x + rate).maker.fgraph, "kept_program")
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "of_a_user is from __main__" in record.getMessage()
    assert "put it into one" in record.getMessage()
    conversions = dict(jax_funcify.registry) | {pt.basic.Eye: convert_foreign}
    monkeypatch.setattr(jax_funcify, "registry", conversions)
    assert not hasattr(compile_graph([x], x + 1).maker.fgraph, "kept_program")


PACKAGE = """
from pytensor.compile import optdb
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.rewriting.basic import node_rewriter

class OpOfAPackage(OpFromGraph):
    power = 1

@node_rewriter(None)
def of_a_package(fgraph, node):
    return None

optdb["canonicalize"].register("of_a_package", of_a_package, use_db_name_as_tag=False)
"""


START = """
import sys
import numpy as np
import pytensor_vision
from a_package.rewrites import OpOfAPackage
import jax
import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
for k in (1, 2):
    x = pt.dmatrix("x")
    op = OpOfAPackage([x], [pt.exp(k * x)])
    f = pytensor.function([x], op(x), mode=jax_mode(keep_programs=True))
    print(f.maker.deferred, float(f(np.ones((1, 1)))[0, 0]))
"""


@pytest.mark.long
def test_rewrites_of_another_package(tmp_path):
    file = tmp_path / "a_package" / "rewrites.py"
    file.parent.mkdir()
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    for code, found in (PACKAGE, "False"), (PACKAGE, "True"), (f"{PACKAGE}# edited", "False"):
        file.write_text(code)
        done = in_a_process(START, str(tmp_path / "cache"), PYTHONPATH=path)
        assert [line.split()[0] for line in done.stdout.splitlines()] == [found] * 2
        assert "not kept" not in done.stderr


def test_a_mode_with_rewrites_of_its_own_has_no_key():
    x = pt.dmatrix("x")
    fgraph = pytensor.graph.fg.FunctionGraph([x], [x + 1])
    mode = MODE.register((MODE.optimizer, 100))
    with pytest.raises(graph_key.NoKeyError, match="the mode has rewrites of its own"):
        graph_key.graph_key(fgraph, mode)
