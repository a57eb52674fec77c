"""The loss of connectionist temporal classification, with the arguments and numbers of PyTorch."""

import math

import numpy as np

from pytensor.gradient import disconnected_grad
from pytensor.scan.basic import scan
from pytensor.tensor import TensorLike
from pytensor.tensor import math as tm
from pytensor.tensor.basic import (
    arange,
    cast,
    expand_dims,
    full_like,
    join,
    stack,
    zeros_like,
)
from pytensor.tensor.conv.basic import flag
from pytensor.tensor.moments import total
from pytensor.tensor.nn.checks import floats, integer, integers, like, one_of, single, where
from pytensor.tensor.nn.losses import REDUCTIONS, Reduction
from pytensor.tensor.variable import TensorVariable

# Of what can't happen: finite, so that differences and gradients are
IMPOSSIBLE = -1e30


def ctc_loss(
    log_probs: TensorLike, targets: TensorLike, input_lengths: TensorLike,
    target_lengths: TensorLike, blank: int = 0, reduction: Reduction = "mean",
    zero_infinity: bool = False,
) -> TensorVariable:  # fmt: skip
    """Return the negative log likelihood of label sequences that aren't aligned with the frames.

    Parameters
    ----------
    log_probs : tensor_like, shape (frames, batch, classes) or (frames, classes), floating point
        Logarithms of probabilities, as of `log_softmax`.
    targets : tensor_like, integers, shape (batch, labels) or (labels,)
        Labels, padded at their ends.  PyTorch takes them in one row, too; here a batch has an axis.
    input_lengths, target_lengths : tensor_like, integers, shape (batch,) or ()
        How many frames and labels count, not negative.
    blank : int
        The class between labels.
    reduction : {"mean", "sum", "none"}
        The mean is of the losses divided by their numbers of labels.
    zero_infinity : bool
        Whether the loss of labels that don't fit into the frames is 0, else it is infinite.

    Returns
    -------
    TensorVariable, dtype of `log_probs`
        Its gradient is that of this formula.  PyTorch's differs by what `log_softmax` takes away,
        so after it both are the same.  NaN where a label is no class, or where more frames or
        labels count than there are; PyTorch raises.

    Raises
    ------
    ValueError
        If the numbers of axes don't fit, or an argument isn't one of those above.
    TypeError
        If `log_probs` isn't floating point, or another input isn't integers.

    References
    ----------
    Graves, Fernandez, Gomez and Schmidhuber, "Connectionist temporal classification: labelling
    unsegmented sequence data with recurrent neural networks", ICML 2006.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> even = pt.constant(np.log(np.full((2, 1, 2), 0.5)))
    >>> np.exp(-pt.nn.ctc_loss(even, [[1]], [2], [1]).eval()).round(4).item()
    0.75
    """
    name = "ctc_loss"
    log_probs = floats(name, "log_probs", log_probs, 3, 2)
    one_of(name, "reduction", reduction, REDUCTIONS)
    dtype, batched = log_probs.type.dtype, log_probs.type.ndim == 3
    targets = integers(name, "targets", targets)
    if targets.type.ndim != 1 + batched:
        raise ValueError(
            f"{name}: targets must have shape {'(batch, labels)' if batched else '(labels,)'}, "
            f"padded at the ends; got {targets.type.ndim} axes"
        )
    frames, labels = (
        cast(integers(name, key, v, int(batched)), "int64")
        for key, v in (("input_lengths", input_lengths), ("target_lengths", target_lengths))
    )
    (log_p,) = single(log_probs)
    if not batched:
        log_p, targets = log_p[:, None], targets[None]
        frames, labels = frames[None], labels[None]
    blank, n = integer(name, "blank", blank, 0), log_p.type.shape[2]
    if n is not None and blank >= n:
        raise ValueError(f"{name}: blank must be one of the {n} classes, got {blank}")
    targets = cast(targets, "int64")
    losses = _losses(log_p, targets, frames, labels, blank)
    # NaN isn't infinite
    is_infinite = losses >= like(-IMPOSSIBLE / 10, losses)
    beyond = 0 if flag(f"{name}: zero_infinity", zero_infinity) else math.inf
    losses = where(is_infinite, like(beyond, losses), losses)
    losses = where(_is_possible(log_p, targets, frames, labels), losses, like(math.nan, losses))
    if reduction == "mean":
        losses = losses / cast(tm.maximum(labels, np.int64(1)), losses.type.dtype)
        losses = total(losses, (0,)) / cast(losses.shape[0], losses.type.dtype)
    elif reduction == "sum":
        losses = total(losses, (0,))
    elif not batched:
        losses = losses[0]
    return cast(losses, dtype)


