"""What the benchmarks do around their measurements: turns, time limits, failures, tables."""

import importlib
import json
import os
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.common import child, step_sides
from benchmarks.common.results import rows_of
from benchmarks.common.side_process import SideError
from benchmarks.gpu import suite as gpu_suite
from benchmarks.step import scaling


def load(name):
    """Import a program, which sets variables for its own process."""
    flags = os.environ["PYTENSOR_FLAGS"]
    module = importlib.import_module(f"benchmarks.{name}")
    os.environ["PYTENSOR_FLAGS"] = flags
    return module


@pytest.fixture(scope="module")
def train_step():
    pytest.importorskip("jax")
    return load("step.train_step")


# -------------------------------------------------------------------------- step/train_step.py


class CountingSide:
    """A side's process that notes its calls in a list that all share."""

    def __init__(self, key, calls):
        self.key, self.calls, self.closed, self.error = key, calls, False, None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.closed = True
        self.calls.append((self.key, "close"))

    def call(self, method, *arguments):
        self.calls.append((self.key, method, *arguments))
        if method == "start":
            if self.error is not None:
                raise self.error
            return {
                "name": self.key, "losses": {"box_loss": 1.0},
                "matmul": {self.key: True}, "torch": "2.0" if self.key == "torch" else None,
            }  # fmt: skip
        if method == "set_allocator":
            return arguments[0]
        if method == "figures":
            return {"cost": None, "peak_bytes": None}
        return {"seconds": 0.5, "page_faults": 3.0, "waited": 2.0, "idled": 0.5}


def test_sides_take_turns(train_step):
    calls = []
    sides = {key: CountingSide(key, calls) for key in "abc"}
    blocks = train_step.time_blocks(sides, steps=2, rounds=3)
    assert [len(rows) for rows in blocks.values()] == [3, 3, 3]
    assert "".join(key for key, *_ in calls[::2]) == "abc" + "bca" + "cab"
    # All sides do the same steps, and those at the beginning of a turn aren't timed.
    for key in "abc":
        assert [(n, steps) for k, _, n, steps in calls if k == key] == [
            (1, train_step.WARMUP), (4, 2), (6, train_step.WARMUP), (9, 2),
            (11, train_step.WARMUP), (14, 2),
        ]  # fmt: skip


def test_ratios_name_both_sides(train_step):
    seconds = {"pytensor": [1.0, 1.0, 3.0], "pure": [2.0, 1.0, 1.0], "torch": [4.0, 4.0, 4.0]}
    middle = {pair: quartiles[1] for pair, quartiles in train_step.ratios(seconds).items()}
    assert middle == {"pytensor / pure": 1.0, "torch / pure": 4.0, "pytensor / torch": 0.25}


def test_sides_that_compute_something_else(train_step):
    losses = {"pure": {"box_loss": 1.0}, "torch": {"box_loss": 1.002}}
    assert train_step.check_losses(losses, "pure", 1e-2)["torch"] == pytest.approx(0.002)
    with pytest.raises(RuntimeError, match="torch and pure don't compute the same: box_loss"):
        train_step.check_losses(losses, "pure", 1e-3)
    with pytest.raises(RuntimeError, match="don't compute the same"):
        train_step.check_losses(losses | {"torch": {"box_loss": np.nan}}, "pure", 1e-3)


@pytest.fixture
def fake_sides(train_step, monkeypatch):
    """Return the sides that `measure` makes, their calls, and errors to raise at their start."""
    made, calls, errors = {}, [], {}

    def make(key):
        made[key] = CountingSide(key, calls)
        if key in errors:
            made[key].error = errors[key]
        return made[key]

    monkeypatch.setattr(train_step, "SideProcess", make)
    return SimpleNamespace(made=made, calls=calls, errors=errors)


def small_options(train_step, *arguments):
    common = ["--image-size", "32", "--steps", "1", "--rounds", "2"]
    return train_step.parse([*common, *arguments])


