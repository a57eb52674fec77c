"""A program for a GPU is read as XLA wrote it, and a run is checked before it is started."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.common import results
from benchmarks.gpu import program

pytest.importorskip("jax")

# A convolution, sums over devices, a loop of three turns, and a branch.
PROGRAM = Path(__file__).with_name("program_for_a_gpu.txt").read_text()

DEVICE = """
gpu_device_info {
  core_count: 100
  memory_bandwidth: 1000000000000
  device_memory_size: 80000000000
}
platform_name: "CUDA"
device_description_str: "Some GPU"
"""


def test_kernels_are_what_runs_something():
    images, results, filters = 2 * 384, 2 * 480, 2 * 300
    assert program.read(PROGRAM) == [
        program.Kernel("loop fusion", "Elemwise.Mul[a]", 2 * images + 8),
        program.Kernel("cudnn$convForward", "Conv[w]", images + filters + results + 96),
        program.Kernel("all-reduce", "(none)", 2 * 56),
        program.Kernel("all-reduce", "(none)", 2 * 56),
        program.Kernel("copy", "(none)", 80, copies=True, times=3),
        program.Kernel("negate", "(none)", 80),
        program.Kernel("transpose", "(none)", 2 * 56, copies=True),
    ]


def test_summary_by_the_description_of_a_device():
    device = program.describe(DEVICE)
    assert (device.name, device.memory, device.bandwidth) == ("Some GPU", 80e9, 1e12)
    kernels = [
        program.Kernel("copy", "", 10_000_000, copies=True, times=300),
        program.Kernel("all-reduce", "", 1_000_000, times=2),
    ]
    assert program.summary(kernels, device) == {
        "kernels": 302, "kernels under 2 MB": 2, "copies": 300, "all-reduces": 2, "GB": 3.0,
        "ms for the bytes": 3.0,
    }  # fmt: skip


def test_what_was_found_is_read_from_the_table(tmp_path, monkeypatch):
    path, key = tmp_path / "table.csv", ("Some GPU", 8, 64, 320, "bf16", "pure")
    monkeypatch.setattr(results, "command", lambda: "python -m benchmarks.gpu.program --why 1")
    facts = {"processor": "x", "cores": 1}
    results.record(path, program.nested(key, {"kernels": 1022, "GB": 1.5}), facts)
    assert program.recorded(path) == {(*key[:5], "plain JAX"): {"kernels": 1022, "GB": 1.5}}


def test_the_page_says_what_was_found():
    assert program.page() == program.PAGE.read_text(), f"run: python -m {program.__name__} --table"


@pytest.mark.long
def test_counts_are_those_of_the_results(tmp_path):
    """The step for an H200 in bf16, compiled again: minutes."""
    try:
        program.devices()
    except program.NoPlugin as error:
        pytest.skip(str(error))
    path = tmp_path / "table.csv"
    command = [sys.executable, "-m", program.__name__, "--sides", "PyTensor", "--record", path]
    subprocess.run(command, cwd=program.ROOT, env=os.environ | {"PYTENSOR_FLAGS": ""}, check=True)
    ((key, found),) = program.recorded(path).items()
    known = program.recorded()[key]
    for name in ("kernels", "GB", "temporary MB"):
        assert found[name] == pytest.approx(known[name], rel=0.02)


# ------------------------------------------------------------------------------ a run's check

OPTIONS = ["--preset", "gpu", "--image-size", "64", "--data", "synthetic", "--train-images", "100"]


@pytest.fixture
def check(monkeypatch):
    """Return the program, with a small network in place of the detector."""
    from tests.examples.yolo11n.training.runs import Stage

    with pytest.MonkeyPatch.context() as patch:  # it sets variables for its own process
        for flag in ("PYTENSOR_FLAGS", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK"):
            patch.setenv(flag, os.environ.get(flag, ""))
        patch.setattr(sys, "path", [*sys.path])
        check = importlib.import_module("benchmarks.gpu.training_check")
    monkeypatch.setattr(check, "YOLO11n", lambda num_classes, **size: Stage())
    return check


@pytest.fixture
def device(check, monkeypatch):
    """Return a GPU with room for little, and programs for it of one kernel."""
    gpu = program.Device("Some GPU", "", memory=4e9, bandwidth=1e12)
    plan = SimpleNamespace(
        temp_size_in_bytes=2_000_000_000, output_size_in_bytes=5_000_000,
        alias_size_in_bytes=4_000_000,
    )  # fmt: skip
    part = check.Part(1.0, [program.Kernel("copy", "", 998_500_000)], plan)
    monkeypatch.setattr(program, "find_device", lambda name: gpu)
    monkeypatch.setattr(program, "mesh_of", lambda device, count: None)
    monkeypatch.setattr(check, "compiled", lambda run, mesh: [part])
    return plan


@pytest.mark.slow
def test_check_of_a_run(check, device, capsys, float32_everywhere):
    arguments = ["some", *OPTIONS, "--epochs", "18", "--batch-size", "64"]
    assert check.main(arguments) == 0
    out = capsys.readouterr().out
    assert "100 images, 18 epochs" in out
    assert "on the device" in out
    # A millisecond is 0.9985 for its bytes, and 1.5 microseconds for a launch.
    assert "1.00 ms a batch, 64,000 images/s" in out
    assert "2.0" in out.partition("memory: ")[2].partition(" GB")[0]

    device.temp_size_in_bytes = 3_000_000_000
    assert check.main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("refused: the batch does not fit: it takes 3.0 GB")


@pytest.mark.slow
def test_gradients_of_small_batches_are_added_up(check, float32_everywhere):
    options = check.parse_arguments("", [*OPTIONS, "--batch-size", "16"])
    run = check.build(options, 1e9)
    assert (run.batches, run.accumulate, run.squares) == (7, 4, 100 * 64 * 64 * 3)
    (_, rows, share), (_, without, seldom) = check.functions(run)
    assert (rows, share) == (len(run.step.images.variables) + 3, 1.0)
    assert (without, seldom) == (0, 0.25)
    # Images that the device has no room for come from the host.
    assert check.build(options, 1e5).squares == 0


@pytest.mark.long
def test_a_step_is_measured(check, monkeypatch, float32_everywhere):
    monkeypatch.setattr(check, "STEPS", 1)
    monkeypatch.setattr(check, "jax_mode", lambda platform, **options: "JAX")
    options = check.parse_arguments("", [*OPTIONS, "--batch-size", "4", "--nominal-batch", "4"])
    seconds, _ = check.measure(check.build(options, 1e9), check.Devices(1))
    assert 0 < seconds < 600


def test_boxes_of_a_run(check, tmp_path):
    """Those of a mosaic of the densest pictures, where the data are there."""
    counts = {"few": 1, "most": 5, "two": 2, "three": 3, "four": 4}
    images = [{"id": n, "file_name": f"{name}.png", "width": 64, "height": 64}
              for n, name in enumerate(counts)]  # fmt: skip
    boxes = [(n, x) for n, count in enumerate(counts.values()) for x in range(count)]
    annotations = [{"id": k, "image_id": n, "category_id": 1, "bbox": [x, 0, 9, 9], "iscrowd": 0}
                   for k, (n, x) in enumerate(boxes)]  # fmt: skip
    content = {"images": images, "annotations": annotations,
               "categories": [{"id": 1, "name": "dot"}]}  # fmt: skip
    (tmp_path / "annotations").mkdir()
    (tmp_path / "images").mkdir()
    for part in ("train", "val"):
        (tmp_path / f"annotations/instances_{part}.json").write_text(json.dumps(content))

    def found(*more):
        own = ["--preset", "gpu", "--data", str(tmp_path), "--classes", "dot", *more]
        return check.training_images(check.parse_arguments("", own))

    assert found() == (5, 5 + 4 + 3 + 2, "have room, as most.png has 5")
    assert found("--mosaic", "0").boxes == 5
    assert found("--max-boxes", "4") == (4, 4, "have room, as four.png has 4")
    assert check.training_images(check.parse_arguments("", OPTIONS)).boxes == check.MAX_BOXES


def test_what_is_refused(check, device, capsys):
    for arguments, message in (
        (["some", *OPTIONS, "--batch-size", "60", "--devices", "8"], "can't share a batch of 60"),
        (["some", "--data", "coco", "--train-images", "0"], "give --train-images"),
        (OPTIONS, "this machine has no GPU: name one"),
    ):
        assert check.main(arguments) == 1
        assert message in capsys.readouterr().err


def test_without_a_plugin(check, monkeypatch, capsys):
    monkeypatch.setattr(program, "find_spec", lambda name: None)
    assert check.main(["h100", *OPTIONS]) == 1
    assert "pip install 'jax[cuda12]'" in capsys.readouterr().err
