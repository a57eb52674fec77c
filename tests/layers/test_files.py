"""Files of networks and their trainings."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.layers.files import generator_of, generator_state
from pytensor.link.generators import KeyGenerator, key_of
from pytensor.optimizers import SGD, Adam


def test_files(tmp_path):
    def make():
        net = layers.Sequential(layers.Linear(2, 2), layers.Dropout())
        x = pt.matrix("x")
        with layers.training() as updates:
            loss = (net(x) ** 2).sum()
        adam = Adam(lr=0.1)
        updates = adam.minimize(loss, net, updates)
        return net, adam, pytensor.function([x], loss, updates=updates, mode="FAST_COMPILE")

    path = tmp_path / "net.safetensors"
    net, adam, step = make()
    step(np.ones((3, 2)))
    layers.save(path, net, adam, {"epoch": 3})
    assert {*load_file(path)} == {
        "0.weight", "0.bias", "optimizer/step",
        *(f"optimizer/0.{p}.{m}" for p in ("weight", "bias") for m in ("exp_avg", "exp_avg_sq")),
    }  # fmt: skip
    losses = [step(np.ones((3, 2))) for _ in range(3)]
    net, adam, step = make()
    assert layers.load(path, net, adam) == {"epoch": 3}
    assert [step(np.ones((3, 2))) for _ in range(3)] == losses
    # weights alone, of this file or another program's
    alone = layers.Sequential(layers.Linear(2, 2))
    layers.load(path, alone)
    save_file(alone.state_dict(), tmp_path / "other.safetensors")
    assert layers.load(tmp_path / "other.safetensors", alone) == {}
    with pytest.raises(ValueError, match=r"of this optimizer.*: 5 missing \(0\.weight\.exp_avg, "):
        layers.load(tmp_path / "other.safetensors", net, adam)
    with pytest.raises(ValueError, match=r"net\.safetensors: these values are not of this Linear"):
        layers.load(path, layers.Linear(2, 2))


def test_two_optimizers_of_one_name_are_refused(tmp_path):
    w = layers.Linear(1, 1)
    first, second = SGD(0.1, momentum=0.9), SGD(0.1, momentum=0.9)
    loss = w(pt.matrix()).sum()
    for optimizer in (first, second):
        optimizer.minimize(loss, w)
    with pytest.raises(ValueError, match=r"state called 'bias\.momentum_buffer'"):
        layers.save(tmp_path / "run.safetensors", w, [first, second])


def test_a_broken_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "net.safetensors"
    layers.save(path, layers.Linear(1, 1))
    old = path.read_bytes()

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        layers.save(path, layers.Linear(1, 2))
    assert path.read_bytes() == old
    assert [*tmp_path.iterdir()] == [path]
    monkeypatch.undo()
    before = path.stat().st_ino
    layers.save(path, layers.Linear(1, 2))
    assert path.stat().st_ino != before  # another file of the name, not the same one rewritten


def test_wrong_arguments_and_files_are_named(tmp_path):
    net, path = layers.Linear(1, 1), tmp_path / "net.safetensors"
    for arguments in ((net, path), (net.state_dict(), path), (path, net.state_dict())):
        for function in (layers.save, layers.load):
            with pytest.raises(TypeError, match=rf"layers\.{function.__name__}\(path, net\)"):
                function(*arguments)
    fixes = {"a.onnx": "from_onnx", "a.pt": "save_file", "a.npz": "np.load", "a.txt": "$"}
    for name, fix in fixes.items():
        (tmp_path / name).write_bytes(b"\x08\x07 another format")
        with pytest.raises(ValueError, match=rf"{name}: no safetensors file \(.*\).*{fix}"):
            layers.load(tmp_path / name, net)


def test_a_changed_network_is_named_before_its_optimizer(tmp_path):
    path, (old, new) = tmp_path / "run.safetensors", (layers.Linear(2, n) for n in (3, 4))
    optimizers = [Adam(0.1), Adam(0.1)]
    for net, optimizer in zip((old, new), optimizers, strict=True):
        optimizer.minimize(net(pt.matrix()).sum(), net)
    layers.save(path, old, optimizers[0])
    before = new.state_dict()
    with pytest.raises(ValueError, match=(
        r"run\.safetensors: .*Linear: 2 of another shape \(weight \(3, 2\) instead of \(4, 2\)"
    )):  # fmt: skip
        layers.load(path, new, optimizers[1])
    sgd = SGD(0.1, momentum=0.9)
    sgd.minimize(pt.sum(old.weight), [old.weight])
    with pytest.raises(ValueError, match=r"this optimizer.*: 1 missing \(weight\.momentum_buf"):
        layers.load(path, old, sgd)
    with pytest.raises(ValueError, match=r"build its updates first\): 5 unexpected"):
        layers.load(path, old, Adam(0.1))
    assert all((before[name] == value).all() for name, value in new.state_dict().items())


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_generators_go_on(kind):
    rng = np.random.Generator(getattr(np.random, kind)([3, 4]))
    rng.normal(size=3)
    state = json.loads(json.dumps(generator_state(rng), default=np.ndarray.tolist))
    other = generator_of(state)
    assert other.normal() == rng.normal()
    assert other.spawn(1)[0].normal() == rng.spawn(1)[0].normal()


def test_generators_of_keys_go_on():
    """JAX draws by a key, which is in the seeds of what a function leaves."""
    rng = KeyGenerator(np.array([7, 9], "uint32"))
    state = json.loads(json.dumps(generator_state(rng), default=np.ndarray.tolist))
    assert key_of(generator_of(state)).tolist() == [7, 9]
