"""The command line: what makes no sense, presets, and the settings of train.sh."""

import json
import re
import shlex
from pathlib import Path

import model
import pytest
from training import options
from training.checkpoint import REAL_WEIGHTS
from training.options import make_recipe, parse_arguments, resumed_settings
from training.preset import CHOSEN
from training.recipe import Recipe
from training.run_folder import resume_command

ROOT = Path(__file__).parents[4]


def parse(*arguments):
    return parse_arguments("", [*arguments])


def test_specified_recipe_is_the_default():
    o = parse()
    assert make_recipe(o) == Recipe()
    assert (o.mosaic, o.close_mosaic, o.scale) == (1.0, 10, 0.5)
    assert (o.mode, o.precision, o.profile, o.device_augment) == ("JAX", "float32", None, "auto")
    assert parse("--profile").profile == 10
    assert parse("--mode", "numba").device_augment == "off"
    assert o.export_onnx == o.output_dir / "yolo11n_320_trained.onnx"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--epochs 0", "--epochs: must be at least 1, got 0"),
        ("--epochs 2.5", "--epochs: invalid int value: '2.5'"),
        ("--lr nan", "--lr: must be at least 0, got nan"),
        ("--optimizer auto --lr 0.02", "--optimizer auto chooses --lr, too: name an optimizer"),
        ("--momentum=0.8 --lr=1 --optimizer=auto", "auto chooses --lr, --momentum, too"),
        ("--momentum 1", "--momentum: must be at least 0 and below 1"),
        ("--ema-steps 0", "--ema-steps: must be above 0"),
        ("--mosaic 2", "--mosaic: must be from 0 to 1"),
        ("--background-share 1", "--background-share: must be at least 0 and below 1"),
        (
            "--background-share .5 --hard-share .5 --weights real",
            "--background-share and --hard-share add up to 1; the sum must be below 1",
        ),
        ("--freeze", "--freeze needs --weights: random weights know nothing to keep"),
        ("--keep-classes --weights none", "--keep-classes needs --weights"),
        ("--log mlflow", "--log: invalid choice: 'mlflow'"),
        ("--hard-share 0.2", "--hard-share needs --weights: random weights don't know"),
        ("--paste-on person", "--paste-on: must be CLASS_BELOW:CLASS_ABOVE[:P] with two classes"),
        ("--paste-on person:person", "with two classes and a probability, got person:person"),
        ("--paste-on a:b:0.5:1", "with two classes and a probability, got a:b:0.5:1"),
        ("--paste-on person:phone:2", "--paste-on: must be from 0 to 1, got 2"),
        ("--paste-on person:phone", "--paste-on: phone is none of the classes person, cell phone"),
        ("--scale 1", "--scale: must be at least 0 and below 1, got 1"),
        ("--scale 2:0.5", "--scale: a range LOW:HIGH must rise from above 0 to 10 at most"),
        ("--scale 0.5:nan", "to 10 at most, got 0.5:nan"),
        ("--scale 0.5:1:2", "--scale: invalid scale value: '0.5:1:2'"),
        ("--image-size 70", "--image-size: must be a multiple of 32, got 70"),
        ("--image-size 32 --batch-size 1", "leaves a normalization one number a channel"),
        ("--checkpoint-minutes nan", "--checkpoint-minutes: must be at least 0"),
        ("--classes person person", "--classes names one twice"),
        ("--data synthetic --val-images 0", "--val-images of --data synthetic must be at least 1"),
        ("--data x --train-images 5", "--train-images, --val-images and --data-dir are for"),
        ("--cache-dir x", "--cache-dir is for --cache disk"),
        ("--precision float16", "invalid choice: 'float16'"),
        ("--epochz=3", "unknown argument --epochz; did you mean --epochs?"),
        ("stray", "unknown argument stray (--help lists all options)"),
        ("--gpu", "unknown argument --gpu (--help lists all options)"),
        ("--mode FASTER", "--mode FASTER: No predefined mode exist for string: FASTER"),
        ("--mode NUMBA --device-augment on", "--device-augment on can only be had with"),
        (
            "--mode FAST_RUN --profile --devices 3 --precision bf16",
            "--precision bf16, --devices, --profile can only be had with --mode JAX, not FAST_RUN",
        ),
    ],
)
def test_options_that_make_no_sense(capsys, arguments, message):
    with pytest.raises(SystemExit) as error:
        parse(*arguments.split())
    assert error.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--data coco", (12000, 2000)),
        ("--data coco --train-images 0", (0, 2000)),
        ("--data synthetic", (1200, 300)),
        ("--data folder", (None, None)),
        ("--data folder:3 synthetic", (1200, 300)),
    ],
)
def test_numbers_of_images(arguments, expected):
    o = parse(*arguments.split())
    assert (o.train_images, o.val_images) == expected