def _is_possible(
    log_p: TensorVariable, targets: TensorVariable, frames: TensorVariable, labels: TensorVariable
) -> TensorVariable:
    """Return whether the labels of each sequence are classes, and its lengths are at most all."""
    is_class = tm.and_(targets >= 0, targets < log_p.shape[2])
    is_padding = arange(targets.shape[1]) >= expand_dims(labels, 1)
    fits = tm.and_(frames <= log_p.shape[0], labels <= targets.shape[1])
    return tm.and_(tm.all(tm.or_(is_class, is_padding), axis=1), fits)


def _losses(
    log_p: TensorVariable, targets: TensorVariable, frames: TensorVariable,
    labels: TensorVariable, blank: int,
) -> TensorVariable:  # fmt: skip
    """Return the loss of each sequence, by the forward recursion over all ways to read it."""
    n_frames, batch, n_classes = (log_p.shape[axis] for axis in range(3))
    impossible = like(IMPOSSIBLE, log_p)
    # Padding may be anything
    counts = arange(targets.shape[1]) < expand_dims(labels, 1)
    blanks = full_like(targets, blank)
    targets = where(counts, tm.clip(targets, np.int64(0), n_classes - 1), blanks)
    pairs = stack([blanks, targets], axis=2).reshape((batch, -1))
    states = join(1, pairs, full_like(targets[:, :1], blank))
    rows = log_p.dimshuffle(1, 2, 0).reshape((-1, n_frames))
    emitted = rows[(arange(batch) * n_classes)[:, None] + states].dimshuffle(2, 0, 1)
    emitted = tm.maximum(emitted, impossible)
    # From one label to the next without a blank, if they differ
    before = join(1, full_like(states[:, :2], blank), states[:, :-2])
    skips = tm.and_(tm.neq(states, np.int64(blank)), tm.neq(states, before))

    def shifted(alpha: TensorVariable, by: int) -> TensorVariable:
        return join(1, full_like(alpha[:, :by], IMPOSSIBLE), alpha[:, :-by])

    def step(
        time: TensorVariable, emitted: TensorVariable, alpha: TensorVariable,
        skips: TensorVariable, frames: TensorVariable,
    ) -> TensorVariable:  # fmt: skip
        ways = [alpha, shifted(alpha, 1), where(skips, shifted(alpha, 2), impossible)]
        largest = disconnected_grad(tm.maximum(ways[0], tm.maximum(ways[1], ways[2])))
        first, second, third = (tm.exp(way - largest) for way in ways)
        new = emitted + largest + tm.log(first + second + third)
        return where(expand_dims(time < frames, 1), new, alpha)

    start = join(1, zeros_like(emitted[0, :, :1]), full_like(emitted[0, :, 1:], IMPOSSIBLE))
    alphas = scan(
        step,
        sequences=[arange(n_frames), emitted],
        outputs_info=[start],
        non_sequences=[skips, frames],
        return_updates=False,
    )
    place, last = arange(states.shape[1]), expand_dims(2 * labels, 1)
    is_end = tm.or_(tm.eq(place, last), tm.eq(place, last - 1))
    ends = where(is_end, alphas[-1], impossible)
    largest = disconnected_grad(tm.max(ends, axis=1, keepdims=True))
    return -(tm.log(total(tm.exp(ends - largest), (1,))) + largest[:, 0])
