"""Test what the benchmarks of the step, of scaling and of a GPU measure, leave out and refuse."""

import importlib
import json
import os
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.common import child
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


class Side:
    """A side in place of its process: it notes its calls, and may fail at its start."""

    def __init__(self, key, error=None):
        self.key, self.error, self.calls, self.closed = key, error, [], False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.closed = True

    def call(self, method, *arguments):
        self.calls.append((method, *arguments))
        if method == "start" and self.error is not None:
            raise self.error
        return {
            "set_allocator": arguments[:1] and arguments[0],
            "start": {"name": self.key, "losses": {"box_loss": 1.0}, "matmul": {}, "torch": None},
            "run": {"seconds": 0.5, "page_faults": 3.0, "waited": 2.0, "idled": 0.5},
            "figures": {"cost": None, "peak_bytes": None},
        }[method]


@pytest.fixture
def measure(train_step, monkeypatch):
    """Return a function of sides and their errors: what is measured, and the sides."""

    def measure(*keys, **errors):
        made = {}

        def make(key):
            assert all(side.closed for side in made.values() if side.error)  # its memory is free
            made[key] = Side(key, errors.get(key))
            return made[key]

        monkeypatch.setattr(train_step, "SideProcess", make)
        sizes = ["--image-size", "32", "--steps", "2", "--rounds", "3"]
        options = train_step.parse([*sizes, "--sides", *keys])
        try:
            return train_step.measure(4, "w.npz", options, "cpu"), made
        finally:
            assert all(side.closed for side in made.values())

    return measure


def test_sides_do_the_same_steps_and_have_their_users_allocator(train_step, measure, capsys):
    point, sides = measure("pytensor", "pure", "torch")
    steps = [[call for call in side.calls if call[0] == "run"] for side in sides.values()]
    assert steps[0] == steps[1] == steps[2]
    assert sum(count for _, _, count in steps[0] if count == 2) == 3 * 2
    assert [side["allocator"] for side in point["sides"].values()] == ["kept", "default", "default"]
    train_step.report(point)
    printed = capsys.readouterr().out
    assert "ratio pytensor / torch                 1.000" in printed
    assert "8.0 images/s" in printed
    assert "waiting, it took 25% of a core" in printed
    figures = dict(row[:2] for row in rows_of(train_step.figures(point)))
    assert figures["batch 4 > torch > seconds"] == "0.5"
    assert figures["batch 4 > ratio > pytensor / torch"] == "1"


def test_what_does_not_fit_is_left_out_and_what_fails_ends_the_benchmark(train_step, measure):
    point, _ = measure("pytensor", "torch", pytensor=train_step.DoesNotFit("the reason"))
    assert list(point["sides"]) == ["torch"]
    assert point["left_out"] == {"pytensor": "does not fit into memory: the reason"}
    assert measure("pytensor", pytensor=train_step.DoesNotFit("x"))[0]["sides"] == {}
    with pytest.raises(SideError, match="the reason"):
        measure("pytensor", "torch", pytensor=SideError("the reason"))


def test_ratios_name_both_sides(train_step):
    seconds = {"pytensor": [1.0, 1.0, 3.0], "pure": [2.0, 1.0, 1.0], "torch": [4.0, 4.0, 4.0]}
    middle = {pair: quartiles[1] for pair, quartiles in train_step.ratios(seconds).items()}
    assert middle == {"pytensor / pure": 1.0, "torch / pure": 4.0, "pytensor / torch": 0.25}
    # Of several processes a side, the fastest of PyTensor's is what all are compared with.
    seconds = {"pytensor:default": [3.0], "pytensor:kept": [2.0], "torch:kept": [4.0]}
    middle = {pair: quartiles[1] for pair, quartiles in train_step.ratios(seconds).items()}
    assert middle == {
        "pytensor:kept / pytensor:default": pytest.approx(2 / 3), "pytensor:kept / torch:kept": 0.5
    }  # fmt: skip