def test_checkpoints_of_before_an_option_can_be_resumed():
    later = ["copy_paste", "paste_on", "background_share", "hard_share", "freeze"]
    given = {f"--{name.replace('_', '-')}": "0.25" for name in later[:-1]}
    given["--paste-on"] = "person:cell phone:0.25"
    settings = resumed_settings(parse("--weights", "real", "--freeze", *sum(given.items(), ())))
    paste_on = ["person", "cell phone", 0.25]
    assert [settings[name] for name in later] == [0.25, paste_on, 0.25, 0.25, True]
    settings = resumed_settings(parse())
    assert [name for name in options.RESUMED if name not in settings] == later
    assert resumed_settings(parse("--mosaic", "0"))["mosaic"] == 0


def test_options_of_several_values():
    o = parse("--paste-on", "person:cell phone", "--scale", "0.5:2")
    assert (o.paste_on, o.scale) == (("person", "cell phone", 0.5), (0.5, 2.0))
    assert parse("--paste-on", "cell phone:person:1").paste_on == ("cell phone", "person", 1.0)
    # A checkpoint keeps them as JSON, and a resumed run compares.
    settings = resumed_settings(o)
    assert json.loads(json.dumps(settings)) == settings
    assert settings["scale"] == [0.5, 2.0]


def test_the_guide_has_all_options():
    """In the groups of ``--help``, with their defaults, and the mark of what a preset chooses."""
    guide = (ROOT / "docs/tutorials/own_pictures.md").read_text().partition("\n## All options\n")[2]
    rows = re.findall(r"^\| `--(\S+)` \| (.*?) \| (.+) \|$", guide, re.MULTILINE)
    table = {name: default for name, default, _ in rows}
    actions = {
        next(o for o in a.option_strings if o.startswith("--"))[2:]: a
        for a in options.make_parser("")._actions
    }
    del actions["help"]
    assert [*table] == [*actions]
    for name, action in actions.items():
        default = table[name].removeprefix("auto, ")
        if action.default not in (None, False, []):
            shown = "on" if action.default is True else action.default
            shown = shown if isinstance(shown, list) else [shown]
            assert default == " ".join(map(str, shown)), name
        assert table[name].startswith("auto, ") == (action.dest in CHOSEN), name


def test_old_classes_are_kept_by_a_low_rate():
    keep = ["--weights", "real", "--keep-classes"]
    assert (parse(*keep).lr, parse(*keep).warmup_bias_lr) == (0.001, 0.0)
    assert (parse(*keep, "--lr", "0.01").lr, parse("--weights", "real").lr) == (0.01, 0.01)


def test_sizes_are_those_of_the_model():
    assert (*model.SIZES,) == options.SIZES


# ------------------------------------------------------------------------------ presets


def test_preset_of_a_cpu():
    o = parse("--preset", "cpu", "--epochs", "3")
    assert (o.data, o.image_size, o.batch_size, o.workers) == (["synthetic"], 192, 16, 1)
    assert (o.epochs, o.build_page) == (3, True)
    assert not parse("--preset", "cpu", "--no-build-page").build_page


