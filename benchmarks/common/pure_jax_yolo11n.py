"""YOLO11n and its training step in JAX only: what the PyTensor demo is measured against.

Plain functions over dicts of arrays, no framework.  Parameters have the names of the state dict,
so that `init_state` takes the weights of the demo's model as they are.  It is written from the
architecture, the loss and the recipe, not from the demo's graph; `step/train_step.py` and its
neighbours compare the two.  It says what JAX's own functions say and is not tuned
for a device: all convolutions are `lax.conv_general_dilated`, the pooling is `lax.reduce_window`.

Letters of shapes: B images, A anchors (all cells of the three levels, finest first, row by row),
M boxes of an image with its padding, C classes.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

STRIDES = (8, 16, 32)
BINS = 16
BN_EPSILON, BN_MOMENTUM = 1e-3, 0.03
HEADS, KEY_WIDTH, VALUE_WIDTH = 2, 32, 64
CIOU_EPSILON, ASSIGN_EPSILON = 1e-7, 1e-9
CANDIDATES, MIN_SIDE = 10, 16.0
GAINS = {"box_loss": 7.5, "cls_loss": 0.5, "dfl_loss": 1.5}
MAX_NORM = 10.0

# Of images, filters, results: JAX's own libraries keep channels last.
DIMENSIONS = ("NHWC", "HWIO", "NHWC")


# ------------------------------------------------------------------------------ network


class Pass(NamedTuple):
    """One forward pass in training mode; `updated` collects the new running statistics."""

    params: dict
    statistics: dict
    updated: dict
    dtype: type


def concatenate(parts):
    return jnp.concatenate(parts, axis=-1)


def conv2d(net, name, x, stride=1):
    """Convolve, and keep the size but for the stride; groups follow from the shapes."""
    filters = net.params[f"{name}.weight"].astype(net.dtype)
    height, width, inputs, _ = filters.shape
    return lax.conv_general_dilated(
        x,
        filters,
        window_strides=(stride, stride),
        padding=[(height // 2,) * 2, (width // 2,) * 2],
        dimension_numbers=DIMENSIONS,
        feature_group_count=x.shape[-1] // inputs,
    )


def plain_conv(net, name, x):
    """Convolve with a bias, and nothing after it."""
    return conv2d(net, name, x) + net.params[f"{name}.bias"].astype(net.dtype)


def batch_norm(net, name, x):
    """Normalize with the batch's statistics and move the running ones."""
    x = x.astype("float32")
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    count = x.size // x.shape[-1]
    unbiased = variance * (count / (count - 1))
    for key, value in (("running_mean", mean), ("running_var", unbiased)):
        old = net.statistics[f"{name}.{key}"]
        net.updated[f"{name}.{key}"] = (1 - BN_MOMENTUM) * old + BN_MOMENTUM * value
    scale = net.params[f"{name}.weight"] * lax.rsqrt(variance + BN_EPSILON)
    return ((x - mean) * scale + net.params[f"{name}.bias"]).astype(net.dtype)


def conv_bn(net, name, x, stride=1):
    return batch_norm(net, f"{name}.bn", conv2d(net, f"{name}.conv", x, stride))


def conv_block(net, name, x, stride=1):
    return jax.nn.silu(conv_bn(net, name, x, stride))


def bottleneck(net, name, x):
    return x + conv_block(net, f"{name}.cv2", conv_block(net, f"{name}.cv1", x))


def c3k(net, name, x):
    y = conv_block(net, f"{name}.cv1", x)
    for i in range(2):
        y = bottleneck(net, f"{name}.m.{i}", y)
    y = concatenate([y, conv_block(net, f"{name}.cv2", x)])
    return conv_block(net, f"{name}.cv3", y)


def c3k2(net, name, x, inner):
    first, second = jnp.split(conv_block(net, f"{name}.cv1", x), 2, axis=-1)
    third = inner(net, f"{name}.m.0", second)
    return conv_block(net, f"{name}.cv2", concatenate([first, second, third]))


