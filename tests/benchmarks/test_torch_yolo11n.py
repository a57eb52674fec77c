"""YOLO11n in PyTorch, which the benchmarks time, against the golden vectors."""

import numpy as np
import pytest

from tests.examples import yolo11n_golden as golden

torch = pytest.importorskip(
    "torch", reason="PyTorch isn't installed: it is a side of benchmarks alone"
)
theirs = pytest.importorskip("benchmarks.common.torch_yolo11n")

LEVELS = ("p3", "p4", "p5")


@pytest.fixture
def model():
    net = theirs.YOLO11n(2)
    shapes = {name: value.shape for name, value in net.state_dict().items()}
    weights = {
        name: golden.weight(name, shape)
        for name, shape in shapes.items()
        if not name.endswith("num_batches_tracked")
    }
    net.load_arrays(weights)
    return net.train()


def targets():
    return theirs.Targets(*map(torch.tensor, golden.targets("main", max_boxes=8)))


def test_maps_and_statistics(model):
    with torch.no_grad():
        maps = model(torch.tensor(golden.images()))
    expected = golden.load_arrays(golden.CORE / "train_nc2.npz")
    for level, m in zip(LEVELS, maps, strict=True):
        np.testing.assert_allclose(m[:, :64], expected[f"box_{level}"], atol=1e-3, rtol=0)
        np.testing.assert_allclose(m[:, 64:], expected[f"cls_{level}"], atol=1e-3, rtol=0)
    state = model.state_dict()
    for name, value in golden.load_arrays(golden.CORE / "bn_after_train_nc2.npz").items():
        np.testing.assert_allclose(state[name], value, atol=1e-5, rtol=0, err_msg=name)


@pytest.mark.parametrize(
    ("case", "rtol"), [("main", 1e-5), ("empty", 1e-5), ("tiny", 1e-4), ("dense", 1e-5)]
)
def test_loss(model, case, rtol):
    arrays = golden.load_arrays(golden.CORE / "train_nc2.npz")
    maps = [
        torch.tensor(np.concatenate([arrays[f"box_{p}"], arrays[f"cls_{p}"]], axis=1))
        for p in LEVELS
    ]
    boxes = theirs.Targets(*map(torch.tensor, golden.targets(case, max_boxes=32)))
    total, parts = theirs.yolo_loss(maps, boxes, model.model[-1].dfl)
    expected = golden.load_json("loss_nc2.json")[case]
    for name, value in parts.items():
        np.testing.assert_allclose(value.item(), expected[name[:3]], rtol=rtol, err_msg=name)
    np.testing.assert_allclose(total.item(), expected["total"], rtol=rtol)


def test_first_steps_of_the_golden_trajectory(model):
    step = theirs.TrainStep(model, weight_decay=5e-4)
    images = torch.tensor(golden.images())
    for row in golden.load_json("trajectory_nc2.json")["float32"][:3]:
        parts, norm = step(images, targets(), (0.002, 0.002, 0.937), row["ema_decay"])
        got = [*(part.item() for part in parts.values()), norm.item()]
        keys = ["box", "cls", "dfl", "grad_norm_before_clip"]
        np.testing.assert_allclose(got, [row[key] for key in keys], rtol=1e-3)


def test_names_that_differ(model):
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    weights["other"] = weights.pop("model.0.conv.weight")
    with pytest.raises(ValueError, match=r"missing \['model.0.conv.weight'\], unknown \['other'\]"):
        model.load_arrays(weights)


def test_autocast_convolves_in_bf16_and_keeps_parameters(model):
    step = theirs.TrainStep(model, weight_decay=0.0, precision="bf16")
    seen = []
    model.model[4].cv2.conv.register_forward_hook(lambda *call: seen.append(call[2].dtype))
    images = torch.tensor(golden.images(size=64))
    parts, _ = step(images, targets(), (0.0, 0.0, 0.9), 0.5)
    assert seen == [torch.bfloat16]
    assert {part.dtype for part in parts.values()} == {torch.float32}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
