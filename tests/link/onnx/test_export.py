import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx, onnx_funcify
from pytensor.sparse import csr_matrix, dense_from_sparse
from pytensor.xtensor import math as xmath
from pytensor.xtensor import xtensor
from tests.link.onnx.test_basic import (
    Triple,
    check_results,
    compare_onnx_and_py,
    dims,
    growth,
    op_types,
    run,
    run_python,
)

X = np.random.default_rng(9).normal(size=(2, 3)).astype("float32")


@pytest.fixture
def x():
    return pt.tensor("x", shape=(None, 3), dtype="float32")


def names(values):
    return [v.name for v in values]


@pytest.mark.slow
def test_ways_to_call(x, tmp_path):
    y = pt.exp(x)
    f = pytensor.function([x], y)
    models = [
        export_onnx([x], [y]),
        export_onnx(x, y, tmp_path / "a.onnx"),
        export_onnx(inputs=[x], outputs=y, path=str(tmp_path / "b.onnx")),
        export_onnx(f),
        export_onnx(f, tmp_path / "c.onnx"),
    ]
    for model in models:
        np.testing.assert_allclose(run(model, [X])[0], np.exp(X), rtol=1e-6)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.onnx", "b.onnx", "c.onnx"]
    assert onnx.load(tmp_path / "a.onnx") == models[1]


def test_compiled_function(x):
    w = pytensor.shared(np.ones((3, 4), "float32"), name="w")
    count = pytensor.shared(0, name="count")
    y = pt.special.softmax(pt.tanh(x @ w + 1), axis=1)
    updates = {count: count + 1}
    f = pytensor.function([x], [y, y.sum()], updates=updates, mode="FAST_COMPILE", name="net")
    w.set_value(np.arange(12, dtype="float32").reshape(3, 4))
    model = export_onnx(f, verify={"x": X})
    assert model.graph.name == "net"
    assert "count" not in names(model.graph.initializer)
    assert count.get_value() == 0


def test_names(x):
    hidden = pt.exp(x)
    hidden.name = "hidden"
    y = hidden.sum(axis=1)
    w = pytensor.shared(np.ones(3, "float32"), name="layer.weight")
    model = export_onnx([x], [y * 2, y * w[0]])
    assert names(model.graph.input) == ["x"]
    assert names(model.graph.output) == ["output_0", "output_1"]
    assert model.graph.node[0].name == "exp_0"
    assert list(model.graph.node[0].output) == ["hidden"]
    model = export_onnx([x], [y], input_names=["images"], output_names=["boxes"])
    assert (names(model.graph.input), names(model.graph.output)) == (["images"], ["boxes"])


def test_outputs_that_are_nothing_new(x):
    y = pt.exp(x)
    outputs = [x, y, y, pt.constant(np.float32([1, 2])), pytensor.shared(np.float32(3), name="s")]
    compare_onnx_and_py([x], outputs, [X])


def test_unused_input_stays(x):
    y = pt.fvector("y")
    model = export_onnx([x, y], pt.exp(x))
    assert names(model.graph.input) == ["x", "y"]


def test_symbolic_dimensions():
    x, y = pt.tensor4("x", dtype="float32"), pt.fmatrix("y")
    model = export_onnx([x, y], [pt.exp(x), y.T])
    assert dims(model.graph.input[0]) == [f"x_dim_{i}" for i in range(4)]
    assert dims(model.graph.output[0]) == [f"x_dim_{i}" for i in range(4)]
    assert dims(model.graph.output[1]) == ["y_dim_1", "y_dim_0"]
    model = export_onnx([x, y], [pt.exp(x)], dynamic_axes={"x": {0: "N", -1: "W"}, "y": [0]})
    assert dims(model.graph.output[0]) == ["N", "x_dim_1", "x_dim_2", "W"]


def test_every_value_has_a_type(x):
    y = pt.concatenate([x, x + 1], axis=1).reshape((2 * x.shape[0], -1))
    y = pt.exp(y).reshape((-1, 2, 3)).sum(axis=1)
    model = export_onnx([x], pt.exp(y).max(axis=1), dynamic_axes={"x": {0: "N"}})
    known = names(model.graph.value_info) + names(model.graph.output)
    assert {name for node in model.graph.node for name in node.output} == set(known)
    for value in model.graph.value_info:
        assert dims(value)[0] in ("N", "2*N")


def test_initializers_as_inputs(x):
    w = pytensor.shared(np.float32([[1, 2], [3, 4], [5, 6]]), name="w")
    y = x @ (w * 2)
    model = export_onnx([x], y, initializers="inputs", verify=[X])
    assert names(model.graph.input) == ["x", "w"]
    other = np.ones((3, 2), "float32")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (result,) = session.run(None, {"x": X, "w": other})
    np.testing.assert_allclose(result, X @ other * 2, rtol=1e-5)
    model = export_onnx([x], y)
    assert names(model.graph.input) == ["x"]
    assert op_types(model) == ["MatMul"]
    assert names(model.graph.initializer) == ["w"]


