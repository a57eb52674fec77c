"""Names, start values and state dicts of modules, and the graphs of training."""

import copy
import pickle
from itertools import combinations

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.optimizers import SGD, Adam
from tests.utils import REFERENCE_MODE


class Block(layers.Module):
    def __init__(self, width):
        self.m = [layers.Linear(width, width), [layers.BatchNorm(width)]]
        self.ends = {"first": layers.Linear(width, 1), "second": layers.Linear(width, 1)}
        self.scale = pytensor.shared(np.ones(width))
        self.bins = layers.buffer(np.arange(width))


def test_names_are_paths():
    net = layers.Sequential(pt.nn.relu, Block(2))
    assert [*net.state_dict()] == [
        "1.m.0.weight", "1.m.0.bias", "1.m.1.0.weight", "1.m.1.0.bias", "1.m.1.0.running_mean",
        "1.m.1.0.running_var", "1.ends.first.weight", "1.ends.first.bias", "1.ends.second.weight",
        "1.ends.second.bias", "1.scale", "1.bins",
    ]  # fmt: skip
    assert all(variable.name == name for name, variable in net.named_variables().items())
    assert [*net.named_buffers()] == ["1.m.1.0.running_mean", "1.m.1.0.running_var", "1.bins"]
    assert {*net.named_parameters()} == {*net.state_dict()} - {*net.named_buffers()}
    # a part has names of its own, and leaves those of the whole
    block = net[1]
    assert "m.0.weight" in block.state_dict()
    assert block.m[0].weight.name == "1.m.0.weight"


def test_modules():
    block, shared = Block(2), layers.Linear(2, 2)
    net = layers.Sequential(pt.nn.relu, shared, block, shared)
    (linear, (norm,)), ends = block.m, block.ends.values()
    assert net.modules() == [net, shared, block, linear, norm, *ends]


def test_frozen():
    """The copy keeps today's values and what is shared, and has its running statistics fixed."""
    shared = layers.Linear(2, 2)
    net = layers.Sequential(shared, layers.BatchNorm(2), layers.Dropout(0.5), shared)
    x, value = pt.matrix("x"), np.arange(6.0).reshape(3, 2)
    frozen, expected = net.frozen(), net(x).eval({x: value}, mode="FAST_COMPILE")
    assert frozen[0] is frozen[3]
    assert [*frozen.named_variables()] == ["2.rng"]
    assert frozen[2].rng is net[2].rng
    net.initialize(seed=1)
    net[1].running_mean.set_value(np.ones(2))
    np.testing.assert_array_equal(frozen(x).eval({x: value}, mode="FAST_COMPILE"), expected)
    with layers.training() as updates:
        frozen(x)
    assert [*updates] == [net[2].rng]
    assert frozen.parameters() == []
    assert frozen[0].weight.name == "0.weight"


def test_start_values_depend_on_the_name_alone():
    def net(*more):
        return layers.Sequential(layers.Linear(3, 3), *more, layers.Linear(3, 3))

    small, large = net(), layers.Sequential(*net().layers, layers.Linear(3, 8))
    values = small.state_dict()
    assert not np.array_equal(values["0.weight"], values["1.weight"])
    for name, value in values.items():
        np.testing.assert_array_equal(value, large.state_dict()[name])
    large.initialize(seed=1)
    assert not np.array_equal(values["0.weight"], large.state_dict()["0.weight"])
    large.initialize()
    np.testing.assert_array_equal(values["0.weight"], large.state_dict()["0.weight"])


def test_what_was_set_stays_in_a_larger_module():
    first, second, third = (layers.Linear(2, 2) for _ in range(3))
    drawn = first.weight.get_value()
    second.weight.set_value(2 * drawn)
    x = pt.matrix("x")
    loss = third(x).sum()
    step = pytensor.function([x], [], updates=SGD(0.1).minimize(loss, third), mode="FAST_COMPILE")
    step(np.ones((1, 2)))
    trained = third.weight.get_value()
    net = layers.Sequential(first, second, third)
    values = net.state_dict()
    assert not np.array_equal(values["0.weight"], drawn)  # has the value of its new name
    np.testing.assert_array_equal(values["1.weight"], 2 * drawn)
    np.testing.assert_array_equal(values["2.weight"], trained)


def test_layers_that_are_added_later_get_names_and_values():
    net = layers.Sequential(layers.Linear(2, 2))
    net.layers += [layers.Linear(2, 2), layers.Linear(2, 2)]
    assert [v.name for v in net.parameters()][2:] == ["1.weight", "1.bias", "2.weight", "2.bias"]
    values = net.state_dict()
    assert not np.array_equal(values["1.weight"], values["2.weight"])


def test_shared_and_circular_modules():
    class Tied(layers.Module):
        def __init__(self):
            self.encode = layers.Linear(2, 2, bias=False)
            self.decode = self.encode
            self.itself = self

    net = Tied()
    assert [*net.state_dict()] == ["encode.weight", "decode.weight"]  # both, as in PyTorch
    assert net.parameters() == [net.encode.weight]
    assert net.encode.weight.name == "encode.weight"


