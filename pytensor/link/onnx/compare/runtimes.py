"""What runs a model: onnxruntime at its levels, onnx's reference evaluator, any program."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import onnx
from pytensor.link.onnx.compare.base import Runtime, RuntimeFailure, Values
from pytensor.link.onnx.compare.graph import ComparisonError
from pytensor.link.onnx.settings import require_onnxruntime

LEVELS = {"ort": "ORT_ENABLE_ALL", "ort-basic": "ORT_ENABLE_BASIC", "ort-off": "ORT_DISABLE_ALL"}
WEB = {"web-wasm": "wasm", "web-webgpu": "webgpu"}
DEFAULT = (*LEVELS, "reference")
SECONDS = 600  # for a program


class ORT(Runtime):
    """Runs models by onnxruntime on the processor, at one of its levels of optimization."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.onnxruntime = require_onnxruntime("comparing runtimes")
        self.level = LEVELS[name]
        self.script = (
            "import onnxruntime\n"
            "options = onnxruntime.SessionOptions()\n"
            f"level = onnxruntime.GraphOptimizationLevel.{self.level}\n"
            "options.graph_optimization_level = level\n"
            'session = onnxruntime.InferenceSession("model.onnx", options)\n'
            "outputs = session.run(None, {})\n"
        )

    def run(self, proto: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Values:
        """Return a model's outputs by name."""
        options = self.onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = getattr(
            self.onnxruntime.GraphOptimizationLevel, self.level
        )
        try:
            session = self.onnxruntime.InferenceSession(
                proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
            results = session.run(None, dict(inputs))
        # onnxruntime's errors have no common class but this
        except Exception as error:
            raise RuntimeFailure(str(error)) from error
        return dict(zip([v.name for v in session.get_outputs()], results, strict=True))


class Reference(Runtime):
    """Runs models by onnx's reference evaluator, in Python."""

    script = (
        "from onnx.reference import ReferenceEvaluator\n"
        'outputs = ReferenceEvaluator("model.onnx").run(None, {})\n'
    )

    def run(self, proto: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Values:
        """Return a model's outputs by name."""
        from onnx.reference import ReferenceEvaluator

        try:
            with np.errstate(all="ignore"):
                results = ReferenceEvaluator(proto).run(None, dict(inputs))
        # Operators of the evaluator raise whatever NumPy does
        except Exception as error:
            raise RuntimeFailure(f"{type(error).__name__}: {error}") from error
        names = [v.name for v in proto.graph.output]
        return {n: np.asarray(x) for n, x in zip(names, results, strict=True)}


class Program(Runtime):
    """Runs models by a command, to which ``MODEL.onnx INPUTS.npz OUTPUTS.npz`` is appended."""

    def __init__(self, command: str) -> None:
        super().__init__(command)
        self.words = shlex.split(command)
        # `show.py` runs in its own folder.
        there = [os.path.abspath(w) if os.path.isfile(w) else w for w in self.words]
        words = ", ".join(map(repr, there))
        self.script = (
            "import subprocess\n"
            f'files = ["model.onnx", "inputs.npz", "outputs.npz"]\n'
            f"subprocess.run([{words}, *files], check=True)\n"
            'outputs = list(np.load("outputs.npz").values())\n'
        )

    def run(self, proto: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Values:
        """Return a model's outputs by name."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("model.onnx", "inputs.npz", "outputs.npz")]
            onnx.save(proto, paths[0])
            np.savez(paths[1], **inputs)
            try:
                subprocess.run(
                    [*self.words, *paths], check=True, capture_output=True, timeout=SECONDS
                )
            except OSError as error:
                raise RuntimeFailure(f"{self.words[0]}: {error.strerror}") from error
            except subprocess.TimeoutExpired as error:
                raise RuntimeFailure(f"no result after {SECONDS} s") from error
            except subprocess.CalledProcessError as error:
                said = error.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
                raise RuntimeFailure(f"exit code {error.returncode}: {said[-1]}") from error
            if not paths[2].exists():
                raise RuntimeFailure("the program wrote no outputs, though its exit code is 0")
            with np.load(paths[2]) as file:
                results = dict(file.items())
        wanted = [v.name for v in proto.graph.output]
        if missing := [name for name in wanted if name not in results]:
            raise RuntimeFailure(
                f"the program's outputs lack {missing[0]!r}; it wrote {[*results]}"
            )
        return {name: results[name] for name in wanted}


class Function(Runtime):
    """Runs models by a function of a model and inputs by name that returns outputs by name."""

    def __init__(self, function: Callable[[onnx.ModelProto, Values], Values]) -> None:
        super().__init__(getattr(function, "__name__", repr(function)))
        self.function = function

    def run(self, proto: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Values:
        """Return a model's outputs by name."""
        return self.function(proto, dict(inputs))


def open_runtimes(
    names: Sequence[str | Callable[..., Any] | Runtime], ort_web: str | None = None
) -> list[Runtime]:
    """Return runtimes by their names; any other word is a program's command.

    Raises
    ------
    ComparisonError
        If a web one is named without the folder of onnxruntime-web.
    """
    found: list[Runtime] = []
    for name in names:
        if isinstance(name, Runtime):
            found.append(name)
        elif not isinstance(name, str):
            found.append(Function(name))
        elif name in LEVELS:
            found.append(ORT(name))
        elif name == "reference":
            found.append(Reference(name))
        elif name in WEB:
            if ort_web is None:
                raise ComparisonError(
                    f"{name} needs the folder of onnxruntime-web: npm install onnxruntime-web, "
                    f"and --ort-web node_modules/onnxruntime-web"
                )
            from pytensor.link.onnx.compare.web import Web

            found.append(Web(name, WEB[name], ort_web))
        else:
            found.append(Program(name))
    return found