def max_pool5(x):
    lowest = np.array(-np.inf, x.dtype)
    return lax.reduce_window(x, lowest, lax.max, (1, 5, 5, 1), (1, 1, 1, 1), "SAME")


def sppf(net, name, x):
    parts = [conv_block(net, f"{name}.cv1", x)]
    for _ in range(3):
        parts.append(max_pool5(parts[-1]))
    return conv_block(net, f"{name}.cv2", concatenate(parts))


def attention(net, name, x):
    """Attend over positions; channels of `qkv` are grouped by head: query, key, value."""
    qkv = conv_bn(net, f"{name}.qkv", x)
    batch, height, width, _ = qkv.shape
    qkv = qkv.reshape(batch, height * width, HEADS, 2 * KEY_WIDTH + VALUE_WIDTH)
    query, key, value = jnp.split(qkv, [KEY_WIDTH, 2 * KEY_WIDTH], axis=-1)
    logits = jnp.einsum("bihd,bjhd->bhij", query * KEY_WIDTH**-0.5, key).astype("float32")
    weights = jax.nn.softmax(logits, axis=-1).astype(net.dtype)
    out = jnp.einsum("bhij,bjhd->bihd", weights, value)

    def as_map(tokens):
        return tokens.reshape(batch, height, width, HEADS * VALUE_WIDTH)

    return conv_bn(net, f"{name}.proj", as_map(out) + conv_bn(net, f"{name}.pe", as_map(value)))


def c2psa(net, name, x):
    a, b = jnp.split(conv_block(net, f"{name}.cv1", x), 2, axis=-1)
    b = b + attention(net, f"{name}.m.0.attn", b)
    hidden = conv_block(net, f"{name}.m.0.ffn.0", b)
    b = b + conv_bn(net, f"{name}.m.0.ffn.1", hidden)
    return conv_block(net, f"{name}.cv2", concatenate([a, b]))


def upsample(x):
    return jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)


def head(net, name, level, x):
    """Return box logits, then class logits, of one level."""
    branches = {"cv2": ["0", "1"], "cv3": ["0.0", "0.1", "1.0", "1.1"]}
    outputs = []
    for branch, layers in branches.items():
        prefix, y = f"{name}.{branch}.{level}", x
        for layer in layers:
            y = conv_block(net, f"{prefix}.{layer}", y)
        outputs.append(plain_conv(net, f"{prefix}.2", y))
    return concatenate(outputs)


def forward(params, statistics, images, dtype=jnp.float32):
    """Run the network in training mode.

    Parameters
    ----------
    params, statistics : dict of str to array
        See `State`.
    images : float32 (B, height, width, 3)
        RGB in 0..1.
    dtype : float32 or bfloat16
        Of convolutions and what is between them.  Parameters, and the statistics of batch
        normalizations and softmax, are float32 in either case.

    Returns
    -------
    maps : list of three arrays of `dtype`
        Of the strides 8, 16, 32, with 64 + C channels, which are last.
    statistics : dict
        The new running statistics.
    """
    net = Pass(params, statistics, {}, dtype)
    x = conv_block(net, "model.0", images.astype(dtype), stride=2)
    x = conv_block(net, "model.1", x, stride=2)
    x = c3k2(net, "model.2", x, bottleneck)
    x = conv_block(net, "model.3", x, stride=2)
    p3 = c3k2(net, "model.4", x, bottleneck)
    x = conv_block(net, "model.5", p3, stride=2)
    p4 = c3k2(net, "model.6", x, c3k)
    x = conv_block(net, "model.7", p4, stride=2)
    x = c3k2(net, "model.8", x, c3k)
    p5 = c2psa(net, "model.10", sppf(net, "model.9", x))
    # Down the pyramid, and up again.
    mid = c3k2(net, "model.13", concatenate([upsample(p5), p4]), bottleneck)
    out3 = c3k2(net, "model.16", concatenate([upsample(mid), p3]), bottleneck)
    x = concatenate([conv_block(net, "model.17", out3, stride=2), mid])
    out4 = c3k2(net, "model.19", x, bottleneck)
    x = concatenate([conv_block(net, "model.20", out4, stride=2), p5])
    out5 = c3k2(net, "model.22", x, c3k)
    maps = [head(net, "model.23", level, x) for level, x in enumerate((out3, out4, out5))]
    return maps, net.updated