@pytest.mark.parametrize("fits", [False, None])
def test_what_does_not_fit_is_left_out(train_step, fake_sides, fits):
    kind = SideError if fits is None else train_step.DoesNotFit
    fake_sides.errors["pytensor"] = kind("the reason")
    options = small_options(train_step, "--sides", "pytensor", "torch")
    if fits is None:
        with pytest.raises(kind, match="the reason"):
            train_step.measure(1, "w.npz", options, "cpu")
    else:
        point = train_step.measure(1, "w.npz", options, "cpu")
        assert list(point["sides"]) == ["torch"]
        assert point["left_out"] == {"pytensor": "does not fit into memory: the reason"}
        # Its memory is free before another side starts.
        assert fake_sides.calls[2] == ("pytensor", "close")
    assert all(side.closed for side in fake_sides.made.values())


def test_nothing_fits(train_step, fake_sides, capsys):
    fake_sides.errors["pytensor"] = train_step.DoesNotFit("the reason")
    point = train_step.measure(1, "w", small_options(train_step, "--sides", "pytensor"), "cpu")
    assert point["sides"] == {}
    train_step.report(point)
    assert "pytensor: does not fit" in capsys.readouterr().out


def test_each_side_as_its_users_run_it(train_step, fake_sides, capsys):
    sides = ["pytensor", "pure", "torch", "pytorch-mode"]
    point = train_step.measure(4, "w.npz", small_options(train_step, "--sides", *sides), "gpu")
    started = {key: rest for key, method, *rest in fake_sides.calls if method == "start"}
    allocators = {key: rest for key, method, *rest in fake_sides.calls if "allocator" in method}
    assert [*started] == sides
    for key, (name, size, weights, settings) in started.items():
        assert (name, size, weights) == (key, (32, 4), "w.npz")
        assert settings["backend"] == "gpu"
        demo = key in ("pytensor", "pytorch-mode")
        assert allocators[key] == ["kept" if demo else "default"]
        assert point["sides"][key]["allocator"] == allocators[key][0]
    side = point["sides"]["torch"]
    assert (side["images_per_s"], side["page_faults"], side["idle_load"]) == (8.0, [3.0] * 3, 0.25)
    train_step.report(point)
    printed = capsys.readouterr().out
    assert "allocator default, 3 minor page faults a step" in printed
    assert "waiting, it took 25% of a core" in printed
    figures = dict(row[:2] for row in rows_of(train_step.figures(point)))
    assert figures["batch 4 > torch > seconds"] == "0.5"
    assert figures["batch 4 > ratio > pytensor / torch"] == "1"
    assert not any(figure.startswith("batch 4 > ratio > torch") for figure in figures)
    device = {"name": "gpu:0", "kind": "some GPU"}
    facts = train_step.facts_of_run(device, point)
    assert (facts["machine"]["torch"], facts["machine"]["device_kind"]) == ("2.0", "some GPU")
    assert facts["matmul"] == dict.fromkeys(sides, True)


KINDS = ["default", "kept"]


@pytest.mark.parametrize("choice", KINDS)
def test_one_allocator_for_all(train_step, choice):
    processes = train_step.processes(train_step.SIDES, choice)
    assert processes == {key: (key, choice) for key in train_step.SIDES}


def test_two_processes_a_side(train_step, fake_sides):
    options = small_options(train_step, "--sides", "pytensor", "torch", "--allocator", "each")
    point = train_step.measure(4, "w.npz", options, "cpu")
    allocators = {label: side["allocator"] for label, side in point["sides"].items()}
    assert allocators == {f"{key}:{kind}": kind for key in ("pytensor", "torch") for kind in KINDS}
    # The fastest of PyTensor's is what all are compared with.
    seconds = {"pytensor:default": [3.0], "pytensor:kept": [2.0], "torch:kept": [4.0]}
    ratios = {pair: quartiles[1] for pair, quartiles in train_step.ratios(seconds).items()}
    assert ratios == {
        "pytensor:kept / pytensor:default": pytest.approx(2 / 3), "pytensor:kept / torch:kept": 0.5
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sides", "pytorch-mode", "--precision", "bf16"], "has no bf16"),
        (["--sides", "torch", "--devices", "2"], "run on several"),
    ],
)
def test_options_that_make_no_sense(train_step, capsys, arguments, message):
    with pytest.raises(SystemExit):
        train_step.parse(arguments)
    assert message in capsys.readouterr().err