@pytest.mark.parametrize(
    ("arguments", "promised"),
    [
        ("", True),
        ("--resume", True),
        ("--workers 2 --output-dir runs/b --no-build-page", True),
        ("--epochs 22", True),
        ("--epochs 21", False),
        ("--seed 3", False),
        ("--background-share 0.1", False),
        ("--paste-on person:cell\\ phone", False),
        ("--scale 0.5:1.5", False),
        ("--data own", False),
        ("--val-every 1", False),
    ],
)
def test_the_target_belongs_to_the_settings_of_the_preset(arguments, promised):
    given = ["--preset", "cpu", *shlex.split(arguments)]
    assert parse(*given).require_map50 == (options.CPU_MAP50 if promised else None)
    assert parse(*given, "--require-map50", "0.1").require_map50 == 0.1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--preset cpu", None),
        ("--preset gpu", None),
        ("--preset cpu --data own", REAL_WEIGHTS),
        ("--preset gpu --data own synthetic", REAL_WEIGHTS),
        ("--preset cpu --data own --weights none", None),
        ("--preset cpu --data own --weights a.onnx", Path("a.onnx")),
        ("--data own", REAL_WEIGHTS),
        ("--data own --preset none", None),
        ("--data own --size s", None),
        ("--data own --size s --weights real", REAL_WEIGHTS),
        ("--data synthetic --weights real", REAL_WEIGHTS),
    ],
)
def test_weights_to_start_from(arguments, expected):
    assert parse(*arguments.split()).weights == expected


# ------------------------------------------------------------------------------ settings


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Parse with lines in a settings file and variables of the environment."""
    for name in options.SETTINGS:
        monkeypatch.delenv(name, raising=False)

    def run(*arguments, lines=(), **environment):
        (tmp_path / ".env").write_text("\n".join(lines))
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return parse("--settings", str(tmp_path / ".env"), *arguments)

    return run


def test_several_data_sets(settings, tmp_path, capsys):
    assert settings(DATASET="a:3,b").data == ["a:3", "b"]
    (tmp_path / "a,b").mkdir()
    assert settings(DATASET=str(tmp_path / "a,b")).data == [str(tmp_path / "a,b")]
    for wrong, message in {
        "a:3 a": "names one twice", "a:0 b": "above 0", "coco synthetic": "one of coco, synthetic",
    }.items():  # fmt: skip
        with pytest.raises(SystemExit):
            parse("--data", *wrong.split())
        assert message in capsys.readouterr().err


def test_settings_file_and_environment(settings, tmp_path):
    lines = ["# a comment", "", "EPOCHS=7", 'export OUTPUT_DIR="a b"', "SEED='3'\r", "LR=0.5"]
    lines += ["CLASSES=person,cell phone,dog", "WEIGHTS=$(touch made)", "DATASET=--overwrite"]
    o = settings("--preset", "cpu", "--seed", "4", lines=lines, LR="0.25", VAL_EVERY="")
    assert (o.epochs, str(o.output_dir), o.lr, o.val_every) == (7, "a b", 0.25, 5)
    assert o.classes == ["person", "cell phone", "dog"]
    assert o.seed == 4  # the command line wins
    # Values are taken literally.
    assert (str(o.weights), o.data, o.overwrite) == ("$(touch made)", ["--overwrite"], False)
    # The command that goes on with the run needs neither file nor environment.
    words = shlex.split(resume_command(o.arguments))[2:]
    again = parse(*words, "--settings", str(tmp_path / "none"))
    assert {**vars(again), "resume": False, "settings": None, "arguments": None} == {
        **vars(o), "settings": None, "arguments": None
    }  # fmt: skip


def test_settings_are_read_only_if_asked_for(settings):
    assert settings(EPOCHS="7").epochs == 7
    assert parse().epochs == 100


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("EPOCHS 7", ".env, line 2: expected NAME=VALUE, found: EPOCHS 7"),
        ("$(touch made)=1", ".env, line 2: expected NAME=VALUE"),
        ("LD_PRELOAD=x", ".env, line 2: there is no setting LD_PRELOAD; there are DATASET, "),
        ("XLA_FLAGS=x", "what other programs read is set in the environment"),
        ("CLASSES=person,--overwrite", "CLASSES must be names separated by commas"),
        ("EPOCHS=ten", "--epochs: invalid int value: 'ten'"),
        ('OUTPUT_DIR="a" # mine', ".env, line 2: quotes are around all of a value"),
        ("OUTPUT_DIR=a  # mine", "and a comment is in a line of its own: OUTPUT_DIR=a  # mine"),
        ("OUTPUT_DIR='a", ".env, line 2: quotes are around all of a value"),
    ],
)
def test_settings_that_make_no_sense(settings, capsys, line, message):
    with pytest.raises(SystemExit):
        settings(lines=["SEED=1", line])
    assert message in capsys.readouterr().err.splitlines()[-1]
