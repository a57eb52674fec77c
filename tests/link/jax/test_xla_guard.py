"""The guard against wrong products of XLA's on CPUs: where it is, and that it works."""

import os
import re

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from pytensor.link.jax import jax_mode, xla_guard
from tests.link.jax.process import in_a_process

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA is wrong on CPUs only"),
]
KINDS = {"float32": 1e-5, "float64": 1e-12}  # tolerances
CHOICES = [
    {}, {"donate": True}, {"cpu_kernels": True}, {"named_scopes": False}, {"keep_programs": True},
    {"donate": True, "keep_programs": True},
]  # fmt: skip


def product_with_sum(dtype, shape=(5, 60, 60)):
    """Return a graph that XLA gets wrong, and its arguments."""
    e, c = pt.tensor("e", shape=shape, dtype=dtype), pt.scalar("c", dtype=dtype)
    value = np.random.default_rng(60).normal(size=shape).astype(dtype)
    return [e, c], ((e @ pt.full_like(e, c)) * e).sum(-1), [value, np.dtype(dtype).type(1.3)]


def expected_of(value, c):
    value = value.astype("longdouble")
    return value.sum(-1) ** 2 * c


def reductions(f, values):
    """Count a function's fusions of YNNPACK's with a reduction."""
    text = f.vm.jit_fn.lower(*values).compile().as_text()
    fusions = re.findall(r'calls=%?([\w.]+).*"__ynn_fusion"', text)
    bodies = [re.search(rf"^%{re.escape(name)} .*?^}}", text, re.M | re.S)[0] for name in fusions]
    return sum(" reduce(" in body for body in bodies)


def error_of(result, arguments):
    expected = expected_of(*arguments)
    return np.abs(np.asarray(result) - expected).max() / np.abs(expected).max()


@pytest.mark.by_default("{'donate': True}-float32")
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_jax_mode_is_right(choices, dtype):
    inputs, out, arguments = product_with_sum(dtype)
    total = pytensor.shared(np.zeros(out.type.shape, dtype), name="total")
    f = pytensor.function(inputs, out, updates={total: total + out}, mode=jax_mode(**choices))
    for calls in (1, 2):
        assert error_of(f(*arguments), arguments) < KINDS[dtype]
        assert error_of(total.get_value() / calls, arguments) < KINDS[dtype]


def test_unguarded_and_plain_mode_are_left_alone():
    inputs, out, arguments = product_with_sum("float32")
    for mode in ("JAX", jax_mode(guard=False)):
        f = pytensor.function(inputs, out, mode=mode)
        assert reductions(f, arguments) == 1
    assert reductions(pytensor.function(inputs, out, mode=jax_mode()), arguments) == 0


