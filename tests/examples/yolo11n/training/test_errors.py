"""What ends train_yolo11n.py before it trains: one line on stderr, and nothing is lost."""

import os
import shutil

import jax
import pytest
import train_yolo11n
from data import loader
from data.listing import DataError
from filelock import FileLock

from tests.examples.conftest import CLASSES, edit
from tests.examples.yolo11n.training.runs import command, write_data
from tests.utils import error_line


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


def fails(capsys, *arguments):
    """Return the one line that a run ends with."""
    assert train_yolo11n.main([*map(str, arguments)]) == 1
    return error_line(capsys)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--classes", "person", "giraffe"], "no category ['giraffe']; available: "),
        (["--weights", "{tmp}/none.safetensors", "--data", "{tmp}/none"], "no such file"),
        (["--preset", "gpu"], "--preset gpu: JAX finds no GPU. Run 'bash setup.sh --gpu'"),
        (["--devices", "99"], "99 devices asked for"),
        (["--background-share", "0.5"], "0 of the 12 training images are background images"),
    ],
)
def test_one_line_for_what_cannot_work(data, tmp_path, capsys, arguments, message):
    arguments = [a.format(tmp=tmp_path) for a in arguments]
    own = command(data, "--epochs", 2, "--output-dir", tmp_path / "out", "--batch-size", 99)
    assert message in fails(capsys, *own, *arguments)


def test_two_trainings_in_one_folder(data, tmp_path, capsys):
    own = command(data, "--output-dir", tmp_path)
    with FileLock(tmp_path / ".lock"):
        assert f"another training is running in {tmp_path}" in fails(capsys, *own)
    assert os.listdir(tmp_path) == [".lock"]
    assert "no category ['giraffe']" in fails(capsys, *own, "--classes", "giraffe")


@pytest.fixture
def stopped(monkeypatch):
    """End runs where the step would be compiled; list the most boxes of an image in each."""
    most = []

    def stop(_model, _size, _batch, max_boxes, *_, **__):
        most.append(max_boxes)
        raise DataError("stopped")

    monkeypatch.setattr(train_yolo11n, "TrainStep", stop)
    return most


@pytest.mark.usefixtures("stopped")
def test_a_batch_of_more_images_than_there_are(data, tmp_path, capsys):
    for size, warned in ((12, False), (13, True)):
        arguments = command(data, "--output-dir", tmp_path, "--batch-size", size)
        assert train_yolo11n.main(arguments) == 1
        said = "warning: --batch-size 13 is more than the 12 training images"
        out = capsys.readouterr().out
        assert (said in out) == warned
        assert "compiling the training step: about a minute" in out


def test_data_without_boxes_of_the_classes(data, tmp_path, capsys):
    root = shutil.copytree(data, tmp_path / "data")
    edit(root, lambda content: content.update(annotations=[]), "val")
    err = fails(capsys, *command(root, "--output-dir", tmp_path / "out"))
    assert err == f"error: the validation set has no box of {', '.join(CLASSES)}\n"
    # An earlier run would not have been touched, and the log knows why.
    assert sorted(os.listdir(tmp_path / "out")) == [".lock", "train.log"]
    assert "the validation set has no box" in (tmp_path / "out" / "train.log").read_text()


def test_a_crowded_picture_is_named(data, stopped, tmp_path, monkeypatch, capsys):
    """Before the step is compiled, whose arrays have as many rows as a mosaic of such pictures."""
    monkeypatch.setattr(loader, "LARGE", 2500)
    own = command(data, "--output-dir", tmp_path, "--mosaic", 1)
    said = "2.png has 2 boxes: a training image has room for 8, up to"
    for more, most in (([], 8), (["--max-boxes", 100], 8), (["--max-boxes", 1], 1)):
        assert train_yolo11n.main([*own, *map(str, more)]) == 1
        out = capsys.readouterr().out
        assert stopped.pop() == most
        assert (said in out) == (most == 8)
        assert ("2.png: has 2 boxes, more than --max-boxes 1" in out) == (most == 1)


@pytest.mark.parametrize(
    ("reason", "known"),
    [("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.", True),
     ("INTERNAL: something else", False)],
)  # fmt: skip
def test_full_memory_of_the_device(data, tmp_path, monkeypatch, capsys, reason, known):
    """A bug shows its traceback, in the log, too."""

    def fail(*_, **settings):
        raise jax.errors.JaxRuntimeError(f"{reason}\nmany more lines")

    monkeypatch.setattr(train_yolo11n, "TrainStep", fail)
    own = command(data, "--output-dir", tmp_path)
    if known:
        message = f"memory is full ({reason}); try a smaller --batch-size"
        assert message in fails(capsys, *own)
    else:
        with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
            train_yolo11n.main(own)
        assert ", in fail" in (tmp_path / "train.log").read_text()