def test_copies_are_networks_of_their_own():
    net = layers.Sequential(layers.Linear(2, 2), layers.Dropout())
    before = net.state_dict()["0.weight"]
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert [v.name for v in other.parameters()] == ["0.weight", "0.bias"]
        other.initialize(seed=1)
        assert not np.array_equal(other.state_dict()["0.weight"], before)
    np.testing.assert_array_equal(net.state_dict()["0.weight"], before)


def test_dtypes_follow_floatx():
    with pytensor.config.change_flags(floatX="float32"):
        net = layers.Sequential(
            layers.Conv2d(1, 4, 3), layers.BatchNorm(4), layers.GroupNorm(2, 4), layers.Dropout(),
            pt.nn.gelu, layers.InstanceNorm(4), lambda x: x.mean((2, 3)),
            layers.LayerNorm(np.int64(4)), layers.RMSNorm(4), layers.Linear(4, 6),
            lambda x: x.reshape((2, 3, 2)), layers.LSTM(2, 3), lambda y: layers_gru(y[0])[0],
        )  # fmt: skip
        layers_gru = layers.GRU(3, 3)
        x = pt.tensor("x", dtype="float32", shape=(2, 1, 8, 8))
        with layers.training() as updates:
            y = net(x)
        loss = y.mean()
        new = Adam(lr=0.1, weight_decay=0.01).minimize(loss, net, updates)
    assert y.type.dtype == loss.type.dtype == "float32"
    wide = [v for v in pytensor.graph.traversal.ancestors([loss, *new.values()])
            if getattr(v.type, "dtype", "") == "float64" and v.type.ndim]  # fmt: skip
    assert not wide
    for variable, value in new.items():
        assert variable.type.is_super(value.type) or variable.type == value.type


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_instance_norm_without_a_batch(ndim):
    """Its first axis has the channels, as in PyTorch: not examples of another number of axes."""
    norm = getattr(layers, f"InstanceNorm{ndim}d")(3)
    x = np.random.default_rng(0).normal(size=(3, 4, 5, 6)[: ndim + 1])
    expected = norm(x[None]).eval(mode="FAST_COMPILE")[0]
    np.testing.assert_array_equal(norm(x).eval(mode="FAST_COMPILE"), expected)


@pytest.mark.parametrize("twice", [False, True])
def test_training_updates_statistics(twice):
    norm = layers.BatchNorm(2, momentum=0.5)
    x = pt.matrix("x")
    with layers.training() as updates:
        y = norm(x)
        if twice:
            norm(x)
    plain = norm(x)
    f = pytensor.function([x], [y, plain], updates=updates, mode="FAST_COMPILE")
    y, plain = f([[1.0, 0.0], [3.0, 0.0]])
    np.testing.assert_allclose(y[:, 0], [-1, 1], rtol=1e-4)
    np.testing.assert_allclose(plain[:, 0], [1, 3], rtol=1e-4)
    np.testing.assert_allclose(norm.running_mean.get_value(), [1.5 if twice else 1.0, 0])
    variances = [1.75, 0.25] if twice else [1.5, 0.5]
    np.testing.assert_allclose(norm.running_var.get_value(), variances)


def test_dropout_draws_other_masks_in_each_call_and_place():
    drop = layers.Dropout(0.5)
    x = pt.ones(200)
    assert drop(x) is x
    with layers.training() as updates:
        once, twice = drop(x), drop(x)
    f = pytensor.function([], [once, twice], updates=updates, mode="FAST_COMPILE")
    masks = [*f(), *f()]
    assert len({mask.tobytes() for mask in masks}) == 4
    assert all({*mask} == {0.0, 2.0} and 60 < mask.sum() / 2 < 140 for mask in masks)
    assert layers.current_updates() is None


def test_layers_of_one_kind_drop_differently():
    net = layers.Sequential(layers.Dropout(), layers.Dropout())
    first, second = (v.get_value().normal() for v in net.named_generators().values())
    assert first != second
    assert not net.state_dict()


def test_attention_drops_weights_of_keys():
    """In training, where values and output are the identity, so that outputs are the weights."""
    net, x = layers.MultiHeadAttention(32, 2, dropout=0.25), pt.tensor3("x")
    net.in_proj_weight.set_value(np.concatenate([np.zeros((64, 32)), np.eye(32)]))
    net.out_proj.weight.set_value(np.eye(32))
    with layers.training() as updates:
        first, second = net(x), net(x)
    assert [*updates] == [net.rng]
    # of each key, a head passes on half of the features: two blocks of 16 keys with a feature each
    value = np.tile(np.eye(16), 2)[None]
    run = pytensor.function(
        [x], [first, second, net(x), pt.grad(first.sum(), x)], updates=updates, mode="FAST_COMPILE"
    )
    outputs = [run(value) for _ in range(2)]
    drawn = [out[0] for row in outputs for out in row[:2]]
    for a, b in combinations(drawn, 2):
        assert (a != b).any()
    for weights in drawn:
        np.testing.assert_allclose(weights[weights != 0] * 16, 1 / 0.75)
    share = np.mean([weights == 0 for weights in drawn])  # of 2048: a standard error of 0.0096
    assert abs(share - 0.25) < 0.04
    np.testing.assert_allclose(outputs[0][2][0] * 16, 1)
    # The gradient has the mask: a value counts as much as the weights that it got.
    heads = outputs[0][0][0].sum(axis=0).reshape(2, 16)
    np.testing.assert_allclose(outputs[0][3][0], np.repeat(heads.T, 16, axis=1), rtol=1e-6)


