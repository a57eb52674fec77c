"""The mode with choices: what it passes on, and what it leaves alone."""

import copy
import pickle
import sys

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.compile.mode import get_mode
from pytensor.graph.fg import FunctionGraph
from pytensor.link.jax import jax_mode
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.jax.mode import Options, TunedJAXLinker


def test_mode_jax_is_left_alone():
    jax_mode(donate=True)
    x = pt.vector("x")
    f = pytensor.function([x], x + 1, mode="JAX")
    assert type(get_mode("JAX").linker) is type(f.maker.linker) is JAXLinker
    assert f.vm.jit_fn.__name__ == "jax_funcified_fgraph"


def test_rewrites_are_those_of_mode_jax():
    x, v = pt.matrix("x"), pytensor.shared(np.ones(3))
    y = (pt.exp(pt.log(x)) / x.sum(0)) @ v
    graphs = [
        pytensor.function([x], y, mode=mode).maker.fgraph for mode in ("JAX", jax_mode(donate=True))
    ]
    names = [[str(node.op) for node in graph.toposort()] for graph in graphs]
    assert names[0] == names[1]


def test_a_missing_jax_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ModuleNotFoundError, match="jax_mode needs the package 'jax': pip install"):
        jax_mode()


def test_an_unknown_option_is_named():
    with pytest.raises(TypeError, match=r"jax_mode\(\) got an unexpected keyword.*'precison'"):
        jax_mode(precison="bf16")


def test_the_old_path_names_the_new_one():
    with pytest.raises(ImportError, match=r"from pytensor\.link\.jax import"):
        from pytensor.link.jax.tuned import jax_mode  # noqa: F401


@pytest.mark.parametrize("again", [copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copied_mode_has_the_same_choices(again):
    mode = jax_mode(donate=True, named_scopes=False)
    linker = again(mode).linker
    assert linker.options == Options(donate=True, named_scopes=False)
    assert repr(linker) == repr(mode.linker)
    assert "donate=True" in repr(mode.excluding("merge").linker)


def test_linker_of_another_graph_has_the_same_choices():
    x = pt.vector("x")
    first, second = (FunctionGraph([x], [y]) for y in (x + 1, x + 2))
    linker = TunedJAXLinker(Options(donate=True, named_scopes=False)).accept(first)
    other = linker.accept(second)
    assert (linker.fgraph, other.fgraph) == (first, second)
    assert other.options == linker.options


@pytest.mark.by_default("False-float32", "True-float32", "True-int8", "True-bool")
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
@pytest.mark.parametrize("donate", [False, True])
def test_a_constant_result_keeps_its_dtype(dtype, donate):
    """See thoughts/upstream/jax-scalar-constant-dtype.md; mode JAX returns float64 or int64."""
    x, total = pt.vector("x"), pytensor.shared(np.zeros(2), name="total")
    outputs = [pt.constant(np.array(1, dtype)), x + 1, pt.zeros_like(x[0], dtype=dtype)]
    f = pytensor.function([x], outputs, updates={total: total + x}, mode=jax_mode(donate=donate))
    first, second, third = f(np.ones(2))
    assert (first.dtype, second.dtype, third.dtype) == (dtype, "float64", dtype)
    assert (first, third) == (1, 0)