def test_a_length_that_is_part_of_the_program():
    inputs, out, arguments = product_with_sum("float32")
    rows = pt.scalar("rows", dtype="int64")
    f = pytensor.function([*inputs, rows], out.reshape((rows, -1)), mode=jax_mode())
    assert f.maker.linker.host_sizes
    for length in (10, 20):
        result = f(*arguments, length)
        assert result.shape == (length, 300 // length)
        assert error_of(np.reshape(result, out.type.shape), arguments) < 1e-5


def test_the_guard_belongs_to_a_programs_name(folder):
    """A kept program without the guard isn't taken for a guarded function, and is told apart."""
    inputs, out, arguments = product_with_sum("float32")
    for guard in (False, True, True):
        mode = jax_mode(keep_programs=True, guard=guard)
        result = pytensor.function(inputs, out, mode=mode)(*arguments)
        assert (error_of(result, arguments) < 1e-5) == guard
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize(
    ("backend", "default", "guarded"),
    [
        ("cpu", None, True), ("gpu", None, False), ("gpu", "cpu", True), ("cpu", "gpu", False),
        ("gpu", jax.devices("cpu")[0], True),
    ],
)  # fmt: skip
def test_only_functions_on_cpus_are_guarded(backend, default, guarded, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    with jax.default_device(default):
        assert (xla_guard.guard_options() is not None) == guarded


@pytest.mark.by_default("FUSIONS-SOME")
@pytest.mark.parametrize(("name", "value"), [("FLAG", "xla_no_such_flag"), ("FUSIONS", "SOME")])
def test_unknown_flag_is_not_passed(name, value, monkeypatch, caplog):
    xla_guard._is_known.cache_clear()
    monkeypatch.setattr(xla_guard, "LAST_TRIED", xla_guard.FIRST_WRONG)
    monkeypatch.setattr(xla_guard, name, value)
    inputs, out, arguments = product_with_sum("float32")
    f = pytensor.function(inputs, out, mode=jax_mode())
    xla_guard._is_known.cache_clear()
    assert reductions(f, arguments) == 1
    assert "can't be guarded" in caplog.text


def test_versions_that_were_tried_know_the_flag(monkeypatch):
    """They aren't asked; here they are."""
    monkeypatch.setattr(xla_guard, "LAST_TRIED", xla_guard.FIRST_WRONG)
    assert xla_guard._is_known.__wrapped__()


def test_plain_jax_is_still_wrong():
    """When this fails, XLA is right, and the guard can go: its option, its page, its texts."""
    x = np.ones((64, 2), "float32")
    sums = jax.jit(lambda x: (x @ jnp.ones((2, 64), x.dtype)).sum(-1))(x)
    assert not np.allclose(sums, 128)
    inputs, out, arguments = product_with_sum("float32")
    assert not error_of(pytensor.function(inputs, out, mode="JAX")(*arguments), arguments) < 1e-5


PROGRAM = """
import os
import sys
import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import guard_xla

assert "jax" not in sys.modules
{first}
guard_xla()
{then}
e = pt.tensor("e", shape=(5, 60, 60), dtype="float64")
f = pytensor.function([e], (e @ pt.ones_like(e)).sum(-1), mode="JAX")
assert np.allclose(f(np.ones((5, 60, 60))), 3600)
guard_xla()  # another time does nothing
"""


LOADED = "import jax, pytensor.link.jax.dispatch, pytensor.link.jax.mode"


TWO_DEVICES = "--xla_force_host_platform_device_count=2"
OTHER_FUSIONS = "--xla_cpu_experimental_ynn_fusion_type="
STARTS = {
    "first": ("", "", None),
    "after JAX was loaded": (LOADED, "", None),
    "the user's flags stay": (
        "", f"import jax; assert jax.device_count() == 2 and {TWO_DEVICES!r} in flags", TWO_DEVICES
    ),
    "the user's own choice": ("", f"assert flags == {OTHER_FUSIONS!r}", OTHER_FUSIONS),
    "too late": ("import jax; jax.devices()", "", None),
}


@pytest.mark.by_default("first", "the user's flags stay", "the user's own choice", "too late")
@pytest.mark.parametrize("how", STARTS)
def test_guard_xla(how):
    first, then, flags = STARTS[how]
    then = f"import os; flags = os.environ['XLA_FLAGS']; {then}"
    late = how == "too late"
    options = {"XLA_FLAGS": flags, "PYTHONWARNINGS": "error", "check": not late}
    process = in_a_process(PROGRAM.format(first=first, then=then), **options)
    assert ("RuntimeError: guard_xla: JAX has already started" in process.stderr) == late


def test_versions_without_the_fault_get_no_flag(monkeypatch):
    monkeypatch.setattr("jaxlib.version.__version_info__", (0, 10, 1))
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    xla_guard.guard_xla()
    assert "XLA_FLAGS" not in os.environ


SHARDED = """
import jax
import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.parallel.devices import Devices
from pytensor.link.jax import jax_mode

e = pt.tensor("e", shape=(10, 60, 60), dtype="float32")
total = pytensor.shared(np.float32(0))
out = (e @ pt.ones_like(e)).sum(-1)
step = pytensor.function(
    [e], out, updates={total: total + out.sum()}, mode=jax_mode(donate=True), trust_input=True
)
devices = Devices()
devices.replicate([total])
result = step(*devices.shard([np.ones((10, 60, 60), "float32")]))
assert len(result.sharding.device_set) == 2
np.testing.assert_allclose(result, 3600)
np.testing.assert_allclose(total.get_value(), 3600 * 600)
"""


def test_sharded_rows():
    in_a_process(SHARDED, XLA_FLAGS=TWO_DEVICES, PYTHONWARNINGS="error")


def repeated_filters(x, c):
    filters = jnp.broadcast_to(c, (3, 3, 23, 5))
    y = jax.lax.conv_general_dilated(
        x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return (y * y).sum(2)


PROGRAMS = {
    "sum": (lambda x, c: (x * c).sum(-1), (20, 64, 200), False),
    "product": (lambda x, c: x @ jnp.full_like(x, c), (2, 64, 64), False),
    "product, sum": (lambda x, c: (x @ jnp.full_like(x, c)).sum(-1), (2, 64, 64), True),
    "product, max": (lambda x, c: (x @ jnp.full_like(x, c)).max(-1), (2, 64, 64), True),
    "convolution, sum": (repeated_filters, (8, 16, 17, 23), True),
}


@pytest.mark.by_default("product, sum")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_spared_the_guard_if_it_is_right_without(name):
    function, shape, wrong = PROGRAMS[name]
    arguments = np.linspace(0, 1, np.prod(shape), dtype="float32").reshape(shape), np.float32(2)
    lowered = jax.jit(function, compiler_options=xla_guard.guard_options()).lower(*arguments)
    program, guarded = xla_guard.compiled_guarded(lowered), lowered.compile()
    plain = jax.jit(function).lower(*arguments).compile().as_text()
    assert xla_guard.has_wrong_fusions(plain) == wrong
    assert not xla_guard.has_wrong_fusions(program.as_text())
    if name == "sum":
        assert "__ynn_fusion" in program.as_text()
        assert "__ynn_fusion" not in guarded.as_text()
    np.testing.assert_allclose(program(*arguments), guarded(*arguments), rtol=1e-5)
    np.testing.assert_allclose(program(*arguments), function(*arguments), rtol=1e-5)


@pytest.mark.parametrize("donate", [False, True])
def test_programs_that_are_kept_are_spared_it(donate):
    x, total = pt.tensor("x", shape=(20, 64, 200)), pytensor.shared(np.zeros((20, 64)))
    mode = jax_mode(donate=donate, keep_programs=True)
    f = pytensor.function([x], [], updates={total: total + x.sum(-1)}, mode=mode)
    f(np.ones((20, 64, 200)))
    program = f.vm._call if donate else f.vm.jit_fn._call
    assert "__ynn_fusion" in program.as_text()
    np.testing.assert_array_equal(total.get_value(), 200)
