# What type checkers and editors see of `pytensor.tensor`: PyTensor's own names, from where its
# `__init__.py` has them, and ours.  They read this file in the place of `__init__.py`, which says
# nothing of what `__extend__.py` adds; `.ci/types` compares it with what Python has.

from collections.abc import Sequence
from typing import Any

from numpy import e as e
from numpy import euler_gamma as euler_gamma
from numpy import inf as inf
from numpy import nan as nan
from numpy import newaxis as newaxis
from numpy import pi as pi
from numpy.typing import ArrayLike

from pytensor.gradient import grad as grad
from pytensor.gradient import hessian as hessian
from pytensor.gradient import jacobian as jacobian
from pytensor.graph.basic import Constant as Constant
from pytensor.graph.basic import Variable as Variable
from pytensor.graph.op import Op as Op
from pytensor.tensor import basic as basic
from pytensor.tensor import blas as blas
from pytensor.tensor import blockwise as blockwise
from pytensor.tensor import elemwise as elemwise
from pytensor.tensor import elemwise_cgen as elemwise_cgen
from pytensor.tensor import exceptions as exceptions
from pytensor.tensor import extra_ops as extra_ops
from pytensor.tensor import functional as functional
from pytensor.tensor import interpolate as interpolate
from pytensor.tensor import linalg as linalg
from pytensor.tensor import math as math
from pytensor.tensor import nn as nn
from pytensor.tensor import optimize as optimize
from pytensor.tensor import random as random
from pytensor.tensor import rewriting as rewriting
from pytensor.tensor import sharedvar as sharedvar
from pytensor.tensor import signal as signal
from pytensor.tensor import special as special
from pytensor.tensor import subtensor as subtensor
from pytensor.tensor import symbolic as symbolic
from pytensor.tensor import type as type
from pytensor.tensor import type_other as type_other
from pytensor.tensor import utils as utils
from pytensor.tensor import variable as variable
from pytensor.tensor import xlogx as xlogx
from pytensor.tensor.basic import *
from pytensor.tensor.batchnorm import batch_normalization as batch_normalization
from pytensor.tensor.batchnorm import batch_normalization_train as batch_normalization_train
from pytensor.tensor.conv import conv2d as conv2d
from pytensor.tensor.einsum import einsum as einsum
from pytensor.tensor.extra_ops import *
from pytensor.tensor.functional import vectorize as vectorize
from pytensor.tensor.interpolate import interp as interp
from pytensor.tensor.interpolate import interpolate1d as interpolate1d
from pytensor.tensor.math import *
from pytensor.tensor.nn import silu as silu
from pytensor.tensor.pad import pad as pad
from pytensor.tensor.pool import pool_2d as pool_2d
from pytensor.tensor.reshape import *
from pytensor.tensor.resize import resize as resize
from pytensor.tensor.shape import reshape as reshape
from pytensor.tensor.shape import shape as shape
from pytensor.tensor.shape import shape_padaxis as shape_padaxis
from pytensor.tensor.shape import shape_padleft as shape_padleft
from pytensor.tensor.shape import shape_padright as shape_padright
from pytensor.tensor.shape import specify_broadcastable as specify_broadcastable
from pytensor.tensor.shape import specify_shape as specify_shape
from pytensor.tensor.sort import argsort as argsort
from pytensor.tensor.sort import sort as sort
from pytensor.tensor.special import logaddexp as logaddexp
from pytensor.tensor.special import logsumexp as logsumexp
from pytensor.tensor.subtensor import *
from pytensor.tensor.topk import topk as topk
from pytensor.tensor.type import *
from pytensor.tensor.type_other import *
from pytensor.tensor.variable import TensorConstant as TensorConstant
from pytensor.tensor.variable import TensorVariable as TensorVariable

type TensorLike = Variable | Sequence[Variable] | ArrayLike

def as_tensor_variable(
    x: TensorLike, name: str | None = None, ndim: int | None = None, **kwargs: Any
) -> TensorVariable: ...
def get_vector_length(v: TensorLike) -> int: ...