def test_metadata(x):
    with pytensor.config.change_flags(traceback__limit=8):
        y = pt.exp(x)
    model = export_onnx(
        [x],
        y,
        model_name="net",
        doc_string="A network.",
        metadata={"names": "person, phone"},
        trace=True,
    )
    assert (model.graph.name, model.doc_string) == ("net", "A network.")
    assert [(p.key, p.value) for p in model.metadata_props] == [("names", "person, phone")]
    (node,) = model.graph.node
    properties = {p.key: p.value for p in node.metadata_props}
    assert properties["pytensor.node"] == "Exp(x)"
    assert os.path.relpath(__file__) in properties["pytensor.trace"]


def test_optimize_false_writes_the_graph_as_it_is(x):
    y = (x * 1 + 0).T.T
    assert op_types(export_onnx([x], pt.exp(y))) == ["Exp"]
    model = export_onnx([x], pt.exp(y), optimize=False, verify=[X])
    assert op_types(model).count("Transpose") == 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"opset_version": 17}, ValueError, "opset_version must be one of"),
        ({"opset_version": True}, ValueError, "opset_version must be one of"),
        ({"initializers": "outputs"}, ValueError, "initializers must be one of"),
        ({"checks": "ignore"}, ValueError, "checks must be one of"),
        ({"external_data": "yes"}, ValueError, "external_data must be one of"),
        ({"external_data": True}, ValueError, "needs a path"),
        ({"dynamic_axes": {"z": {0: "N"}}}, ValueError, "names ..z.."),
        ({"dynamic_axes": {"x": {1: "N"}}}, ValueError, "fixed size 3"),
        ({"verify": {"z": X}}, ValueError, "must have values for"),
        ({"verify": [X, X]}, ValueError, "must have 1 values"),
        ({"verify": True}, TypeError, "must be arrays to call the model with"),
        ({"optimise": True}, TypeError, "unexpected keyword"),
    ],
)
def test_wrong_arguments(x, arguments, error, message):
    with pytest.raises(error, match=message):
        export_onnx([x], [pt.exp(x)], **arguments)


def test_wrong_graphs(x):
    y = pt.fvector("y")
    with pytest.raises(ValueError, match=r"no inputs: .'y'."):
        export_onnx([x], x + y)
    with pytest.raises(ValueError, match="given twice: x"):
        export_onnx([x, y, x], x + y)
    with pytest.raises(TypeError, match=r"outputs are missing; write export_onnx\(x, net\(x\)"):
        export_onnx([x])
    with pytest.raises(TypeError, match=r"inputs must be PyTensor variables.*write export_onnx"):
        export_onnx(np.exp, "x.onnx")
    with pytest.raises(TypeError, match="must be PyTensor variables"):
        export_onnx([x], [1])
    z = pt.zvector("z")
    with pytest.raises(TypeError, match="which ONNX does not have"):
        export_onnx([z], z.real)
    sparse = csr_matrix("sparse", dtype="float32")
    for read in (sparse.shape, sparse[1, 2], dense_from_sparse(sparse)):
        with pytest.raises(TypeError, match=r"csr.*, which ONNX does not have"):
            export_onnx([sparse], read)
    with pytest.raises(TypeError, match="are its own"):
        export_onnx(pytensor.function([x], pt.exp(x)), [x])


def test_axes_with_names():
    """PyTensor's `xtensor`, which PyMC's `dims` builds on."""
    x = xtensor("x", dims=("row", "column"), shape=(2, 3), dtype="float32")
    total = xmath.exp(x).sum("row")
    (found,) = run(export_onnx([x], total), [X])
    np.testing.assert_allclose(found, np.exp(X).sum(0), rtol=1e-6)


