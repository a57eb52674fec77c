"""The Triton model repository: the configuration is parsed as Triton would, field by field."""

import numpy as np
import onnx
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from serve_triton import main, triton_config, write_repository

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx

STRING, INT32, INT64, MESSAGE, ENUM = 9, 5, 3, 11, 14
# The fields of inference.ModelConfig that are written, with the types of Triton's
# model_config.proto; the text format knows fields by name.
MESSAGES = {
    "Reshape": [("shape", INT64, None, True)],
    "Tensor": [
        ("name", STRING, None, False),
        ("data_type", ENUM, "DataType", False),
        ("dims", INT64, None, True),
        ("reshape", MESSAGE, "Reshape", False),
    ],
    "InstanceGroup": [("count", INT32, None, False), ("kind", ENUM, "Kind", False)],
    "DynamicBatching": [
        ("preferred_batch_size", INT32, None, True),
        ("max_queue_delay_microseconds", INT64, None, False),
    ],
    "ModelConfig": [
        ("name", STRING, None, False),
        ("backend", STRING, None, False),
        ("max_batch_size", INT32, None, False),
        ("input", MESSAGE, "Tensor", True),
        ("output", MESSAGE, "Tensor", True),
        ("instance_group", MESSAGE, "InstanceGroup", True),
        ("dynamic_batching", MESSAGE, "DynamicBatching", False),
    ],
}
ENUMS = {
    "DataType": ["TYPE_INVALID", "TYPE_FP32", "TYPE_FP64", "TYPE_INT64", "TYPE_BOOL"],
    "Kind": ["KIND_AUTO", "KIND_GPU", "KIND_CPU"],
}


@pytest.fixture(scope="module")
def parse():
    file = descriptor_pb2.FileDescriptorProto(name="config.proto", package="t", syntax="proto3")
    for name, values in ENUMS.items():
        enum = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (field, kind, of, repeated) in enumerate(fields, start=1):
            message.field.add(
                name=field,
                number=number,
                type=kind,
                type_name=None if of is None else f".t.{of}",
                label=3 if repeated else 1,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    config = message_factory.GetMessageClass(pool.FindMessageTypeByName("t.ModelConfig"))
    return lambda text: text_format.Parse(text, config())


def export(path, batch=None, dynamic_axes=None, **options):
    images = pt.tensor("images", shape=(batch, 3, 8, 10), dtype="float32")
    w = pytensor.shared(np.ones((4, 3, 1, 1), "float32"), name="w")
    boxes = pt.conv2d(images, w).reshape((images.shape[0], 4, 80))
    return export_onnx(
        images, boxes, path, output_names="boxes", dynamic_axes=dynamic_axes, **options
    )


def test_dynamic_batching(tmp_path, parse, capsys):
    file = tmp_path / "yolo11n.onnx"
    export(file, dynamic_axes={"images": {0: "N"}})
    assert main([str(file), str(tmp_path / "models"), "--max-batch", "12"]) == 0
    folder = tmp_path / "models" / "yolo11n"
    assert capsys.readouterr().out == f"wrote {folder}\n"
    assert (folder / "1" / "model.onnx").read_bytes() == file.read_bytes()
    config = parse((folder / "config.pbtxt").read_text())
    assert (config.name, config.backend, config.max_batch_size) == ("yolo11n", "onnxruntime", 12)
    (image,), (boxes,) = config.input, config.output
    assert (image.name, image.data_type, list(image.dims)) == ("images", 1, [3, 8, 10])
    assert (boxes.name, boxes.data_type, list(boxes.dims)) == ("boxes", 1, [4, 80])
    assert list(config.dynamic_batching.preferred_batch_size) == [4, 8, 12]
    assert config.dynamic_batching.max_queue_delay_microseconds == 2000
    assert config.instance_group[0].kind == 1


def test_fixed_batch(tmp_path, parse):
    config = parse(triton_config(export(None, batch=2), "m", device="cpu"))
    assert config.max_batch_size == 0
    assert list(config.input[0].dims) == [2, 3, 8, 10]
    assert not config.HasField("dynamic_batching")
    assert config.instance_group[0].kind == 2


def test_other_open_sizes_and_scalars(parse):
    x = pt.tensor("x", shape=(None, None), dtype="float64")
    model = export_onnx(x, [x * 2, (x > 0).all(), x.shape[0]])
    config = parse(triton_config(model, "m"))
    assert config.max_batch_size == 0
    assert list(config.input[0].dims) == [-1, -1]
    assert [o.data_type for o in config.output] == [2, 4, 3]
    # Triton has no tensors without axes: one of one element is reshaped.
    assert [o.HasField("reshape") for o in config.output] == [False, True, True]
    # Rows that depend on one another's number aren't a batch.
    square = export_onnx(x, x @ x.T, dynamic_axes={"x": {0: "N", 1: "M"}})
    assert parse(triton_config(square, "m")).max_batch_size == 0


def test_weights_beside_the_model_go_along(tmp_path):
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "net.onnx"
    x = pt.matrix("x", dtype="float32")
    w = pytensor.shared(np.ones((40, 40), "float32"), name="w")
    export_onnx(x, x @ w, file, external_data=True)
    folder = write_repository(file, tmp_path / "models", name="net-2", version=3)
    assert sorted(p.name for p in (folder / "3").iterdir()) == ["model.onnx", "net.onnx.data"]
    onnx.checker.check_model(folder / "3" / "model.onnx", full_check=True)


def test_errors_are_one_line(tmp_path, capsys):
    file = tmp_path / "net.onnx"
    export(file)
    models = str(tmp_path / "models")
    assert main([str(file), models, "--name", "a/b"]) == 1
    assert main([str(tmp_path / "other.onnx"), models]) == 1
    assert main([str(file), models]) == 0
    assert main([str(file), models]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3
    assert "'a/b' is no name" in errors[0]
    assert "other.onnx" in errors[1]
    assert "--overwrite" in errors[2]
    assert main([str(file), models, "--overwrite"]) == 0
