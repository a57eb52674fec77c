"""What a GPU would run: the page says what was found, and a run is checked before it is started."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.common import xla_gpu

pytest.importorskip("jax")

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/gpu_program_cuda.json"
OPTIONS = ["--preset", "gpu", "--image-size", "64", "--data", "synthetic", "--train-images", "100"]


def load(name):
    """Import a program, which sets variables for its own process."""
    with pytest.MonkeyPatch.context() as patch:
        for flag in ("PYTENSOR_FLAGS", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "JAX_PLATFORMS"):
            patch.setenv(flag, os.environ.get(flag, ""))
        patch.setattr(sys, "path", [*sys.path])
        return importlib.import_module(name)


@pytest.fixture
def check(monkeypatch):
    """Return the program, with a small network in place of the detector."""
    from tests.examples.yolo11n.training.runs import Stage

    program = load("benchmarks.gpu.training_check")
    monkeypatch.setattr(program, "YOLO11n", lambda num_classes: Stage())
    return program


@pytest.fixture
def device(check, monkeypatch):
    """Return a GPU with room for little, and programs for it of one kernel."""
    gpu = xla_gpu.Device("Some GPU", "", 4e9, 1e12, {"bf16": 1e14, "f32": 5e13}, {"f32": 1e13})
    memory = {"temporary": 2_000_000_000, "results": 5_000_000, "donated": 4_000_000}
    part = check.Part(1.0, [xla_gpu.Kernel("a", "copy", "", 998_500_000)], memory)
    monkeypatch.setattr(xla_gpu, "find_device", lambda name: gpu)
    monkeypatch.setattr(xla_gpu, "mesh_of", lambda device, count: None)
    monkeypatch.setattr(check, "compiled", lambda run, mesh: [part])
    return memory


def test_the_page_says_what_was_found():
    tool = load("docs.tools.gpu_program")
    assert tool.page() == tool.PAGE.read_text(), "run: python -m docs.tools.gpu_program"
    programs = json.loads(RESULTS.read_text())["programs"]
    assert {row["side"] for row in programs} >= {"PyTensor", "NHWC"}


def test_estimate_of_a_program():
    script = load("benchmarks.gpu.program")
    gpu = xla_gpu.Device("Some GPU", "", 4e9, 1e12, {"bf16": 1e14}, {"f32": 1e13})
    kernels = [xla_gpu.Kernel("a", "copy", "", 1_000_000, times=10)]
    assumed = {"with CUDA graphs": 2.0, "without CUDA graphs": 5.0}
    assert script.estimate(kernels, gpu, assumed) == pytest.approx(
        {
            "bytes and operations": 10e-6, "bytes alone": 10e-6,
            "with CUDA graphs": 30e-6, "without CUDA graphs": 50e-6,
        }
    )  # fmt: skip
    assert script.estimate(kernels, gpu._replace(matrix={}), assumed) is None


def test_largest_batch(monkeypatch):
    script = load("benchmarks.gpu.program")
    asked = []

    def compile_program(device, what, side, precision, batch_size, *rest):
        asked.append(batch_size)
        return batch_size

    # Ten bytes for all batches, three for an image, and more for large ones.
    more = {}
    monkeypatch.setattr(script, "compile_program", compile_program)
    monkeypatch.setattr(xla_gpu, "memory", lambda n: {"total": 10 + 3 * n + more.get(n, 0)})
    gpu = xla_gpu.Device("Some GPU", "", 400, 1, {}, {})
    options = SimpleNamespace(memory_share=0.75, confirm=True)
    key = "step", "PyTensor", "bf16", 64, 320, 1
    assert script.largest_batch(gpu, key, 10 + 3 * 64, options) == {
        "batch": 96, "bytes of an image": 3, "share of memory": 0.75, "bytes by a compilation": 298,
    }  # fmt: skip
    assert asked == [32, 96]
    more[96] = 3
    assert script.largest_batch(gpu, key, 10 + 3 * 64, options)["batch"] == 88
    options.confirm = False
    assert script.largest_batch(gpu, key, 10 + 3 * 64, options)["batch"] == 96


def test_results_of_a_program_replace_older_ones(tmp_path):
    script, path = load("benchmarks.gpu.program"), tmp_path / "found.json"
    for number, device in enumerate(["b", "a", "b"]):
        row = dict.fromkeys(script.KEY, 1) | {"device": device, "number": number}
        script.write(path, row, SimpleNamespace(assumed={}))
    rows = json.loads(path.read_text())["programs"]
    assert [(row["device"], row["number"]) for row in rows] == [("a", 1), ("b", 2)]


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

    device["temporary"] = 3_000_000_000
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
    assert check.main(["some", *OPTIONS, "--batch-size", "60", "--devices", "8"]) == 1
    assert "8 devices can't share a batch of 60" in capsys.readouterr().err
    assert check.main(["some", "--data", "coco", "--train-images", "0"]) == 1
    assert "give --train-images" in capsys.readouterr().err


def test_without_a_name_or_a_plugin(check, monkeypatch, capsys):
    assert check.main(OPTIONS) == 1
    assert "this machine has no GPU: name one" in capsys.readouterr().err
    monkeypatch.setattr(xla_gpu, "find_spec", lambda name: None)
    assert check.main(["h100", *OPTIONS]) == 1
    assert "pip install 'jax[cuda12]'" in capsys.readouterr().err


@pytest.mark.long
def test_counts_are_those_of_the_results(tmp_path):
    """The step for an H200 in bf16, compiled anew: minutes."""
    try:
        xla_gpu.plugin()
    except xla_gpu.NoPlugin as error:
        pytest.skip(str(error))
    path = tmp_path / "found.json"
    subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu.program", "--sides", "PyTensor", "--json", path],
        cwd=ROOT,
        env=os.environ | {"PYTENSOR_FLAGS": ""},
        check=True,
    )
    (found,) = json.loads(path.read_text())["programs"]
    names = "device", "what", "side", "precision", "batch size", "image size", "devices"
    (known,) = (
        row
        for row in json.loads(RESULTS.read_text())["programs"]
        if all(row[name] == found[name] for name in names)
    )
    for name in ("kernels", "bytes"):
        assert found[name] == pytest.approx(known[name], rel=0.02)
    assert found["memory"]["temporary"] == pytest.approx(known["memory"]["temporary"], rel=0.02)