def small_network(height=20, width=28):
    """Build a small detector-like network with every kind of layer that YOLO11n has."""
    rng = np.random.default_rng(0)

    def shared(name, *shape, low=-0.5):
        return pytensor.shared(rng.uniform(low, 1, shape).astype("float32"), name=name, shape=shape)

    def block(name, x, channels, kernel, stride=1, groups=1):
        w = shared(f"{name}.conv.weight", channels, x.type.shape[1] // groups, kernel, kernel)
        y = pt.conv2d(x, w, "half", (stride, stride), filter_flip=False, num_groups=groups)
        bn = [shared(f"{name}.bn.{p}", channels) for p in ("weight", "bias", "running_mean")]
        variance = shared(f"{name}.bn.running_var", channels, low=0.5)
        return pt.silu(pt.batch_normalization(y, *bn, variance, epsilon=1e-3))

    x = pt.tensor("images", shape=(None, 3, height, width), dtype="float32")
    n = x.shape[0]
    a = block("m.0", x, 8, 3, stride=2)
    b = block("m.1", a, 16, 1)
    first, second = b[:, :8], b[:, 8:]
    inner = second + block("m.2", second, 8, 3, groups=8)
    c = block("m.3", pt.concatenate([inner, first], axis=1), 16, 1)
    pooled = pt.nn.max_pool2d(c, 5, 1, 2)
    up = pt.resize(pooled, scale=2, coordinate_transformation_mode="asymmetric",
                   nearest_mode="floor")  # fmt: skip
    q, k, v = pt.split(up.reshape((n, 2, 8, -1)), [2, 2, 4], n_splits=3, axis=2)
    attention = pt.special.softmax(q.mT @ k * np.float32(0.5), axis=-1)
    mixed = (v @ attention.mT).reshape((n, 8, height, width))
    bias = shared("head.bias", 5)
    head = pt.conv2d(mixed, shared("head.weight", 5, 8, 1, 1)) + bias[:, None, None]
    return x, pt.sigmoid(head.reshape((n, 5, -1)))


@pytest.mark.slow
def test_small_network():
    x, y = small_network()
    images = np.random.default_rng(1).normal(size=(2, 3, 20, 28))
    model = compare_onnx_and_py(
        [x], y, [images], dynamic_axes={"images": {0: "N"}}, rtol=1e-3, atol=1e-4
    )
    assert not {"Shape", "Gather", "Range", "BatchNormalization"} & set(op_types(model))
    assert all(dims(v)[0] == "N" for v in (*model.graph.value_info, *model.graph.output))
    weights = [n for n in names(model.graph.initializer) if "." in n]
    assert weights == [
        *(f"m.{i}.conv.{kind}" for i in range(4) for kind in ("weight", "bias")),
        "head.weight",
        "head.bias",
    ]


@pytest.mark.slow
def test_small_network_as_a_function():
    """As it is rewritten for a mode; Numba itself, which takes half a minute, compiles nothing."""
    x, y = small_network(8, 12)
    images = np.random.default_rng(1).normal(size=(2, 3, 8, 12)).astype("float32")
    f = pytensor.function([x], y, mode="FAST_COMPILE")
    export_onnx(f, verify=[images])
    model = export_onnx(pytensor.function([x], y, mode="NUMBA"))
    check_results(model, run(model, [images]), [f(images)], rtol=1e-3, atol=1e-4)
    assert not {"Shape", "Gather", "Range", "BatchNormalization"} & set(op_types(model))


def test_function_compiled_for_jax():
    """On a CPU it works channels-last inside; the model doesn't."""
    pytest.importorskip("jax")
    rng = np.random.default_rng(2)

    def parameter(name, *shape):
        return pytensor.shared(rng.uniform(0.5, 1, shape).astype("float32"), name, shape=shape)

    x = pt.tensor("x", shape=(None, 3, 6, 8), dtype="float32")
    h = x
    for i in range(2):
        h = pt.conv2d(h, parameter(f"w{i}", 4, h.type.shape[1], 3, 2), filter_flip=False)
        h = pt.silu(pt.batch_normalization(h, *(parameter(f"p{i}{k}", 4) for k in range(4))))
    a, b = pt.split(h, [1, 3], n_splits=2, axis=1)
    y = pt.nn.max_pool2d(pt.concatenate([b, a], axis=1), 2)
    f = pytensor.function([x], y, mode="JAX")
    model = export_onnx(f, verify=[rng.normal(size=(2, 3, 6, 8))])
    kinds = op_types(model)
    assert kinds.count("Conv") == 2
    assert "BatchNormalization" not in kinds
    assert kinds.count("Transpose") <= 8


@pytest.mark.slow
def test_files_depend_neither_on_the_hash_seed_nor_on_the_folder(tmp_path):
    script = (
        "from tests.link.onnx.test_export import *\n"
        "x, y = small_network(8, 12)\n"
        "sums = pytensor.scan(lambda row, s: s + pt.tanh(row), y, y[0] * 0, return_updates=False)\n"
        "export_onnx([x], [y, sums], 'm.onnx', half=True, external_data=True, check=False)"
    )
    root = str(Path(__file__).parents[3])
    written = []
    for seed in ("1", "2"):
        folder = tmp_path / f"folder {seed}"
        folder.mkdir()
        run_python(script, folder, PYTHONHASHSEED=seed, PYTHONPATH=root)
        written.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert sorted(written[0]) == ["m.onnx", "m.onnx.data"]
    assert written[0] == written[1]


@pytest.mark.slow
def test_exporting_does_not_import_onnx_ir():
    """Its import takes longer than most exports: thoughts/upstream/onnx-ir-import-time.md."""
    code = (
        "import sys, pytensor.tensor as pt; from pytensor.link.onnx import export_onnx\n"
        "x = pt.matrix('x'); export_onnx(x, x @ x); assert 'onnx_ir' not in sys.modules"
    )
    run_python(code)


@pytest.mark.parametrize("folder", [".", "sub folder"])
def test_external_data_is_written_anew(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub folder").mkdir()
    x = pt.matrix("x", dtype="float32")
    w = pytensor.shared(np.ones((40, 40), "float32"), name="w")
    path = os.path.join(folder, "m.onnx")
    for factor in (1, 3):
        w.set_value(np.full((40, 40), factor, "float32"))
        export_onnx(x, x @ w, path, external_data=True, verify=[np.ones((1, 40))])
        assert sorted(os.listdir(folder)) in (["m.onnx", "m.onnx.data"],
                                              ["m.onnx", "m.onnx.data", "sub folder"])  # fmt: skip
        assert os.path.getsize(path) < 2000 < os.path.getsize(path + ".data")
        session = onnxruntime.InferenceSession(path)
        (result,) = session.run(None, {"x": np.ones((1, 40), "float32")})
        assert (result == 40 * factor).all()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        export_onnx(x, x @ w, tmp_path / "sub folder", external_data=True)


def test_comparing_a_training_step_does_not_train():
    x = pt.matrix("x", dtype="float32")
    w = pytensor.shared(np.ones((3, 3), "float32"), name="w")
    step = pytensor.function([x], (x @ w).sum(), updates={w: w / 2}, mode="FAST_COMPILE")
    for half in (False, True):
        export_onnx(step, half=half, verify=[np.ones((2, 3))])
    assert (w.get_value() == 1).all()


@pytest.mark.parametrize("optimize", [True, False])
def test_verification_computes_as_stably_as_the_model(optimize):
    x = pt.vector("x", dtype="float32")
    outputs = [pt.log(pt.sigmoid(x)), pt.log1p(pt.exp(x)), pt.log(1 - pt.sigmoid(x))]
    sample = [100, -100, 3] if optimize else [3, -2, 1]
    export_onnx([x], outputs, verify=[sample], optimize=optimize)


@pytest.mark.slow
def test_trace_is_of_the_users_code(tmp_path):
    code = (
        "import pytensor.tensor as pt\n"
        "from pytensor.link.onnx import export_onnx\n"
        "x = pt.matrix('x')\n"
        "y = pt.special.softmax(pt.tanh(x) * 2 + 1, axis=1)\n"
        "model = export_onnx(x, y, trace=True)\n"
        "for node in model.graph.node:\n"
        "    print([p.value for p in node.metadata_props if p.key == 'pytensor.trace'])\n"
    )
    (tmp_path / "user.py").write_text(code)
    result = subprocess.run(
        [sys.executable, "user.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTENSOR_FLAGS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = result.stdout.splitlines()
    assert lines
    assert set(lines) == {"['user.py:4 in <module>']"}


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda x: None, "Faulty returned None; it must return the terms"),
        (lambda x: [x.name], "Faulty returned 'x'; return a term, as x.node"),
        (lambda x: x.is_nan(), "Faulty returned a term of dtype bool for .* float32: cast it"),
    ],
)
def test_a_converter_that_returns_something_else_is_named(returned, message):
    class Faulty(Triple):
        pass

    onnx_funcify.register(Faulty)(lambda op, node, x: returned(x))
    x = pt.vector("x", dtype="float32")
    with pytest.raises(TypeError, match=f"the converter of {message}"):
        export_onnx([x], Faulty()(x))


@pytest.mark.slow
def test_a_missing_package_is_named():
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import pytensor.tensor as pt\n"
        "try:\n"
        "    from pytensor.link.onnx import export_onnx\n"
        "    export_onnx(pt.vector('x'), pt.vector('x') + 1, verify=[[1]])\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    assert "needs the package 'onnx': pip install onnx onnxruntime" in run_python(code)


@pytest.mark.parametrize("add", [None, lambda x, y: x + y, lambda x, y: y + x])
def test_time_grows_with_the_layers(add):
    """Each layer asked twice or more for the lengths of the one before."""

    def work(layers):
        y = x = pt.tensor("x", shape=(None, None, 4), dtype="float32")
        for _ in range(layers):
            h = pt.tanh(y.reshape((y.shape[0], y.shape[1], 2, 2)))
            h = h.reshape((h.shape[0], h.shape[1], h.shape[2] * h.shape[3]))
            y = h if add is None else add(h, y)
        export_onnx([x], [y])

    first, second = growth(work, (1, 3, 5))
    assert second < 1.3 * first
