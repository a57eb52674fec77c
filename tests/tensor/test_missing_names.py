"""Names of PyTorch that are called otherwise here: the error says what to write."""

import pytest

import pytensor.tensor as pt
from pytensor import layers, optimizers
from pytensor.layers import init
from pytensor.optimizers import schedules
from tests.utils import REFERENCE_MODE

NET = layers.Sequential(layers.Linear(1, 1))


@pytest.mark.parametrize(
    ("owner", "name", "message"),
    [
        (pt.nn, "Conv2D", "'Conv2D': it has functions; layers are in pytensor.layers$"),
        (pt.nn, "functional", "'functional': use pt.nn$"),
        (pt.nn, "logSoftmax", "'logSoftmax': use log_softmax$"),
        (layers, "Conv2D", "'pytensor.layers' has no attribute 'Conv2D': use Conv2d$"),
        (layers, "Batchnorm2d", "use BatchNorm2d$"),
        (layers, "functional", "use pt.nn$"),
        (layers, "ModuleList", "write a list of layers as an attribute$"),
        (layers, "ModuleDict", "write a dict of layers as an attribute$"),
        (layers, "PReLU", r"self\.slope = layers\.parameter\(.*pt\.nn\.prelu\(x, self\.slope\)$"),
        (layers, "ReflectionPad2d", r"pt\.nn\.pad\(x, \.\.\., mode=\"reflect\"\)$"),
        (layers, "ConstantPad1d", r"pt\.nn\.pad\(x, \.\.\., mode=\"constant\"\)$"),
        (layers, "UpsamplingNearest2d", "pt.nn.interpolate$"),
        (layers, "DataLoader", "use layers.batches$"),
        (layers, "Identity", "lambda x: x$"),
        (layers, "no_grad", "leave it out"),
        (layers, "BCEWithLogitsLoss", "pt.nn.binary_cross_entropy_with_logits$"),
        (optimizers, "lr_scheduler", "use pytensor.optimizers.schedules$"),
        (optimizers, "RMSProp", "use RMSprop$"),
        (optimizers, "Adamw", "use AdamW$"),
        (optimizers, "Adm", "the nearest are Adam"),
        (schedules, "StepLR", "lambda step: "),
        (schedules, "step", "lambda step: "),
        (schedules, "OneCycle", "use one_cycle$"),
        (schedules, "OneCycleLR", "nearest are one_cycle$"),
        (schedules, "CosineAnnealingLR", "use cosine$"),
        (schedules, "ReduceLROnPlateau", "use pytensor.optimizers.ReduceLROnPlateau$"),
        (init, "kaiming_normal_", r"use init\.kaiming_normal\(\.\.\.\), in layers\.parameter"),
        (init, "zeros", r"init\.constant\(0\.0\)"),
        (init, "trunc_normal_", r"init\.truncated_normal\(std\)"),
        (NET, "train", r"Sequential has no attribute 'train': .*layers\.training\(\)"),
        (NET, "eval", r"layers\.training\(\)"),
        (NET, "forward", r"write net\(x\)$"),
        (NET, "to", "jax_mode"),
        (NET, "cuda", "jax_mode"),
        (NET, "zero_grad", "leave it out"),
        (NET, "statedict", "use state_dict$"),
        (NET, "Layers", "use layers$"),
        (NET, "__array__", "has no attribute '__array__'$"),
        (NET, "qqqq", "has no attribute 'qqqq'$"),
    ],
)  # fmt: skip
def test_a_missing_name_says_what_to_write(owner, name, message):
    with pytest.raises(AttributeError, match=message):
        getattr(owner, name)


def test_a_property_keeps_its_error():
    class Net(layers.Module):
        @property
        def width(self):
            return self.linear.weight.no_such

    net = Net()
    net.linear = layers.Linear(1, 1)
    with pytest.raises(AttributeError, match="no_such"):
        net.width  # noqa: B018


def test_the_lines_in_the_errors_work():
    slope = layers.parameter((1,), init.constant(0.25))
    layers.restart(slope, init.constant(0.0))
    y = pt.nn.prelu(pt.constant([-1.0, 2.0]), slope)
    assert y.eval(mode=REFERENCE_MODE).tolist() == [0.0, 2.0]
    rate = optimizers.SGD(lr=lambda step: 0.1 * 0.5 ** (step // 1000)).value_of("learning_rate")
    assert float(rate.eval(mode=REFERENCE_MODE)) == pytest.approx(0.1)
