"""What --preset auto chooses for a data set, and what the command line leaves to it."""

from data.formats import read_part
from training.checkpoint import REAL_WEIGHTS
from training.options import parse_arguments
from training.preset import CHOSEN, Facts, choices, choose, facts_of

from tests.examples.yolo11n.data import writers
from tests.examples.yolo11n.training.runs import SIZE, write_data


def test_sizes_lengths_and_averages():
    # The tutorial's options for its 205 pictures of blood cells.
    o = choices(Facts(205, 3500, 3, 0.06), {})
    assert o == {
        "image_size": 256, "batch_size": 8, "nominal_batch": 8, "epochs": 20,
        "warmup_epochs": 1.0, "close_mosaic": 5, "ema_decay": 0.99, "ema_steps": 100.0,
        "val_every": 2, "build_page": True,
    }  # fmt: skip
    assert tuple(sorted(o)) == tuple(sorted(CHOSEN))
    few = choices(Facts(14, 30, 3, 0.06), {})
    assert (few["epochs"], few["warmup_epochs"], few["val_every"]) == (100, 5.0, 10)
    assert choices(Facts(3, 5, 1, 0.5), {})["batch_size"] == 3
    many = choices(Facts(20_000, 10**5, 2, 0.02), {})
    assert (many["image_size"], many["batch_size"], many["epochs"]) == (640, 32, 20)
    assert (many["ema_decay"], many["ema_steps"]) == (0.999, 500)
    assert choices(Facts(9, 9, 1, 0.001), {})["image_size"] == 640
    fixed = choices(Facts(205, 3500, 3, 0.06), {"epochs": 60, "batch_size": 16})
    assert (fixed["epochs"], fixed["batch_size"], fixed["nominal_batch"]) == (60, 16, 16)
    assert fixed["close_mosaic"] == 15
    # Classes that are kept were trained at 320 px.
    assert choices(Facts(205, 3500, 3, 0.06), {}, 320)["image_size"] == 320
    assert choices(Facts(205, 3500, 3, 0.02), {}, 320)["image_size"] == 640


def test_facts(tmp_path):
    facts = facts_of(read_part(write_data(tmp_path / "coco"), "train"))
    assert facts[:3] == (12, 16, 2)
    assert 24 / SIZE <= facts.side < 30 / SIZE
    writers.yolo(tmp_path / "yolo")
    assert abs(facts_of(read_part(tmp_path / "yolo", "train")).side - 6.8 / 40) < 0.03
    for path in (tmp_path / "yolo/images").rglob("*.png"):
        path.write_bytes(b"")
    assert facts_of(read_part(tmp_path / "yolo", "train")).side == 1


def test_the_command_line_goes_first(tmp_path, capsys):
    data = write_data(tmp_path / "coco")
    o = parse_arguments("", ["--data", str(data), "--epochs", "7", "--no-build-page"])
    assert (o.preset, o.classes, o.weights) == ("auto", None, REAL_WEIGHTS)
    choose(o, read_part(data, "train"))
    assert (o.epochs, o.build_page, o.batch_size, o.image_size) == (7, False, 4, 256)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("preset auto, for 12 training images with 16 boxes of 2 classes")
    assert lines[-1].startswith("warning: 12 images and 21 steps: expect little;")
    for more in (["--preset", "none"], ["--preset", "cpu"], ["--data", "coco"]):
        assert not parse_arguments("", ["--data", str(data), *more]).auto
    assert parse_arguments("", []).classes == ["person", "cell phone"]
    assert parse_arguments("", ["--data", "coco", str(data)]).classes is None
