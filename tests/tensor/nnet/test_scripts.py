"""Scripts as they were written for Theano: only the import lines are changed.

Both train a few steps on made-up pictures, in modes that Theano had and in mode JAX.
"""

from importlib.util import find_spec

import numpy as np
import pytest

import pytensor as theano
import pytensor.tensor as T
from pytensor.tensor.nnet import conv2d
from pytensor.tensor.nnet.abstract_conv import conv2d_transpose
from pytensor.tensor.nnet.bn import batch_normalization_test, batch_normalization_train
from pytensor.tensor.signal import pool

# Theano's `shared` knew no lengths: in mode JAX, PyTensor warns of checks that it leaves out
pytestmark = pytest.mark.filterwarnings("ignore:Skipping Assert")
MODES = [
    "FAST_COMPILE",
    # The default mode is NUMBA's, whose compiler takes most of a minute
    pytest.param(None, id="default", marks=pytest.mark.slow),
    pytest.param(
        "JAX", id="JAX", marks=pytest.mark.skipif(not find_spec("jax"), reason="needs jax")
    ),
]


def stripes(rng, n):
    """Pictures of 12 x 10 with horizontal (0) or vertical (1) stripes, and which they have."""
    labels = rng.integers(2, size=n).astype("int32")
    rows, columns = np.arange(12)[:, None] % 2, np.arange(10) % 2
    pictures = np.where(labels[:, None, None], columns, rows).astype("float64")
    return pictures + rng.normal(size=pictures.shape) / 4, labels


class LeNetConvPoolLayer:
    def __init__(self, rng, input, filter_shape, image_shape, poolsize=(2, 2)):
        fan_in = np.prod(filter_shape[1:])
        bound = np.sqrt(3.0 / fan_in)
        self.W = theano.shared(rng.uniform(-bound, bound, size=filter_shape), borrow=True)
        self.b = theano.shared(np.zeros(filter_shape[0]), borrow=True)
        conv_out = conv2d(
            input=input, filters=self.W, filter_shape=filter_shape, input_shape=image_shape
        )
        pooled_out = pool.pool_2d(input=conv_out, ds=poolsize, ignore_border=True)
        self.output = T.tanh(pooled_out + self.b.dimshuffle("x", 0, "x", "x"))
        self.params = [self.W, self.b]


class LogisticRegression:
    def __init__(self, input, n_in, n_out):
        self.W = theano.shared(np.zeros((n_in, n_out)), borrow=True)
        self.b = theano.shared(np.zeros(n_out), borrow=True)
        self.p_y_given_x = T.nnet.softmax(T.dot(input, self.W) + self.b)
        self.y_pred = T.argmax(self.p_y_given_x, axis=1)
        self.params = [self.W, self.b]

    def negative_log_likelihood(self, y):
        return T.mean(T.nnet.categorical_crossentropy(self.p_y_given_x, y))

    def errors(self, y):
        return T.mean(T.neq(self.y_pred, y))


@pytest.mark.parametrize("mode", MODES)
def test_lenet(mode):
    rng = np.random.default_rng(0)
    batch_size, learning_rate = 10, 0.2
    pictures, labels = stripes(rng, 40)
    train_set_x = theano.shared(pictures.reshape(40, -1), borrow=True)
    train_set_y = theano.shared(labels, borrow=True)

    index = T.lvector("index")
    x = T.matrix("x")
    y = T.ivector("y")
    layer0_input = x.reshape((batch_size, 1, 12, 10))
    layer0 = LeNetConvPoolLayer(rng, layer0_input, (4, 1, 3, 3), (batch_size, 1, 12, 10))
    layer1 = LeNetConvPoolLayer(rng, layer0.output, (6, 4, 2, 3), (batch_size, 4, 5, 4), (2, 1))
    layer2 = LogisticRegression(layer1.output.flatten(2), n_in=6 * 2 * 2, n_out=2)

    cost = layer2.negative_log_likelihood(y)
    params = layer2.params + layer1.params + layer0.params
    grads = T.grad(cost, params)
    updates = [(p, p - learning_rate * g) for p, g in zip(params, grads, strict=True)]
    # Numbers of examples, where a slice would do in other modes: JAX slices by constants only
    batch = {x: train_set_x[index], y: train_set_y[index]}
    train = theano.function([index], cost, updates=updates, givens=batch, mode=mode)
    wrong = theano.function([index], layer2.errors(y), givens=batch, mode=mode)
    batches = np.arange(40).reshape(4, batch_size)
    losses = [float(train(i)) for _ in range(6) for i in batches]
    assert losses[0] == pytest.approx(np.log(2))
    assert np.mean(losses[-4:]) < 0.1
    assert all(float(wrong(i)) == 0 for i in batches)


@pytest.mark.parametrize("mode", MODES)
def test_autoencoder_with_batch_normalization(mode):
    """Convolution, batch normalization with running statistics, and the convolution's transpose."""
    rng = np.random.default_rng(1)
    pictures, _ = stripes(rng, 16)
    pictures = pictures[:, None]
    x = T.tensor4("x")
    W = theano.shared(rng.normal(size=(5, 1, 3, 3)) / 3, name="W")
    W_out = theano.shared(rng.normal(size=(5, 1, 4, 2)) / 9, name="W_out")
    gamma = theano.shared(np.ones((1, 5, 1, 1)), name="gamma", shape=(1, 5, 1, 1))
    beta = theano.shared(np.zeros((1, 5, 1, 1)), name="beta", shape=(1, 5, 1, 1))
    running_mean = theano.shared(np.zeros((1, 5, 1, 1)), name="mean", shape=(1, 5, 1, 1))
    running_var = theano.shared(np.ones((1, 5, 1, 1)), name="var", shape=(1, 5, 1, 1))

    hidden = conv2d(x, W, filter_shape=(5, 1, 3, 3), border_mode="half", subsample=(2, 2))
    normalized, _, _, new_mean, new_var = batch_normalization_train(
        hidden,
        gamma,
        beta,
        axes="spatial",
        running_average_factor=0.2,
        running_mean=running_mean,
        running_var=running_var,
    )

    def decode(h):
        return conv2d_transpose(
            T.nnet.relu(h, 0.1),
            W_out,
            output_shape=(None, 1, 12, 10),
            filter_shape=(5, 1, 4, 2),
            border_mode=(1, 0),
            input_dilation=(2, 2),
        )

    loss = T.mean((decode(normalized) - x) ** 2)
    params = [W, W_out, gamma, beta]
    updates = [(p, p - 0.2 * g) for p, g in zip(params, T.grad(loss, params), strict=True)]
    updates += [(running_mean, new_mean), (running_var, new_var)]
    train = theano.function([x], loss, updates=updates, mode=mode)
    running = batch_normalization_test(
        hidden, gamma, beta, running_mean, running_var, axes="spatial"
    )
    validate = theano.function([x], T.mean((decode(running) - x) ** 2), mode=mode)

    losses = [float(train(pictures)) for _ in range(40)]
    assert losses[-1] < 0.4 * losses[0]
    assert float(validate(pictures)) == pytest.approx(losses[-1], rel=0.1)
