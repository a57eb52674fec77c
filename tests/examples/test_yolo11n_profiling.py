"""Time of a training step by PyTensor's operations."""

import csv
import gzip
import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import train_yolo11n
from training.profiling import WARM_UP, Profiler

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.profiling import (
    UNKNOWN,
    Event,
    device_events,
    part_of,
    profile_table,
    read_events,
    rows_of,
)
from pytensor.link.jax.tuned import jax_mode
from pytensor.link.jax.xla_names import Operation, operations, read_program
from tests.examples.yolo11n_runs import command, write_data

STEPS = 4


# ------------------------------------------------------------------------------ a small network


class SmallStep:
    """The training step of three layers, with what `Profiler` needs of a `TrainStep`."""

    def __init__(self, name="stem"):
        def shared(own, *shape):
            value = np.full(shape, 0.1, dtype="float32")
            return pytensor.shared(value, name=f"{name}.{own}", shape=shape)

        images = pt.tensor("images", dtype="float32", shape=(2, 3, 24, 16))
        weight, head = shared("conv.weight", 4, 3, 3, 3), shared("head.weight", 2, 4, 1, 1)
        gamma, beta = shared("bn.weight", 4), shared("bn.bias", 4)
        x = pt.conv2d(images, weight, border_mode=1, filter_flip=False)
        x, *_ = pt.batch_normalization_train(x, gamma, beta, axes="spatial")
        x = pt.max_pool2d(pt.silu(x), 2)
        loss = (pt.conv2d(x, head, filter_flip=False) ** 2).mean()
        self.variables = [weight, gamma, beta, head]
        gradients = pytensor.grad(loss, self.variables)
        updates = [
            (p, p - np.float32(0.1) * g) for p, g in zip(self.variables, gradients, strict=True)
        ]
        self.function = pytensor.function(
            [images], loss, updates=updates, mode=jax_mode(donate=True), trust_input=True
        )
        self.images = np.random.default_rng(0).normal(size=(2, 3, 24, 16)).astype("float32")

    def run(self):
        return self.function(self.images)

    def programs(self):
        return [(self.function, [self.images])]


@pytest.fixture(scope="module")
def small():
    return SmallStep()


@pytest.fixture(scope="module")
def profiled(small, tmp_path_factory):
    """A profile of a small network's steps: its folder, and what was said."""
    folder, said = tmp_path_factory.mktemp("run"), []
    profiler = Profiler(folder, STEPS, small, said.append)
    for _ in range(WARM_UP + STEPS + 2):
        profiler.before_step()
        small.run()
        profiler.after_step()
    profiler.end()
    return SimpleNamespace(folder=folder / "profile", said=said)


def test_every_layer_has_its_time(profiled):
    with open(profiled.folder / "profile.csv", newline="") as file:
        rows = {(row["kind"], row["name"]): row for row in csv.DictReader(file)}
    for key, part in {
        ("Conv", "stem.conv.weight"): "forward",
        ("Conv", "stem.head.weight"): "forward",
        ("ConvGradFilters", "stem.conv.weight"): "gradient",
        ("BatchNormalizationTrain", "stem.bn.weight"): "forward",
        ("BatchNormalizationTrainGrad", "stem.bn.weight"): "gradient",
        ("PoolPullback", ""): "gradient",
    }.items():
        assert rows[key]["part"] == part
        assert float(rows[key]["ms"]) > 0
        # A whole number of operations a step: exactly the steps asked for are in the trace.
        assert float(rows[key]["runs"]) >= 1
        assert float(rows[key]["runs"]) % 1 == 0
    assert sum(float(row["share"]) for row in rows.values()) == pytest.approx(1)
    unknown = sum(float(row["share"]) for key, row in rows.items() if key[0] == UNKNOWN)
    assert unknown < 0.5


def test_the_table_is_printed_and_kept(profiled):
    [text] = profiled.said
    assert text.startswith(f"profile (the trace is in {profiled.folder}):\n")
    kept = (profiled.folder / "profile.txt").read_text()
    assert kept.rstrip() in text
    assert f"mean of {STEPS} steps" in kept
    assert "  Conv (forward)\n" in kept
    assert "% belong to no node" in kept
    assert "ConvGradFilters[stem.conv.weight]" in kept


def test_traces_are_those_of_jax(profiled):
    [trace] = profiled.folder.glob("plugins/profile/*/*.trace.json.gz")
    assert [*trace.parent.glob("*.xplane.pb")]
    with gzip.open(trace, "rt") as file:
        names = {event.get("name") for event in json.load(file)["traceEvents"]}
    assert not any(name.startswith("$") for name in names if name)  # Python's calls