# --------------------------------------------------------------------------------- loss


class Targets(NamedTuple):
    """Boxes to find.

    Attributes
    ----------
    boxes : float32 (B, M, 4)
        Centre, width and height as fractions of the image.
    classes : int32 (B, M)
    counts : int32 (B,)
        How many rows of each image are boxes; the others may hold anything.
    """

    boxes: jax.Array
    classes: jax.Array
    counts: jax.Array


def anchors(sizes):
    """Return cell centres in cells (A, 2), and strides (A, 1), of levels of (height, width)."""
    centres, strides = [], []
    for (height, width), stride in zip(sizes, STRIDES, strict=True):
        y, x = np.mgrid[:height, :width]
        centres.append(np.stack([x.ravel(), y.ravel()], axis=1) + 0.5)
        strides.append(np.full((height * width, 1), stride))
    return np.concatenate(centres).astype("float32"), np.concatenate(strides).astype("float32")


def ciou(a, b):
    """Complete IoU of boxes (..., 4) as corners; the weight of its last term is held constant."""
    a_low, a_high, b_low, b_high = a[..., :2], a[..., 2:], b[..., :2], b[..., 2:]
    a_width, a_height = jnp.unstack(a_high - a_low, axis=-1)
    b_width, b_height = jnp.unstack(b_high - b_low, axis=-1)
    a_height, b_height = a_height + CIOU_EPSILON, b_height + CIOU_EPSILON
    sides = jnp.maximum(jnp.minimum(a_high, b_high) - jnp.maximum(a_low, b_low), 0)
    inner = sides[..., 0] * sides[..., 1]
    iou = inner / (a_width * a_height + b_width * b_height - inner + CIOU_EPSILON)

    hull = jnp.maximum(a_high, b_high) - jnp.minimum(a_low, b_low)
    diagonal = jnp.square(hull).sum(-1) + CIOU_EPSILON
    distance = jnp.square(b_low + b_high - a_low - a_high).sum(-1) / 4
    angle = jnp.arctan(b_width / b_height) - jnp.arctan(a_width / a_height)
    aspect = 4 / np.pi**2 * jnp.square(angle)
    weight = lax.stop_gradient(aspect / (1 - iou + aspect + CIOU_EPSILON))
    return iou - (distance / diagonal + weight * aspect)


def assign(boxes, scores, true_boxes, true_classes, valid, centres):
    """Give the anchors of one image the boxes that they shall learn.

    Parameters
    ----------
    boxes : (A, 4)
        Predicted corners, pixels.
    scores : (A, C)
        Predicted probabilities.
    true_boxes : (M, 4)
        Corners, pixels.
    true_classes : int (M,)
    valid : bool (M,)
    centres : (A, 2)
        Of the anchors, pixels.

    Returns
    -------
    owner : int (A,)
        Row of the anchor's box; any where its score is 0.
    score : (A,)
        Target score for the class of that box.
    """
    low, high = true_boxes[:, None, :2], true_boxes[:, None, 2:]
    growth = jnp.maximum(MIN_SIDE - (high - low), 0) / 2
    gaps = jnp.concatenate([centres - (low - growth), high + growth - centres], axis=-1)
    candidate = (gaps.min(-1) > ASSIGN_EPSILON) & valid[:, None]

    overlap = jnp.where(candidate, jnp.maximum(ciou(true_boxes[:, None], boxes), 0), 0)
    metric = jnp.sqrt(scores[:, true_classes].T) * overlap**6
    best, anchor = lax.top_k(metric, CANDIDATES)
    rows = jnp.arange(len(true_boxes))[:, None]
    # A metric of 0 gives a target score of 0: such a claim would be of no effect.
    claimed = jnp.zeros(metric.shape, bool).at[rows, anchor].set(best > 0)

    contested = claimed.sum(0) > 1
    owner = jnp.where(contested, overlap.argmax(0), claimed.argmax(0))
    assigned = (owner == rows) & claimed.any(0)
    metric, overlap = jnp.where(assigned, metric, 0), jnp.where(assigned, overlap, 0)
    scale = overlap.max(1) / (metric.max(1) + ASSIGN_EPSILON)
    return owner, (metric * scale[:, None]).sum(0)


