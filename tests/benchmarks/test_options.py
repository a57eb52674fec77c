"""Options of benchmarks that make no sense are refused, with the reason."""

import os
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        ("step.train_step", "--sides torch --devices 2", "run on several"),
        ("onnx.inference", "m.onnx --variants int8", "give --data"),
        ("onnx.inference", "m.onnx --variants float16", "give a .safetensors"),
        ("onnx.inference", "m.onnx --image-size 64", "an ONNX file has its own"),
        ("onnx.inference", "m.onnx --rounds 0", "--rounds must be at least 1"),
        ("onnx.inference", "m.onnx --threads 0", "--threads must be at least 1"),
        ("page.browser", "m.onnx --frames 0", "--frames must be at least 1"),
        ("gpu.suite", "--quick --batches 1 2", "--quick takes one batch size"),
        ("pymc.start", "--what density,nuts", "--what has nuts; there are density, numpyro"),
    ],
)
def test_options_that_make_no_sense(program, arguments, message, capsys, monkeypatch):
    pytest.importorskip("pymc" if program.startswith("pymc") else "jax")
    monkeypatch.setenv("PYTENSOR_FLAGS", os.environ["PYTENSOR_FLAGS"])  # its own process's
    benchmark = import_module(f"benchmarks.{program}")
    monkeypatch.setattr("sys.argv", [program, *arguments.split()])
    with pytest.raises(SystemExit):
        benchmark.main()
    assert message in capsys.readouterr().err
