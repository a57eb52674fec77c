import torch
import torch.nn.functional as F

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose


def _split_padding(op, filters):
    """Split the padding into what PyTorch's convolution adds equally at both ends, and the rest."""
    pads = op.pads(tuple(filters.shape[2:]))
    common = [min(pair) for pair in pads]
    return common, [(lo - c, hi - c) for (lo, hi), c in zip(pads, common, strict=True)]


def _pad(image, pads):
    if not any(map(any, pads)):
        return image
    # F.pad takes the last axis first
    return F.pad(image, [n for pair in reversed(pads) for n in pair])


def _mirror(op, filters):
    return filters.flip(tuple(range(2, filters.ndim))) if op.filter_flip else filters


def _arguments(op, padding):
    """Return what PyTorch's convolution and its gradient share."""
    return op.subsample, padding, op.filter_dilation, False, (0,) * op.n_spatial, op.num_groups


def _convolve(op, image, filters):
    padding, rest = _split_padding(op, filters)
    return torch.convolution(
        _pad(image, rest), _mirror(op, filters), None, *_arguments(op, padding)
    )


def _gradient_for_input(op, image_shape, filters, cotangent):
    padding, rest = _split_padding(op, filters)
    batch, channels, *lengths = image_shape
    padded = [length + lo + hi for length, (lo, hi) in zip(lengths, rest, strict=True)]
    gradient, _, _ = torch.ops.aten.convolution_backward(
        cotangent,
        # Only its shape is read
        cotangent.new_empty(()).expand(batch, channels, *padded),
        _mirror(op, filters),
        None,
        *_arguments(op, padding),
        (True, False, False),
    )
    for axis, ((lo, _), length) in enumerate(zip(rest, lengths, strict=True), start=2):
        gradient = gradient.narrow(axis, lo, length)
    return gradient


def _gradient_for_filters(op, image, filter_shape, cotangent):
    placeholder = cotangent.new_empty(()).expand(filter_shape)
    padding, rest = _split_padding(op, placeholder)
    _, gradient, _ = torch.ops.aten.convolution_backward(
        cotangent,
        _pad(image, rest),
        placeholder,
        None,
        *_arguments(op, padding),
        (False, True, False),
    )
    return _mirror(op, gradient)


@pytorch_funcify.register(Conv)
def pytorch_funcify_Conv(op, **kwargs):
    def conv(image, filters):
        op._run_time_shapes(image.shape, filters.shape)
        return _convolve(op, image, filters)

    return conv


@pytorch_funcify.register(ConvTranspose)
def pytorch_funcify_ConvTranspose(op, **kwargs):
    convolution = op.like(Conv)

    def conv_transpose(image, filters):
        op._run_time_shapes(image.shape, filters.shape)
        shape = op.output_shape(image.shape, filters.shape)
        return _gradient_for_input(convolution, shape, filters, image)

    return conv_transpose


@pytorch_funcify.register(ConvGradInput)
def pytorch_funcify_ConvGradInput(op, **kwargs):
    def conv_grad_input(image, filters, cotangent):
        op._check_cotangent(image.shape, filters.shape, cotangent.shape)
        return _gradient_for_input(op, image.shape, filters, cotangent)

    return conv_grad_input


@pytorch_funcify.register(ConvGradFilters)
def pytorch_funcify_ConvGradFilters(op, **kwargs):
    def conv_grad_filters(image, filters, cotangent):
        op._check_cotangent(image.shape, filters.shape, cotangent.shape)
        return _gradient_for_filters(op, image, filters.shape, cotangent)

    return conv_grad_filters