def test_operations_of_the_program(small):
    found = operations(small.function, [small.images])
    scopes = {operation.scope for operation in found.values()}
    assert {"Conv[stem.conv.weight]", "ConvGradInput[stem.head.weight]", "Pool"} <= scopes
    assert any(len(operation.fused) > 1 for operation in found.values())


def test_another_programs_operations_are_left_out(small, profiled):
    events = read_events(profiled.folder)
    own = profile_table(small.programs(), events, STEPS)
    others = [Event(("jit_other", "1"), f"other.{k}", 1.0) for k in range(9)]
    assert profile_table(small.programs(), events + others, STEPS) == own
    assert profile_table(small.programs(), others, STEPS) == []


def run_steps(profiler, step, count):
    for _ in range(count):
        profiler.before_step()
        step.run()
        profiler.after_step()


def test_no_profile_unless_asked(small, tmp_path):
    said = []
    profiler = Profiler(tmp_path, None, small, said.append)
    run_steps(profiler, small, WARM_UP + 2)
    profiler.end()
    profiler.close()
    assert not [*tmp_path.iterdir()]
    assert said == []


def test_an_epochs_end_ends_the_trace(small, tmp_path):
    """And none is begun again; what an earlier run left is gone."""
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "old").write_text("x")
    said = []
    profiler = Profiler(tmp_path, 50, small, said.append, warm_up=1)
    run_steps(profiler, small, 3)
    profiler.end()
    run_steps(profiler, small, 3)
    profiler.end()
    assert len(said) == 1
    assert "mean of 2 steps" in said[0]
    assert not (tmp_path / "profile" / "old").exists()


def test_a_run_that_fails_leaves_no_trace_running(small, tmp_path):
    profilers = [Profiler(tmp_path, 5, small, warm_up=0) for _ in range(2)]
    for profiler in profilers:  # JAX has one trace at a time; a dropped one would end by itself
        profiler.before_step()
        profiler.close()
        with pytest.raises(RuntimeError, match="No profile started"):
            jax.profiler.stop_trace()


# ------------------------------------------------------------------------------ programs

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


def test_read_program():
    found = read_program(PROGRAM, {"Conv[w]", "Elemwise.Mul", "Pool"})
    # The root's, found behind a copy, whatever else is in it.
    assert found["fusion.2"] == Operation("Conv[w]", {"Conv[w]", "Elemwise.Mul"}, False)
    assert found["tuple_fusion"] == Operation("Pool", {"Pool"}, False)
    assert found["while.3"] == Operation(None, frozenset(), True)
    assert found["copy.4"].scope is None
    assert found["later"].scope == "Conv[w]"
    assert found["foreign"].scope is None  # no node of the graph
    assert found["m.1"].scope == "Elemwise.Mul"


def test_rows():
    program = read_program(PROGRAM, {"Conv[w]", "Elemwise.Mul", "Pool"})
    seconds = {"fusion.2": 2.0, "tuple_fusion": 1.0, "while.3": 9.0, "copy.4": 0.5, "later": 0.5}
    events = [Event("a", name, value) for name, value in seconds.items()]
    events += [Event("b", "unheard", 7.0), Event("b", "copy.4", 7.0), Event("b", "so", 7.0)]
    conv, pool, rest = rows_of([program], events, 2)
    assert (conv.kind, conv.name, conv.ms, conv.fused_ms) == ("Conv", "w", 1250.0, 1000.0)
    assert (pool.kind, pool.name, pool.ms, pool.fused_ms, pool.runs) == ("Pool", "", 500.0, 0, 0.5)
    assert (rest.kind, rest.ms) == (UNKNOWN, 250.0)
    assert [row.share for row in (conv, pool, rest)] == [0.625, 0.25, 0.125]


def test_two_programs_with_the_same_operations():
    """As the functions of an accumulated step: what else ran tells them apart."""
    one = {name: Operation("Conv", frozenset(), False) for name in ("add.1", "mul.1", "sub.1")}
    two = {name: Operation("Pool", frozenset(), False) for name in ("add.1", "neg.1")}
    events = [Event(1, "add.1", 1.0), Event(1, "mul.1", 1.0)]
    events += [Event(2, "add.1", 5.0), Event(2, "neg.1", 5.0)]
    rows = rows_of([one, two], events, 1)
    assert {row.kind: row.ms for row in rows} == {"Conv": 2000.0, "Pool": 10000.0}