def test_more_threads_than_cores():
    with pytest.raises(ValueError, match="threads asked for"):
        step_sides.use_threads(10_000)


def test_torch_functions_of_the_operators_are_those_of_jax(float32_everywhere):
    pytest.importorskip("torch", reason="PyTorch isn't installed: it is a side of benchmarks alone")
    pytest.importorskip("scipy")
    operators = load("package.operators")
    functions, cases = operators.other_torch_functions(), operators.other_cases()
    assert set(functions) == set(cases)
    for name, (_, in_jax, values) in cases.items():
        shape = np.asarray(expected := in_jax(*values)).shape
        cotangent = np.ones(shape, dtype="float32")
        runs = operators.torch_runs(functions[name], values, cotangent)
        operators.check_results({"lax": lambda e=expected: e, "torch": runs["forward"]}, name)
        assert runs["grad 1"]().shape == values[0].shape


# ------------------------------------------------------------------------------- child.py


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Return a function that writes a benchmark and runs it for so many seconds."""
    monkeypatch.setattr(child, "ROOT", tmp_path)
    (tmp_path / "benchmarks").mkdir()

    def run(code, seconds=60.0, environment=None):
        start = "import os, sys, time\nfrom pathlib import Path\nout = Path(sys.argv[-1])\n"
        (tmp_path / "benchmarks/script.py").write_text(start + textwrap.dedent(code))
        return child.run_benchmark("script", [1], seconds, environment)

    return run


def test_child_that_ends_well(script):
    code = "out.write_text('[' + sys.argv[1] + ', ' + os.environ['NUMBER'] + ']')"
    assert script(code, environment={"NUMBER": "2"}) == ([1, 2], None)


def test_child_that_fails(script):
    assert script("raise ValueError('the reason')") == (
        None,
        "exit status 1: ValueError: the reason",
    )


def test_child_that_is_killed_keeps_what_it_has_written(script):
    result, reason = script("out.write_text('{}')\nos.kill(os.getpid(), 9)")
    assert result == {}
    assert reason == "ended by SIGKILL: too little memory?"


@pytest.mark.slow
def test_child_that_takes_too_long_ends_with_its_children(script, tmp_path, monkeypatch):
    written = tmp_path / "written"
    code = f"""
    import subprocess
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path({str(tmp_path / "pid")!r}).write_text(str(process.pid))
    out.write_text("{{}}")
    Path({str(written)!r}).touch()
    time.sleep(600)
    """
    wait = child.subprocess.Popen.wait

    def wait_until_it_has_written(process, timeout=None):
        while timeout and process.poll() is None and not written.exists():
            time.sleep(0.05)
        return wait(process, timeout and 0.1)

    monkeypatch.setattr(child.subprocess.Popen, "wait", wait_until_it_has_written)
    result, reason = script(code, seconds=8)
    assert (result, reason) == ({}, "took longer than 8 s")
    state = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    # Gone, or a zombie that nobody has asked for yet; the kernel may take its time.
    end = time.monotonic() + 60
    while state.exists() and state.read_text().split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.05)


# ----------------------------------------------------------------------------- scaling.py


def scaling_options(*arguments):
    options = scaling.parse(list(arguments))
    return options, scaling.fill_in(options, {"backend": "cpu", "devices": 1})


def test_grid_of_a_gpu():
    options = scaling.parse([])
    assert not scaling.fill_in(options, {"backend": "gpu", "devices": 2})
    assert (options.batch[0], options.batch[-1]) == (1, 256)
    assert (options.image[0], options.image[-1]) == (160, 640)
    assert options.devices == [1, 2]


def test_a_point_runs_the_step_on_virtual_devices(train_step, monkeypatch):
    options, on_cpu = scaling_options("--batch-size", "4")
    monkeypatch.setenv("XLA_FLAGS", "--other")
    called = []

    def run(name, arguments, timeout, environment):
        called.append((train_step.parse(list(map(str, arguments))), environment))
        return {"machine": {}, "points": [{"sides": {}}]}, None

    monkeypatch.setattr(scaling, "run_benchmark", run)
    point = scaling.measure(scaling.settings_of("devices", 2, options), options, on_cpu)
    ((parsed, environment),) = called
    assert (parsed.batch_size, parsed.devices) == ([4], 2)
    assert environment["XLA_FLAGS"].split() == [
        "--other", "--xla_force_host_platform_device_count=2"
    ]  # fmt: skip
    assert point["devices"] == 2
    point = scaling.measure(scaling.settings_of("devices", 3, options), options, on_cpu)
    assert "can't share" in scaling.line("devices", point)


def test_a_point_that_does_not_fit_is_told(monkeypatch):
    options, on_cpu = scaling_options()
    monkeypatch.setattr(scaling, "run_benchmark", lambda *_: (None, "took longer than 5 s"))
    point = scaling.measure(scaling.settings_of("batch", 4, options), options, on_cpu)
    assert scaling.line("batch", point) == "batch        4  left out: took longer than 5 s"


def scaling_point(batch):
    cost = {"flops": 1e9, "bytes accessed": 1e9, "bytes allocated": 1e6}
    side = {"name": "PyTensor", "seconds": [1.0, 2.0, 3.0], "cost": cost}
    ratios = {"pytensor / pure": [0.9, 1.0, 1.1]}
    return {"batch": batch, "left_out": {}, "sides": {"pytensor": side, "pure": side}} | {
        "ratios": ratios
    }


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    points = [scaling_point(1), {"batch": 2, "left_out": "too large"}]
    scaling.draw_plot({"batch": points}, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert "ratio pytensor / pure 1.000 (0.900 to 1.100)" in scaling.line("batch", points[0])


# --------------------------------------------------------------------------- gpu/suite.py


@pytest.mark.parametrize("arguments", [[], ["--quick"]])
def test_parts_are_calls_that_their_programs_understand(train_step, arguments):
    options = gpu_suite.parse(arguments)
    options.torch_sides = gpu_suite.TORCH_SIDES
    parts = gpu_suite.plan(options)
    assert len({part.name for part in parts}) == len(parts)
    for part in parts:
        assert importlib.util.find_spec(f"benchmarks.{part.program}"), part.program
        if part.program == "step.train_step":
            parsed = train_step.parse(list(map(str, part.arguments)))
            wanted = "bf16" if "bf16" in part.name else "float32"
            assert parsed.precision == wanted


@pytest.mark.parametrize(
    ("kind", "bf16"),
    [
        ("NVIDIA H100 80GB HBM3", 989), ("NVIDIA H100 PCIe", 756), ("NVIDIA H200", 989),
        ("NVIDIA A100-SXM4-40GB", 312), ("NVIDIA A10", 125), ("NVIDIA A10G", None), ("cpu", None),
    ],
)  # fmt: skip
def test_peak_by_name(kind, bf16):
    assert gpu_suite.peak_of(kind, None).get("bf16") == bf16
    assert gpu_suite.peak_of(kind, [1.0, 2.0]) == {"bf16": 1.0, "tf32": 2.0}


def test_operations_of_the_network():
    """The counts of the specification, 2 operations for a multiply-add, three passes."""
    assert gpu_suite.tflop(2, 320) == pytest.approx(2 * 3 * 1.5817e-3, rel=1e-4)
    assert gpu_suite.tflop(1, 640) == pytest.approx(3 * 6.3731e-3, rel=1e-4)


def test_parts_are_run_once_and_within_the_budget(tmp_path, monkeypatch):
    parts = [gpu_suite.Part(name, "s", [name], 100.0) for name in ("a", "b", "c")]
    path = tmp_path / "result.json"
    result = {"parts": {}}
    now, called = [0.0], []

    def run(program, arguments, timeout, environment):
        called.append((*arguments, timeout))
        now[0] += timeout
        return ({}, None) if arguments != ["a"] else (None, "exit status 1: broken")

    monkeypatch.setattr(gpu_suite, "run_benchmark", run)
    monkeypatch.setattr(gpu_suite, "time", SimpleNamespace(monotonic=lambda: now[0]))
    gpu_suite.run_parts(parts, result, path, budget=150.0)
    assert called == [("a", 100.0), ("b", 50.0)]
    assert [part["reason"] for part in result["parts"].values()] == [
        "exit status 1: broken", None, gpu_suite.NO_TIME
    ]  # fmt: skip
    assert json.loads(path.read_text()) == result
    called.clear()
    gpu_suite.run_parts(parts, result, path, budget=500.0)
    assert [name for name, _ in called] == ["a", "c"]


def test_a_step_that_fails_is_tried_without_torch(tmp_path, monkeypatch):
    options = gpu_suite.parse([])
    options.torch_sides = gpu_suite.TORCH_SIDES
    part = gpu_suite.steps_part(8, "bf16", options, 100.0)
    result, tried = {"parts": {}}, []

    def run(program, arguments, timeout, environment):
        tried.append([side for side in arguments if str(side).startswith("torch")])
        return ({}, None) if not tried[-1] else (None, "exit status 1: no library")

    monkeypatch.setattr(gpu_suite, "run_benchmark", run)
    gpu_suite.run_parts([part], result, tmp_path / "result.json", budget=500.0)
    assert tried == [gpu_suite.TORCH_SIDES, []]
    assert result["parts"]["step-8-bf16"]["reason"] == "exit status 1: no library"
    assert result["parts"]["step-8-bf16-without-torch"]["reason"] is None


def test_each_part_records_its_figures(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(gpu_suite, "run_benchmark", lambda *call: given.append(call) or ({}, None))
    more, part = ["--record", "table.csv"], gpu_suite.Part("a", "s", ["--rounds", 1], 100.0)
    gpu_suite.run_parts([part], {"parts": {}}, tmp_path / "result.json", 500.0, more)
    assert given[0][:2] == ("s", ["--rounds", 1, *more])


def test_results_of_other_settings_are_not_kept(tmp_path):
    path = tmp_path / "result.json"
    assert gpu_suite.earlier(path, {}) == {}
    path.write_text(json.dumps({"settings": {"rounds": 1}, "parts": {"a": {}}}))
    assert gpu_suite.earlier(path, {"rounds": 1}) == {"a": {}}
    assert gpu_suite.earlier(path, {"rounds": 2}) == {}


def test_table():
    side = {"seconds": [0.01, 0.02, 0.03], "images_per_s": 400.0, "peak_bytes": 3e9}
    point = {"batch_size": 8, "sides": {"pure": side, "torch": side}, "left_out": {}}
    point["ratios"] = {"torch / pure": [1.0, 1.25, 1.5]}
    step = {"reason": None, "result": {"image_size": 320, "points": [point]}}
    share = gpu_suite.tflop(8, 320) / 0.02 / 1
    first, second = gpu_suite.rows("step-8-bf16", step, {"bf16": 1.0})
    assert f"20.00 ms,      400 images/s, {share:.1%} of peak" in first
    assert "1.250 of plain JAX's time" in second

    fits = point | {"sides": {"pure": side}}
    none = {"batch_size": 16, "sides": {}, "left_out": {"pure": "does not fit"}, "ratios": {}}
    alone = {"reason": None, "result": {"points": [fits, none]}}
    (row,) = gpu_suite.rows("largest-pure", alone, {})
    assert "batch 8: 3.00 GB at most; the next doesn't fit" in row
    failed = {"reason": "exit status 1: x", "result": None}
    assert list(gpu_suite.rows("overhead", failed, {})) == [f"{'overhead':22} exit status 1: x"]


@pytest.mark.long
def test_the_suite_runs_on_a_cpu(tmp_path):
    path = tmp_path / "result.json"
    environment = os.environ | {"PYTENSOR_FLAGS": "", "JAX_PLATFORMS": "cpu"}
    command = child.program_command("benchmarks.gpu.suite", "--quick", "--budget", 3000)
    command += ["--output", path]
    status = child.subprocess.run(command, cwd=child.ROOT, env=environment).returncode
    assert status == 0
    result = json.loads(path.read_text())
    assert {part["reason"] for part in result["parts"].values()} == {None}
    assert result["parts"]["agreement-highest"]["result"]["within_tolerance"]
    assert len(result["parts"]["largest-pure"]["result"]["points"]) == 2