def test_state_dicts_of_others_are_refused():
    net = layers.Sequential(layers.Linear(2, 3), layers.BatchNorm(3))
    values = net.state_dict()
    other = values | {"1.num_batches_tracked": np.int64(3), "0.weight": np.ones((3, 2), "float32")}
    net.load_state_dict(other)
    assert (net.layers[0].weight.get_value() == 1).all()
    assert net.layers[0].weight.type.dtype == net.layers[0].weight.get_value().dtype == "float64"
    del other["0.bias"]
    other |= {"0.weight": np.zeros((2, 3)), "2.weight": np.zeros(3)}
    with pytest.raises(ValueError, match=(
        r"not of this Sequential: 1 missing \(0\.bias\); 1 unexpected \(2\.weight\); "
        r"1 of another shape \(0\.weight \(2, 3\) instead of \(3, 2\)\)"
    )):  # fmt: skip
        net.load_state_dict(other)
    assert (net.layers[0].weight.get_value() == 1).all()


@pytest.mark.parametrize("value", [np.full(2, 1j), np.array([None, 1]), np.array(["1", "2"])])
def test_values_of_another_kind_are_refused(value):
    net = layers.Linear(1, 2)
    with pytest.raises(ValueError, match=rf"bias {value.dtype} instead of float64\)"):
        net.load_state_dict(net.state_dict() | {"bias": value})


def test_a_module_without_call_says_so():
    with pytest.raises(NotImplementedError, match="Block has no __call__; write it in"):
        Block(2)(pt.matrix())


@pytest.mark.parametrize(
    ("layer", "state", "message"),
    [
        (layers.LSTM(3, 4), np.zeros((1, 2, 4)), "LSTM: state must be 2 arrays, got 1"),
        (layers.LSTM(3, 4), [np.zeros((2, 2, 4))] * 2, r"LSTM: state must have shape \(1, 2, 4\)"),
        (layers.GRU(3, 4), np.zeros((1, 1, 4)), r"GRU: state must have shape \(1, 2, 4\)"),
    ],
)
def test_states_that_do_not_fit(layer, state, message):
    with pytest.raises(ValueError, match=message):
        layer(pt.tensor(shape=(2, 5, 3)), state)


def test_open_states_are_checked_when_they_are_known():
    state = pt.tensor3("state", dtype="float32")
    y, _ = layers.GRU(3, 4)(pt.ones((2, 5, 3)), state)
    assert y.type.dtype == "float64"
    f = pytensor.function([state], y, mode=REFERENCE_MODE)
    assert f(np.zeros((1, 2, 4), "float32")).shape == (2, 5, 4)
    with pytest.raises(AssertionError, match=r"expected \(1, None, None\)"):
        f(np.zeros((2, 2, 4), "float32"))


@pytest.mark.parametrize("layer", [layers.LSTM, layers.Conv2d])
def test_arguments_that_a_layer_does_not_have(layer):
    """The error names the class, not the private one whose method it is."""
    with pytest.raises(TypeError, match=f"^{layer.__name__}: .*'batch_first'; it takes in"):
        layer(3, 4, 2, batch_first=True)
    with pytest.raises(TypeError, match=f"^{layer.__name__}: missing a required argument"):
        layer(3)


@pytest.mark.parametrize("shape", [np.ones(3), np.ones((3, 2)), 3, [2, None]])
def test_a_parameter_takes_a_shape(shape):
    with pytest.raises(TypeError, match=r"\(array\.shape, layers\.init\.constant\(array\)\)"):
        layers.parameter(shape)
    assert layers.parameter(()).type.ndim == 0
    assert layers.parameter(np.array([3, 2])).type.shape == (3, 2)


def test_a_module_shows_its_layers():
    net = layers.Sequential(Block(2), pt.nn.relu, layers.Linear(2, 2))
    assert repr(net) == "Sequential(0: Block, 2: Linear)"
    ends = "ends.first: Linear, ends.second: Linear"
    assert repr(net[0]) == f"Block(m.0: Linear, m.1.0: BatchNorm, {ends})"
    assert repr(net[2]) == "Linear()"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ReLU", "a function here, pt.nn.relu$"),
        ("MaxPool2d", "pt.nn.max_pool2d$"),
        ("CrossEntropyLoss", "pt.nn.cross_entropy$"),
        ("MSELoss", "pt.nn.mse_loss$"),
        ("Flatten", "lambda"),
        ("Linaer", "nearest are Linear"),
        ("qqqq", "has no attribute 'qqqq'$"),
    ],
)
def test_a_missing_layer_names_what_to_write(name, message):
    with pytest.raises(AttributeError, match=message):
        getattr(layers, name)