def test_parts():
    kinds = {"Conv", "ConvGradInput", "Pool", "SoftmaxPullback", "Softmax", "Elemwise.Mul"}
    parts = {kind: part_of(kind, kinds) for kind in kinds}
    assert parts == {
        "Conv": "forward",
        "ConvGradInput": "gradient",
        "Pool": "",
        "SoftmaxPullback": "gradient",
        "Softmax": "forward",
        "Elemwise.Mul": "",
    }


# ------------------------------------------------------------------------------ traces


def meta(kind, name, pid, tid=None):
    return {"ph": "M", "name": f"{kind}_name", "pid": pid, "tid": tid, "args": {"name": name}}


def ran(name, start, duration, pid=1, tid=1, **arguments):
    return {
        "ph": "X", "name": name, "ts": start, "dur": duration, "pid": pid, "tid": tid,
        "args": arguments,
    }  # fmt: skip


def test_what_other_threads_finish_lasts_till_its_end():
    events = [
        meta("process", "/host:CPU", 1),
        ran("conv", 0, 5, hlo_op="conv", hlo_module="m", run_id="7"),
        ran("end: conv", 100, 1),
        ran("add", 20, 5, hlo_op="add", hlo_module="m", run_id="7"),
        ran("end: add", 24, 1),  # within it
        ran("conv", 200, 5, hlo_op="conv", hlo_module="m", run_id="8"),
        ran("end: conv", 210, 1, tid=2),
        ran("PjitFunction(f)", 0, 1000),
    ]
    found = device_events(events)
    assert [(e.group, e.name) for e in found] == [
        (("m", "7"), "conv"),
        (("m", "7"), "add"),
        (("m", "8"), "conv"),
    ]
    assert [e.seconds for e in found] == pytest.approx([100e-6, 5e-6, 10e-6])


def test_kernels_of_a_gpu_count_once():
    """The rows that the profiler derives from the streams show them again."""
    events = [
        meta("process", "/device:GPU:0", 2),
        meta("thread", "Stream #13(Compute)", 2, 1),
        meta("thread", "XLA Ops", 2, 2),
        meta("process", "/host:CPU", 1),
        ran("loop_add_fusion_3", 0, 5, 2, 1, hlo_op="loop_add_fusion.3", hlo_module="m"),
        ran("loop_add_fusion.3", 0, 5, 2, 2, hlo_op="loop_add_fusion.3", hlo_module="m"),
        ran("input_reduce_fusion_2", 5, 5, 2, 1),
        ran("cudaLaunchKernel", 0, 9, 1, 1),
    ]
    found = device_events(events)
    assert [e.name for e in found] == ["loop_add_fusion.3", "input_reduce_fusion_2"]
    program = {
        name: Operation(scope, frozenset(), False)
        for name, scope in [("loop_add_fusion.3", "Conv[w]"), ("input_reduce-fusion.2", "Pool")]
    }
    rows = rows_of([program], [e._replace(group=0) for e in found], 1)
    assert {row.kind for row in rows} == {"Conv", "Pool"}


def test_a_folder_without_a_trace(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no trace"):
        read_events(tmp_path)


# ------------------------------------------------------------------------------ the option


@pytest.mark.slow
@pytest.mark.parametrize("nominal_batch", [4, 8])
def test_profile_of_a_training(tmp_path, capsys, nominal_batch):
    """One function a step, or two."""
    data = write_data(tmp_path / "data")
    own = ["--epochs", 3, "--no-export", "--output-dir", tmp_path / "run", "--profile", 2]
    arguments = command(data, *own, "--nominal-batch", nominal_batch, "--warmup-epochs", 0)
    assert train_yolo11n.main(arguments) == 0
    folder = tmp_path / "run" / "profile"
    text = (folder / "profile.txt").read_text()
    assert "mean of 2 steps" in text
    assert text.rstrip() in capsys.readouterr().out
    with open(folder / "profile.csv", newline="") as file:
        rows = [*csv.DictReader(file)]
    weights = {row["name"] for row in rows if row["kind"] == "Conv"}
    assert "model.0.conv.weight" in weights
    assert len(weights) > 80
    assert {row["part"] for row in rows} == {"forward", "gradient", ""}
    assert sum(float(row["share"]) for row in rows if row["kind"] == UNKNOWN) < 0.3