def test_sides_that_compute_something_else(train_step):
    losses = {"pure": {"box_loss": 1.0}, "torch": {"box_loss": 1.002}}
    assert train_step.check_losses(losses, "pure", 1e-2)["torch"] == pytest.approx(0.002)
    with pytest.raises(RuntimeError, match="torch and pure don't compute the same: box_loss"):
        train_step.check_losses(losses, "pure", 1e-3)
    with pytest.raises(RuntimeError, match="don't compute the same"):
        train_step.check_losses(losses | {"torch": {"box_loss": np.nan}}, "pure", 1e-3)


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


# ----------------------------------------------------------------------------- step/scaling.py


def test_points_of_the_scaling(train_step, monkeypatch):
    """A point runs the step on virtual devices; the reason is told where there is no figure."""
    options = scaling.parse(["--batch-size", "4"])
    on_cpu = scaling.fill_in(options, {"backend": "cpu", "devices": 1})
    monkeypatch.setenv("XLA_FLAGS", "--other")
    called = []

    def run(name, arguments, timeout, environment):
        called.append((train_step.parse(list(map(str, arguments))), environment["XLA_FLAGS"]))
        return None, "took longer than 5 s"

    monkeypatch.setattr(scaling, "run_benchmark", run)
    for count, reason in ((4, "took longer than 5 s"), (3, "can't share")):
        point = scaling.measure(scaling.settings_of("devices", count, options), options, on_cpu)
        assert reason in scaling.line("devices", point)
    ((parsed, flags),) = called
    assert (parsed.batch_size, parsed.devices) == ([4], 4)
    assert flags.split() == ["--other", "--xla_force_host_platform_device_count=4"]


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


def test_share_of_the_peak():
    """The counts of the specification, 2 operations for a multiply-add, three passes."""
    assert gpu_suite.tflop(2, 320) == pytest.approx(2 * 3 * 1.5817e-3, rel=1e-4)
    assert gpu_suite.tflop(1, 640) == pytest.approx(3 * 6.3731e-3, rel=1e-4)
    kinds = "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA A10", "NVIDIA A10G"
    peaks = [gpu_suite.peak_of(kind, None).get("bf16") for kind in kinds]
    assert peaks == [989, 756, 125, None]
    assert gpu_suite.peak_of("cpu", [1.0, 2.0]) == {"bf16": 1.0, "tf32": 2.0}


def test_parts_are_run_once_and_within_the_budget(tmp_path, monkeypatch):
    """A part that fails with PyTorch is tried without it; what is done is not done again."""
    names = "a", "b", "c"
    parts = [gpu_suite.Part(name, "s", [name], 100.0) for name in names]
    parts[0] = parts[0]._replace(otherwise=["without"])
    path, result = tmp_path / "result.json", {"settings": {"rounds": 1}, "parts": {}}
    now, called = [0.0], []

    def run(program, arguments, timeout, environment):
        called.append((*arguments, timeout))
        now[0] += timeout
        return ({}, None) if arguments[0] != "a" else (None, "exit status 1: broken")

    monkeypatch.setattr(gpu_suite, "run_benchmark", run)
    monkeypatch.setattr(gpu_suite, "time", SimpleNamespace(monotonic=lambda: now[0]))
    gpu_suite.run_parts(parts, result, path, budget=250.0, more=["--record"])
    assert called == [("a", "--record", 100), ("without", "--record", 100), ("b", "--record", 50)]
    reasons = {name: part["reason"] for name, part in result["parts"].items()}
    assert reasons == {
        "a": "exit status 1: broken", "a-without-torch": None, "b": None, "c": gpu_suite.NO_TIME
    }  # fmt: skip
    called.clear()
    result["parts"] = gpu_suite.earlier(path, {"rounds": 1})
    gpu_suite.run_parts(parts, result, path, budget=500.0)
    assert [name for name, _ in called] == ["a", "c"]
    assert gpu_suite.earlier(path, {"rounds": 2}) == {}


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