def true_corners(targets, height, width):
    """Return corners in pixels (B, M, 4) and which of them are boxes (B, M)."""
    listed = jnp.arange(targets.boxes.shape[1]) < targets.counts[:, None]
    pixels = targets.boxes * np.array([width, height, width, height], "float32")
    centre, half = pixels[..., :2], pixels[..., 2:] / 2
    corners = jnp.concatenate([centre - half, centre + half], axis=-1)
    corners = jnp.where(listed[..., None], corners, 0)
    return corners, corners.sum(-1) > 0


def focal_loss(log_probabilities, distances):
    """Compute the cross-entropy (B, A) with the two bins next to the true distances, mean of 4."""
    distances = jnp.clip(distances, 0, BINS - 1.01)
    lower = jnp.floor(distances)
    rest = (distances - lower)[..., None]
    bins = lower.astype("int32")
    one_hot = partial(jax.nn.one_hot, num_classes=BINS, dtype=distances.dtype)
    wanted = (1 - rest) * one_hot(bins) + rest * one_hot(bins + 1)
    return -(wanted * log_probabilities).sum(-1).mean(-1)


def yolo_loss(maps, targets):
    """Compute the loss of the network's output, in float32.

    Parameters
    ----------
    maps : list of three arrays
        As `forward` gives them.
    targets : Targets

    Returns
    -------
    total : float32
        Sum of the parts times the number of images.
    parts : dict
        ``"box_loss"``, ``"cls_loss"``, ``"dfl_loss"``, with their gains.
    """
    maps = [m.astype("float32") for m in maps]
    batch, height, width, channels = maps[0].shape
    centres, strides = anchors([m.shape[1:3] for m in maps])
    logits = jnp.concatenate([m.reshape(batch, -1, channels) for m in maps], axis=1)
    box_logits, class_logits = jnp.split(logits, [4 * BINS], axis=-1)
    log_bins = jax.nn.log_softmax(box_logits.reshape(batch, -1, 4, BINS), axis=-1)
    distances = jnp.exp(log_bins) @ np.arange(BINS, dtype="float32")
    boxes = jnp.concatenate([centres - distances[..., :2], centres + distances[..., 2:]], axis=-1)

    corners, valid = true_corners(targets, height * STRIDES[0], width * STRIDES[0])
    owner, score = jax.vmap(partial(assign, centres=centres * strides))(
        lax.stop_gradient(boxes * strides),
        lax.stop_gradient(jax.nn.sigmoid(class_logits)),
        corners,
        targets.classes,
        valid,
    )
    true_boxes = jnp.take_along_axis(corners, owner[..., None], axis=1) / strides
    true_classes = jnp.take_along_axis(targets.classes, owner, axis=1)
    wanted = score[..., None] * jax.nn.one_hot(
        true_classes, class_logits.shape[-1], dtype="float32"
    )

    sides = [centres - true_boxes[..., :2], true_boxes[..., 2:] - centres]
    sums = {
        "box_loss": ((1 - ciou(boxes, true_boxes)) * score).sum(),
        "cls_loss": (jax.nn.softplus(class_logits) - class_logits * wanted).sum(),
        "dfl_loss": (focal_loss(log_bins, jnp.concatenate(sides, axis=-1)) * score).sum(),
    }
    norm = jnp.maximum(score.sum(), 1)
    parts = {name: GAINS[name] * value / norm for name, value in sums.items()}
    return sum(parts.values()) * batch, parts


# --------------------------------------------------------------------------------- step


class State(NamedTuple):
    """What a step changes: dicts of float32 arrays by the names of the state dict.

    Filters are (height, width, in, out), see `init_state` and `state_dict`.

    Attributes
    ----------
    params, statistics : dict
        Weights; running means and variances.
    momenta : dict
        Of the weights.
    averages : dict
        Exponential moving averages of weights and statistics.
    """

    params: dict
    statistics: dict
    momenta: dict
    averages: dict


