"""Write a model repository for NVIDIA Triton Inference Server from an exported ONNX file.

    python export.py runs/yolo11n/best.safetensors yolo11n.onnx --dynamic-batch
    python serve_triton.py yolo11n.onnx models
    tritonserver --model-repository=models

Shapes and types are read from the file. A model with an open batch size gets dynamic batching:
Triton gathers requests that arrive within `--max-delay` into one call.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

import onnx

TYPES = {
    onnx.TensorProto.BOOL: "TYPE_BOOL",
    onnx.TensorProto.UINT8: "TYPE_UINT8",
    onnx.TensorProto.UINT16: "TYPE_UINT16",
    onnx.TensorProto.UINT32: "TYPE_UINT32",
    onnx.TensorProto.UINT64: "TYPE_UINT64",
    onnx.TensorProto.INT8: "TYPE_INT8",
    onnx.TensorProto.INT16: "TYPE_INT16",
    onnx.TensorProto.INT32: "TYPE_INT32",
    onnx.TensorProto.INT64: "TYPE_INT64",
    onnx.TensorProto.FLOAT16: "TYPE_FP16",
    onnx.TensorProto.FLOAT: "TYPE_FP32",
    onnx.TensorProto.DOUBLE: "TYPE_FP64",
}


class RepositoryError(Exception):
    """The model can't be served, or the repository can't be written."""


def triton_config(model, name, *, max_batch_size=16, max_delay_us=2000, device="gpu"):
    """The ``config.pbtxt`` of a model.

    Parameters
    ----------
    model : onnx.ModelProto
    name : str
    max_batch_size : int
        For models whose inputs and outputs all begin with one open axis; others get no batching.
    max_delay_us : int
        How long a request may wait for others, in microseconds.
    device : {"gpu", "cpu"}

    Returns
    -------
    str
        Text format of Triton's ``ModelConfig``.
    """
    interface = [*model.graph.input, *model.graph.output]
    batched = has_open_batch(interface)
    lines = [
        f'name: "{name}"',
        'backend: "onnxruntime"',
        f"max_batch_size: {max_batch_size if batched else 0}",
        *_tensors("input", model.graph.input, batched),
        *_tensors("output", model.graph.output, batched),
        f"instance_group [ {{ count: 1, kind: KIND_{device.upper()} }} ]",
    ]
    if batched:
        sizes = [size for size in (4, 8, 16, 32, 64, 128) if size < max_batch_size]
        preferred = ", ".join(map(str, [*sizes, max_batch_size]))
        lines += [
            "dynamic_batching {",
            f"  preferred_batch_size: [ {preferred} ]",
            f"  max_queue_delay_microseconds: {max_delay_us}",
            "}",
        ]
    return "\n".join(lines) + "\n"


def has_open_batch(interface):
    """Whether all tensors begin with an axis of the same unknown size, which no other axis has."""
    first, others = set(), set()
    for info in interface:
        sizes = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in _dims(info)]
        first.add(sizes[0] if sizes else None)
        others.update(sizes[1:])
    (name, *different) = first
    return isinstance(name, str) and name != "" and not different and name not in others


def _dims(info):
    return info.type.tensor_type.shape.dim


def _tensors(key, infos, batched):
    for info in infos:
        element = info.type.tensor_type.elem_type
        if element not in TYPES:
            kind = onnx.TensorProto.DataType.Name(element)
            raise RepositoryError(f"Triton has no type for {info.name!r} of {kind}")
        dims = list(_dims(info))[batched:]
        # Triton writes an open size as -1, and wants one axis at least.
        sizes = [d.dim_value if d.HasField("dim_value") else -1 for d in dims]
        shape = "" if sizes else ", reshape: { shape: [ ] }"
        sizes = ", ".join(map(str, sizes or [1]))
        yield (
            f'{key} [ {{ name: "{info.name}", data_type: {TYPES[element]}, '
            f"dims: [ {sizes} ]{shape} }} ]"
        )


def write_repository(onnx_file, repository, *, name=None, version=1, overwrite=False, **options):
    """Write ``<repository>/<name>/config.pbtxt`` and ``<repository>/<name>/<version>/model.onnx``.

    Parameters
    ----------
    onnx_file, repository : path-like
    name : str, optional
        Default the file's, without its suffix.
    version : int
    overwrite : bool
        Whether a version that is there already may be replaced.
    **options
        For `triton_config`.

    Returns
    -------
    Path
        The model's folder.
    """
    onnx_file = Path(onnx_file)
    name = name or onnx_file.stem
    if not re.fullmatch(r"[A-Za-z0-9_.\-]+", name):
        raise RepositoryError(f"{name!r} is no name for a model: letters, digits, _ . and - only")
    model = onnx.load(onnx_file, load_external_data=False)
    config = triton_config(model, name, **options)
    folder = Path(repository, name)
    target = folder / str(version) / "model.onnx"
    if target.exists() and not overwrite:
        raise RepositoryError(f"{target} is there already; use --overwrite or another --version")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(onnx_file, target)
    for data in {
        entry.value
        for tensor in model.graph.initializer
        for entry in tensor.external_data
        if entry.key == "location"
    }:
        shutil.copyfile(onnx_file.parent / data, target.parent / data)
    (folder / "config.pbtxt").write_text(config)
    return folder


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("onnx", help="exported model")
    parser.add_argument("repository", help="folder of models, made if it isn't there")
    parser.add_argument("--name", help="default: the file's name")
    parser.add_argument("--version", type=int, default=1)
    parser.add_argument("--max-batch", type=int, default=16)
    parser.add_argument("--max-delay", type=int, default=2000, help="microseconds")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--overwrite", action="store_true")
    options = parser.parse_args(arguments)
    try:
        folder = write_repository(
            options.onnx,
            options.repository,
            name=options.name,
            version=options.version,
            overwrite=options.overwrite,
            max_batch_size=options.max_batch,
            max_delay_us=options.max_delay,
            device=options.device,
        )
    except (RepositoryError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"wrote {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
