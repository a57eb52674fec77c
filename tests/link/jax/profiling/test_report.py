"""Times of compiled functions by PyTensor's nodes."""

import gzip
import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.jax.profiling.attribution import Operation, describe, read_program
from pytensor.link.jax.profiling.report import UNKNOWN, Run, profile, read_profile, rows_of, runs_of
from tests.link.jax.profiling.test_node_names import small_step

CALLS = 4
SHAPE = (2, 3, 24, 16)


def training_step(mode):
    """Compile a step of a convolutional network of three layers."""
    inputs, loss, updates = small_step(SHAPE)
    return pytensor.function(inputs, loss, updates=updates, mode=mode, trust_input=True)


@pytest.fixture(scope="module")
def batch():
    images = np.random.default_rng(0).normal(size=SHAPE).astype("float32")
    return [images, np.float32(0.01)]


@pytest.fixture(scope="module")
def step():
    return training_step(jax_mode(donate=True))


@pytest.fixture(scope="module")
def profiled(step, batch, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    return SimpleNamespace(folder=folder, profile=profile(step, *batch, calls=CALLS, folder=folder))


@pytest.mark.slow
def test_every_layer_has_its_time(profiled):
    rows = {(row.kind, row.name): row for row in profiled.profile.rows}
    for key in [
        ("Conv", "stem.conv.weight"),
        ("Conv", "head.weight"),
        ("ConvGradFilters", "stem.conv.weight"),
        ("BatchNormalizationTrain", "stem.bn.weight"),
        ("BatchNormalizationTrainGrad", "stem.bn.weight"),
        ("PoolPullback", ""),
    ]:
        assert rows[key].ms > 0
    assert sum(row.share for row in rows.values()) == pytest.approx(1)
    assert sum(row.share for row in rows.values() if row.kind == UNKNOWN) < 0.5


def test_table(profiled):
    text = str(profiled.profile)
    assert f"mean of {CALLS} calls" in text
    assert "%     2  Conv\n" in text
    assert "ConvGradFilters[stem.conv.weight]" in text
    assert len(profiled.profile.table(1).splitlines()) < len(text.splitlines())
    kinds = profiled.profile.by_kind()
    assert sum(row.ms for row in kinds) == pytest.approx(sum(r.ms for r in profiled.profile.rows))


def test_the_trace_is_jaxs_own(profiled):
    [trace] = profiled.folder.glob("plugins/profile/*/*.trace.json.gz")
    with gzip.open(trace, "rt") as file:
        names = {event.get("name") for event in json.load(file)["traceEvents"]}
    assert not any(name.startswith("$") for name in names if name)  # Python's calls


def test_exactly_the_calls_asked_for_are_measured(step, batch, profiled):
    """A function that ran in a trace of its own is left out of another's."""
    again = read_profile(profiled.folder, [(step, [*map(describe, batch)])], CALLS)
    assert again == profiled.profile
    x = pt.vector("x", dtype="float32", shape=(7,))
    other = pytensor.function([x], pt.sort(x), mode=jax_mode())
    assert read_profile(profiled.folder, [(other, [np.zeros(7, "float32")])], 1).rows == []
    with pytest.raises(FileNotFoundError, match="holds no trace"):
        read_profile(profiled.folder / "none", [], 1)


@pytest.mark.slow
def test_generators_and_numbers():
    """What isn't an array decides about a program, too."""
    rng = pytensor.shared(np.random.default_rng(0), name="rng")
    w = pytensor.shared(np.ones((9, 40), "float32"), name="w")
    rate = pt.scalar("rate", dtype="float32")
    new_rng, noise = pt.random.normal(size=(9, 40), rng=rng, return_next_rng=True)
    updates = {w: w + rate * noise.astype("float32"), rng: new_rng}
    step = pytensor.function([rate], [], updates=updates, mode=jax_mode())
    rows = profile(step, 0.5, calls=1).rows
    assert "NormalRV" in {row.kind for row in rows}


@pytest.mark.slow
def test_without_names_no_node_has_time(batch):
    [row] = profile(training_step("JAX"), *batch, calls=1).rows
    assert (row.kind, row.share) == (UNKNOWN, 1.0)


def test_other_backends_are_refused(batch):
    with pytest.raises(TypeError, match="JAX didn't compile the function"):
        profile(training_step("FAST_COMPILE"), *batch)


def test_description_keeps_the_sharding():
    array = jax.device_put(np.zeros((2, 3), "float32"), jax.devices()[0])
    assert describe(array).sharding == array.sharding
    assert describe(describe(array)) == describe(array)


PROGRAM = """HloModule jit_f, is_scheduled=true

%body.1 (p.1: f32[4], p.2: f32[4]) -> f32[4] {
  %p.1 = f32[4]{0} parameter(0)
  %p.2 = f32[4]{0} parameter(1)
  %m.1 = f32[4]{0} multiply(%p.1, %p.2), metadata={op_name="jit(f)/Elemwise.Mul/mul"}
  %a.1 = f32[4]{0} add(%m.1, %p.2), metadata={op_name="jit(f)/Conv[w]/jit(g)/add"}
  ROOT %c.1 = f32[4]{0} copy(%a.1)
}

%single (q.1: f32[4]) -> (f32[4], f32[4]) {
  %q.1 = f32[4]{0} parameter(0)
  %n.1 = f32[4]{0} negate(%q.1), metadata={op_name="jit(f)/Pool/neg"}
  ROOT %t.1 = (f32[4]{0}, /*index=1*/f32[4]{0}) tuple(%n.1, %q.1)
}

ENTRY %main.9 (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0)
  %fusion.2 = f32[4]{0:T(256)} fusion(%x.1, %x.1), kind=kLoop, calls=%body.1, metadata={op_name="x"}
  %tuple_fusion = (f32[4]{0}, f32[4]{0}) fusion(%fusion.2), kind=kLoop, calls=%single
  %while.3 = (s32[], f32[4]{0}) while(%tuple_fusion), condition=%cond, body=%loop
  %copy.4 = f32[4]{0} copy(%fusion.2)
  %later = f32[4]{0} sine(%copy.4), metadata={op_name="jit(f)/sin;jit(f)/Conv[w]/sin" stack=1}
  ROOT %foreign = f32[4]{0} cosine(%later), metadata={op_name="jit(f)/Join/cos"}
}
"""


@pytest.fixture(scope="module")
def program():
    return read_program(PROGRAM, {"Conv[w]", "Elemwise.Mul", "Pool"})


def test_read_program(program):
    # The result's, found behind a copy, whatever else is in it.
    assert program["fusion.2"] == Operation("Conv[w]", True, False)
    assert program["tuple_fusion"] == Operation("Pool", False, False)
    assert program["while.3"] == Operation(None, False, True)
    assert program["copy.4"].scope is None
    assert program["later"].scope == "Conv[w]"
    assert program["foreign"].scope is None  # no node of the graph
    assert program["m.1"].scope == "Elemwise.Mul"


def test_rows(program):
    seconds = {"fusion.2": 2.0, "tuple_fusion": 1.0, "while.3": 9.0, "copy.4": 0.5, "later": 0.5}
    runs = [Run("a", name, value) for name, value in seconds.items()]
    runs += [Run("b", "unheard", 7.0), Run("b", "copy.4", 7.0), Run("b", "so", 7.0)]
    assert rows_of([program], runs, 2) == [
        ("Conv", "w", 1250.0, 0.625, 1000.0),
        ("Pool", "", 500.0, 0.25, 0.0),
        (UNKNOWN, "", 250.0, 0.125, 0.0),
    ]


def test_two_programs_with_the_same_operations():
    """What else ran tells them apart."""
    one = dict.fromkeys(("add.1", "mul.1", "sub.1"), Operation("Conv", False, False))
    two = dict.fromkeys(("add.1", "neg.1"), Operation("Pool", False, False))
    runs = [Run(1, "add.1", 1.0), Run(1, "mul.1", 1.0), Run(2, "add.1", 5.0), Run(2, "neg.1", 5.0)]
    assert {r.kind: r.ms for r in rows_of([one, two], runs, 1)} == {"Conv": 2e3, "Pool": 1e4}


def plane(name, **lines):
    """Return a plane of a trace; its events are (name, start, duration, statistics)."""
    events = {
        line: [
            SimpleNamespace(name=n, start_ns=start, duration_ns=duration, stats=stats.items())
            for n, start, duration, stats in given
        ]
        for line, given in lines.items()
    }
    return SimpleNamespace(
        name=name, lines=[SimpleNamespace(name=k, events=v) for k, v in events.items()]
    )


def test_what_other_threads_finish_lasts_till_its_end():
    conv, add = ({"hlo_op": name, "hlo_module": "m", "run_id": 7} for name in ("conv", "add"))
    found = runs_of(
        [
            plane(
                "/host:CPU",
                one=[("conv", 0, 5, conv), ("conv", 200, 5, conv | {"run_id": 8}),
                     ("call", 0, 900, {})],
                two=[("end: conv", 210, 1, {}), ("add", 20, 5, add), ("end: add", 24, 1, {}),
                     ("end: conv", 100, 1, {})],
            )
        ]
    )  # fmt: skip
    assert [(r.program, r.name) for r in found] == [
        (("m", 7), "conv"),
        (("m", 7), "add"),
        (("m", 8), "conv"),
    ]
    assert [r.seconds for r in found] == pytest.approx([100e-9, 5e-9, 10e-9])


def test_kernels_of_a_gpu_count_once():
    """The lines that the profiler derives from the streams show them again."""
    named = {"hlo_op": "loop_add_fusion.3", "hlo_module": "m"}
    lines = {
        "Stream #13(Compute)": [("loop_add_fusion_3", 0, 5, named),
                                ("input_reduce_fusion_2", 5, 5, {})],
        "XLA Ops": [("loop_add_fusion.3", 0, 5, named)],
    }  # fmt: skip
    found = runs_of([plane("/device:GPU:0", **lines), plane("/host:CPU", a=[("launch", 0, 9, {})])])
    assert [r.name for r in found] == ["loop_add_fusion.3", "input_reduce_fusion_2"]
    program = {
        "loop_add_fusion.3": Operation("Conv[w]", False, False),
        "input_reduce-fusion.2": Operation("Pool", False, False),
    }
    rows = rows_of([program], [r._replace(program=0) for r in found], 1)
    assert {row.kind for row in rows} == {"Conv", "Pool"}