class Rates(NamedTuple):
    """Numbers of one step, float32."""

    lr: np.float32
    bias_lr: np.float32
    momentum: np.float32
    ema_decay: np.float32


def init_state(weights):
    """Make the state of a new run.

    Parameters
    ----------
    weights : dict of str to array
        A state dict, filters (out, in, height, width).

    Returns
    -------
    State
    """
    arrays = {
        name: np.ascontiguousarray(transpose(value, (2, 3, 1, 0)), dtype="float32")
        for name, value in weights.items()
        # The distribution's bins, which are never trained, are 0 to 15 in `yolo_loss`.
        if not name.endswith(("dfl.conv.weight", "num_batches_tracked"))
    }
    statistics = {n: v for n, v in arrays.items() if n.endswith(("running_mean", "running_var"))}
    params = {name: value for name, value in arrays.items() if name not in statistics}
    momenta = {name: np.zeros_like(value) for name, value in params.items()}
    # Copies: arrays that are donated must not be one and the same.
    averages = {name: value.copy() for name, value in arrays.items()}
    return jax.device_put(State(params, statistics, momenta, averages))


def transpose(value, axes):
    """Transpose filters, and leave other arrays as they are."""
    return value.transpose(axes) if value.ndim == 4 else value


def state_dict(arrays):
    """Return NumPy arrays of a `State`'s dict, filters (out, in, height, width) again."""
    return {name: transpose(np.asarray(value), (3, 2, 0, 1)) for name, value in arrays.items()}


def clip_by_global_norm(gradients, largest):
    norm = jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in jax.tree.leaves(gradients)))
    factor = jnp.minimum(largest / (norm + 1e-6), 1)
    return jax.tree.map(lambda g: g * factor, gradients), norm


def sgd(params, momenta, gradients, rates, weight_decay):
    """Step with Nesterov's momentum; filters alone decay, and biases have a rate of their own."""
    new_params, new_momenta = {}, {}
    for name, param in params.items():
        gradient = gradients[name]
        if param.ndim == 4:
            gradient = gradient + weight_decay * param
        rate = rates.bias_lr if name.endswith(".bias") else rates.lr
        momentum = rates.momentum * momenta[name] + gradient
        new_momenta[name] = momentum
        new_params[name] = param - rate * (gradient + rates.momentum * momentum)
    return new_params, new_momenta


def make_train_step(weight_decay, dtype=jnp.float32):
    """Make the step: forward, loss, backward, clipping, SGD, averages, running statistics.

    The new state is written over the old one, which is gone then.

    Parameters
    ----------
    weight_decay : float
        Of the filters.
    dtype : float32 or bfloat16
        What the network is computed in; see `forward`.

    Returns
    -------
    jitted function ``(state, images, targets, rates) -> (state, parts, norm)``
        `images` (B, 3, height, width) are uint8 in 0..255 or float32 in 0..1, `parts` as
        `yolo_loss` gives them, `norm` is that of the gradient before clipping.
    """

    def train_step(state, images, targets, rates):
        if images.dtype == jnp.uint8:
            images = images.astype("float32") / 255
        images = jnp.moveaxis(images, 1, -1)

        def loss(params):
            maps, statistics = forward(params, state.statistics, images, dtype)
            total, parts = yolo_loss(maps, targets)
            return total, (parts, statistics)

        gradients, (parts, statistics) = jax.grad(loss, has_aux=True)(state.params)
        gradients, norm = clip_by_global_norm(gradients, MAX_NORM)
        params, momenta = sgd(state.params, state.momenta, gradients, rates, weight_decay)
        decay = rates.ema_decay
        averages = jax.tree.map(
            lambda old, new: decay * old + (1 - decay) * new, state.averages, params | statistics
        )
        return State(params, statistics, momenta, averages), parts, norm

    return jax.jit(train_step, donate_argnums=0)
