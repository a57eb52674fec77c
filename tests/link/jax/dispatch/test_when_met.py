"""Conversions to JAX are imported when their Ops are met, in plain mode JAX, too."""

from importlib import import_module
from pathlib import Path

import pytest

from pytensor.link.conversions import modules_for
from pytensor.link.jax.dispatch import table
from pytensor.link.jax.dispatch.table import OPS, jax_funcify
from pytensor.link.jax.fixes import FIXES, corrected_funcify
from tests.link.jax.process import in_a_process

OUR_FOLDER = Path(__file__).parents[4] / "pytensor/link/jax"
# The same, unless our modules are in PyTensor's tree.
LOADED = Path(table.__file__).parents[1]


def ours(conversions, folder):
    """Return which of our modules in a folder registers the conversion of each class of a table."""
    files = {kind: Path(f.__code__.co_filename) for kind, f in conversions.registry.items()}
    return {
        kind: file.stem
        for kind, file in files.items()
        if file.parent == LOADED / folder and (OUR_FOLDER / folder / file.name).exists()
    }


@pytest.mark.parametrize("folder", ["dispatch", "fixes"])
def test_every_conversion_is_found_by_the_name_of_its_op(folder):
    for path in (OUR_FOLDER / folder).glob("*.py"):
        import_module(f"pytensor.link.jax.{folder}.{path.stem}")
    found = ours(jax_funcify, folder)
    assert len(found) > 10
    # Their own modules define them.
    inside = {"LengthsTuple", "Spread"}
    for kind, module in found.items():
        wanted = modules_for(kind, OPS)
        assert kind.__name__ in inside or f"{folder}.{module}" in wanted, kind


def test_no_base_class_of_another_module_answers_first():
    """A table of classes takes a base's conversion where the derived class isn't known yet."""
    for module in OPS.values():
        import_module(f"pytensor.link.jax.{module}")
    found = ours(jax_funcify, "dispatch") | ours(jax_funcify, "fixes")
    for kind, module in found.items():
        for base in kind.__mro__[1:]:
            other = found.get(base, module)
            if other != module:
                file = import_module(f"pytensor.link.jax.dispatch.{other}")
                assert module in vars(file), f"{kind} is not known when {base} is"


def test_every_fix_is_found_by_the_name_of_its_op():
    corrected_funcify.load()
    found = ours(corrected_funcify, "fixes")
    assert len(found) > 50
    for kind, module in found.items() - {(object, "__init__")}:
        assert f"fixes.{module}" in modules_for(kind, FIXES), kind
    named = {module for module in FIXES.values() if module.startswith("fixes.")}
    assert named <= {f"fixes.{module}" for module in found.values()}


PROGRAMS = """
import sys
import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.dispatch import table
from pytensor.link.jax.dispatch.table import OPS

if sys.argv[1] == "all":
    for module in OPS.values():
        __import__(f"pytensor.link.jax.{module}")
x, k = pt.tensor4("x"), pt.tensor4("k")
y = pt.nn.interpolate(pt.nn.max_pool2d(pt.nn.silu(pt.nn.conv2d(x, k)), 2), scale_factor=2)
values, places = pt.nn.max_pool2d(y, 2, return_indices=True)
y = pt.nn.max_unpool2d(values, places, 2) + pt.nn.batch_norm(y, None, None, training=True)[0]
top = pt.nn.adaptive_avg_pool2d(y, 2).flatten(2)
f = pytensor.function([x, k], [top, *pt.grad(top.sum(), [x, k])], mode="JAX")
print(f.vm.jit_fn.lower(np.ones((2, 3, 10, 10)), np.ones((4, 3, 3, 3))).as_text())
"""


@pytest.mark.slow
def test_programs_are_those_with_all_conversions_imported():
    """Without its conversion, an Op with an inner graph has right numbers and another program."""
    texts = [in_a_process(PROGRAMS, which).stdout for which in ("all", "met")]
    assert "stablehlo.convolution" in texts[0]
    assert texts[0] == texts[1]
