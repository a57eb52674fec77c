"""YOLO11n and its training step in PyTorch: what the PyTensor demo is measured against.

Modules as a user of PyTorch writes them: `nn.Module`, `nn.BatchNorm2d`, `torch.optim.SGD`.  The
state dict has the names of the demo's.  It is written from the architecture, the loss and the
recipe; `step/train_step.py` runs it next to the other sides.

Letters of shapes: B images, A anchors (all cells of the three levels, finest first, row by row),
M boxes of an image with its padding, C classes.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

STRIDES = (8, 16, 32)
BINS = 16
BN_EPSILON, BN_MOMENTUM = 1e-3, 0.03
HEADS, KEY_WIDTH, VALUE_WIDTH = 2, 32, 64
CIOU_EPSILON, ASSIGN_EPSILON = 1e-7, 1e-9
CANDIDATES, MIN_SIDE = 10, 16.0
GAINS = {"box_loss": 7.5, "cls_loss": 0.5, "dfl_loss": 1.5}
MAX_NORM = 10.0


# ------------------------------------------------------------------------------ network


class ConvBlock(nn.Module):
    """Convolution that keeps the size but for the stride, batch normalization, SiLU."""

    def __init__(self, inputs, outputs, size=1, stride=1, groups=1, activation=True):
        super().__init__()
        self.conv = nn.Conv2d(
            inputs, outputs, size, stride, padding=size // 2, groups=groups, bias=False
        )
        self.bn = nn.BatchNorm2d(outputs, eps=BN_EPSILON, momentum=BN_MOMENTUM)
        self.act = nn.SiLU() if activation else nn.Identity()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.cv1 = ConvBlock(width, hidden, 3)
        self.cv2 = ConvBlock(hidden, width, 3)

    def forward(self, x):
        return x + self.cv2(self.cv1(x))


class C3k(nn.Module):
    def __init__(self, width):
        super().__init__()
        hidden = width // 2
        self.cv1 = ConvBlock(width, hidden)
        self.cv2 = ConvBlock(width, hidden)
        self.cv3 = ConvBlock(2 * hidden, width)
        self.m = nn.Sequential(*(Bottleneck(hidden, hidden) for _ in range(2)))

    def forward(self, x):
        return self.cv3(torch.cat([self.m(self.cv1(x)), self.cv2(x)], 1))


class C3k2(nn.Module):
    """Two halves, and what an inner block makes of the second; `deep`: the block is a `C3k`."""

    def __init__(self, inputs, outputs, expansion, deep):
        super().__init__()
        hidden = int(outputs * expansion)
        self.cv1 = ConvBlock(inputs, 2 * hidden)
        self.cv2 = ConvBlock(3 * hidden, outputs)
        self.m = nn.ModuleList([C3k(hidden) if deep else Bottleneck(hidden, hidden // 2)])

    def forward(self, x):
        first, second = self.cv1(x).chunk(2, 1)
        return self.cv2(torch.cat([first, second, self.m[0](second)], 1))


class SPPF(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cv1 = ConvBlock(width, width // 2)
        self.cv2 = ConvBlock(2 * width, width)
        self.pool = nn.MaxPool2d(5, stride=1, padding=2)

    def forward(self, x):
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class Attention(nn.Module):
    """Attention over positions; channels of `qkv` are grouped by head, then query, key, value."""

    def __init__(self, width):
        super().__init__()
        self.qkv = ConvBlock(width, HEADS * (2 * KEY_WIDTH + VALUE_WIDTH), activation=False)
        self.proj = ConvBlock(width, width, activation=False)
        self.pe = ConvBlock(width, width, 3, groups=width, activation=False)

    def forward(self, x):
        qkv = self.qkv(x).unflatten(1, (HEADS, -1)).flatten(3)
        query, key, value = qkv.split([KEY_WIDTH, KEY_WIDTH, VALUE_WIDTH], 2)
        # The default scale is that of the paper, key_width ** -0.5.
        out = F.scaled_dot_product_attention(*(t.transpose(2, 3) for t in (query, key, value)))
        out, value = (t.reshape(x.shape) for t in (out.transpose(2, 3), value))
        return self.proj(out + self.pe(value))


class AttentionBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn = Attention(width)
        self.ffn = nn.Sequential(
            ConvBlock(width, 2 * width), ConvBlock(2 * width, width, activation=False)
        )

    def forward(self, x):
        x = x + self.attn(x)
        return x + self.ffn(x)


class C2PSA(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cv1 = ConvBlock(width, width)
        self.cv2 = ConvBlock(width, width)
        self.m = nn.Sequential(AttentionBlock(width // 2))

    def forward(self, x):
        first, second = self.cv1(x).chunk(2, 1)
        return self.cv2(torch.cat([first, self.m(second)], 1))


class BinsToDistance(nn.Module):
    """Expectation of a distribution over `BINS` distances; its weights are never trained."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(BINS, 1, 1, bias=False).requires_grad_(False)
        self.conv.weight.copy_(torch.arange(float(BINS)).view(1, BINS, 1, 1))

    def forward(self, probabilities):
        return probabilities @ self.conv.weight.view(BINS)


class Detect(nn.Module):
    """Box logits, then class logits, of each level."""

    def __init__(self, classes, widths):
        super().__init__()
        boxes = max(16, widths[0] // 4, 4 * BINS)
        hidden = max(widths[0], min(classes, 100))
        self.cv2 = nn.ModuleList(
            nn.Sequential(
                ConvBlock(width, boxes, 3),
                ConvBlock(boxes, boxes, 3),
                nn.Conv2d(boxes, 4 * BINS, 1),
            )
            for width in widths
        )
        self.cv3 = nn.ModuleList(
            nn.Sequential(
                nn.Sequential(ConvBlock(width, width, 3, groups=width), ConvBlock(width, hidden)),
                nn.Sequential(
                    ConvBlock(hidden, hidden, 3, groups=hidden), ConvBlock(hidden, hidden)
                ),
                nn.Conv2d(hidden, classes, 1),
            )
            for width in widths
        )
        self.dfl = BinsToDistance()
        for stride, box, label in zip(STRIDES, self.cv2, self.cv3, strict=True):
            nn.init.constant_(box[-1].bias, 2.0)
            nn.init.constant_(label[-1].bias, math.log(5 / classes / (640 / stride) ** 2))

    def forward(self, levels):
        branches = zip(levels, self.cv2, self.cv3, strict=True)
        return [torch.cat([box(x), label(x)], 1) for x, box, label in branches]


class YOLO11n(nn.Module):
    """The network.

    Parameters
    ----------
    classes : int
    """

    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        # The numbers in the state dict's names are places in this list.
        self.model = nn.ModuleList(
            [
                ConvBlock(3, 16, 3, 2),
                ConvBlock(16, 32, 3, 2),
                C3k2(32, 64, 0.25, deep=False),
                ConvBlock(64, 64, 3, 2),
                C3k2(64, 128, 0.25, deep=False),
                ConvBlock(128, 128, 3, 2),
                C3k2(128, 128, 0.5, deep=True),
                ConvBlock(128, 256, 3, 2),
                C3k2(256, 256, 0.5, deep=True),
                SPPF(256),
                C2PSA(256),
                nn.Upsample(scale_factor=2),
                nn.Identity(),
                C3k2(384, 128, 0.5, deep=False),
                nn.Upsample(scale_factor=2),
                nn.Identity(),
                C3k2(256, 64, 0.5, deep=False),
                ConvBlock(64, 64, 3, 2),
                nn.Identity(),
                C3k2(192, 128, 0.5, deep=False),
                ConvBlock(128, 128, 3, 2),
                nn.Identity(),
                C3k2(384, 256, 0.5, deep=True),
                Detect(classes, (64, 128, 256)),
            ]
        )

    def forward(self, images):
        """Run the network.

        Parameters
        ----------
        images : float32 (B, 3, height, width)
            RGB in 0..1.

        Returns
        -------
        list of three tensors
            Of the strides 8, 16, 32: (B, 64 + C, rows, columns).
        """
        layer = self.model
        p3 = layer[4](layer[3](layer[2](layer[1](layer[0](images)))))
        p4 = layer[6](layer[5](p3))
        p5 = layer[10](layer[9](layer[8](layer[7](p4))))
        # Down the pyramid, and up again.
        mid = layer[13](torch.cat([layer[11](p5), p4], 1))
        out3 = layer[16](torch.cat([layer[14](mid), p3], 1))
        out4 = layer[19](torch.cat([layer[17](out3), mid], 1))
        out5 = layer[22](torch.cat([layer[20](out4), p5], 1))
        return layer[23]([out3, out4, out5])

    def load_arrays(self, weights):
        """Load a state dict of NumPy arrays; the counts of batches may be missing.

        Raises
        ------
        ValueError
            If other names differ.
        """
        tensors = {name: torch.tensor(value) for name, value in weights.items()}
        missing, unknown = self.load_state_dict(tensors, strict=False)
        missing = [name for name in missing if not name.endswith("num_batches_tracked")]
        if missing or unknown:
            raise ValueError(f"state dict: missing {missing[:5]}, unknown {unknown[:5]}")


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

    boxes: Tensor
    classes: Tensor
    counts: Tensor


def anchors(maps):
    """Return cell centres in cells (A, 2), and strides (A, 1)."""
    centres, strides = [], []
    for level, stride in zip(maps, STRIDES, strict=True):
        rows, columns = level.shape[2:]
        y = torch.arange(rows, device=level.device, dtype=torch.float32) + 0.5
        x = torch.arange(columns, device=level.device, dtype=torch.float32) + 0.5
        grid = torch.meshgrid(y, x, indexing="ij")
        centres.append(torch.stack([grid[1], grid[0]], -1).view(-1, 2))
        strides.append(torch.full((rows * columns, 1), float(stride), device=level.device))
    return torch.cat(centres), torch.cat(strides)


def ciou(a, b):
    """Complete IoU of boxes (..., 4) as corners; the weight of its last term is held constant."""
    a_low, a_high, b_low, b_high = a[..., :2], a[..., 2:], b[..., :2], b[..., 2:]
    a_width, a_height = (a_high - a_low).unbind(-1)
    b_width, b_height = (b_high - b_low).unbind(-1)
    a_height, b_height = a_height + CIOU_EPSILON, b_height + CIOU_EPSILON
    inner = (torch.minimum(a_high, b_high) - torch.maximum(a_low, b_low)).clamp(min=0).prod(-1)
    iou = inner / (a_width * a_height + b_width * b_height - inner + CIOU_EPSILON)

    hull = torch.maximum(a_high, b_high) - torch.minimum(a_low, b_low)
    diagonal = hull.square().sum(-1) + CIOU_EPSILON
    distance = (b_low + b_high - a_low - a_high).square().sum(-1) / 4
    angle = torch.atan(b_width / b_height) - torch.atan(a_width / a_height)
    aspect = 4 / math.pi**2 * angle.square()
    with torch.no_grad():
        weight = aspect / (1 - iou + aspect + CIOU_EPSILON)
    return iou - (distance / diagonal + weight * aspect)


@torch.no_grad()
def assign(boxes, scores, true_boxes, true_classes, valid, centres):
    """Give the anchors the boxes that they shall learn.

    Parameters
    ----------
    boxes : (B, A, 4)
        Predicted corners, pixels.
    scores : (B, A, C)
        Predicted probabilities.
    true_boxes : (B, M, 4)
        Corners, pixels.
    true_classes : int64 (B, M)
    valid : bool (B, M)
    centres : (A, 2)
        Of the anchors, pixels.

    Returns
    -------
    owner : int64 (B, A)
        Row of the anchor's box; any where its score is 0.
    score : (B, A)
        Target score for the class of that box.
    """
    low, high = true_boxes[:, :, None, :2], true_boxes[:, :, None, 2:]
    growth = (MIN_SIDE - (high - low)).clamp(min=0) / 2
    gaps = torch.cat([centres - (low - growth), high + growth - centres], -1)
    candidate = (gaps.amin(-1) > ASSIGN_EPSILON) & valid[:, :, None]

    overlap = ciou(true_boxes[:, :, None], boxes[:, None]).clamp(min=0)
    overlap = overlap.masked_fill(~candidate, 0)
    rows = true_classes[:, :, None].expand(-1, -1, boxes.shape[1])
    metric = scores.transpose(1, 2).gather(1, rows).sqrt() * overlap**6
    best, anchor = metric.topk(CANDIDATES)
    # A metric of 0 gives a target score of 0: such a claim would be of no effect.
    claimed = torch.zeros_like(candidate).scatter_(2, anchor, best > 0)

    owner = torch.where(claimed.sum(1) > 1, overlap.argmax(1), claimed.int().argmax(1))
    taken = claimed.any(1, keepdim=True)
    assigned = torch.zeros_like(claimed).scatter_(1, owner[:, None], True) & taken
    metric, overlap = metric.masked_fill(~assigned, 0), overlap.masked_fill(~assigned, 0)
    scale = overlap.amax(2) / (metric.amax(2) + ASSIGN_EPSILON)
    return owner, (metric * scale[:, :, None]).sum(1)


def true_corners(targets, size):
    """Return corners in pixels (B, M, 4) and which of them are boxes (B, M)."""
    numbers = torch.arange(targets.boxes.shape[1], device=targets.boxes.device)
    listed = numbers < targets.counts[:, None]
    centre, half = (targets.boxes * torch.cat([size, size])).split(2, -1)
    corners = torch.cat([centre - half / 2, centre + half / 2], -1)
    corners = corners.masked_fill(~listed[..., None], 0)
    return corners, corners.sum(-1) > 0


def focal_loss(log_probabilities, distances):
    """Compute the cross-entropy (B, A) with the two bins next to the true distances, mean of 4."""
    distances = distances.clamp(0, BINS - 1.01)
    lower = distances.floor()
    rest = distances - lower
    bins = lower.long()[..., None]
    below, above = (log_probabilities.gather(-1, b).squeeze(-1) for b in (bins, bins + 1))
    return -((1 - rest) * below + rest * above).mean(-1)


def yolo_loss(maps, targets, to_distance):
    """Compute the loss of the network's output, in float32.

    Parameters
    ----------
    maps : list of three tensors
        As `YOLO11n` gives them.
    targets : Targets
    to_distance : module
        Of probabilities (..., `BINS`), the network's `BinsToDistance`.

    Returns
    -------
    total : float32
        Sum of the parts times the number of images.
    parts : dict
        ``"box_loss"``, ``"cls_loss"``, ``"dfl_loss"``, with their gains.
    """
    batch = len(maps[0])
    centres, strides = anchors(maps)
    logits = torch.cat([m.flatten(2) for m in maps], 2).transpose(1, 2).float()
    box_logits, class_logits = logits.split([4 * BINS, logits.shape[-1] - 4 * BINS], -1)
    log_bins = box_logits.unflatten(-1, (4, BINS)).log_softmax(-1)
    distances = to_distance(log_bins.exp())
    boxes = torch.cat([centres - distances[..., :2], centres + distances[..., 2:]], -1)

    size = centres.new_tensor([maps[0].shape[3] * STRIDES[0], maps[0].shape[2] * STRIDES[0]])
    corners, valid = true_corners(targets, size)
    labels = targets.classes.long()
    owner, score = assign(
        boxes.detach() * strides,
        class_logits.detach().sigmoid(),
        corners,
        labels,
        valid,
        centres * strides,
    )
    true_boxes = corners.gather(1, owner[..., None].expand(-1, -1, 4)) / strides
    wanted = torch.zeros_like(class_logits)
    wanted = wanted.scatter(2, labels.gather(1, owner)[..., None], score[..., None])

    sides = torch.cat([centres - true_boxes[..., :2], true_boxes[..., 2:] - centres], -1)
    sums = {
        "box_loss": ((1 - ciou(boxes, true_boxes)) * score).sum(),
        "cls_loss": F.binary_cross_entropy_with_logits(class_logits, wanted, reduction="sum"),
        "dfl_loss": (focal_loss(log_bins, sides) * score).sum(),
    }
    norm = score.sum().clamp(min=1)
    parts = {name: GAINS[name] * value / norm for name, value in sums.items()}
    return sum(parts.values()) * batch, parts


# --------------------------------------------------------------------------------- step


class TrainStep:
    """The step: forward, loss, backward, clipping, SGD, averages, running statistics.

    Parameters
    ----------
    model : YOLO11n
        On its device already.
    weight_decay : float
        Of the filters.
    channels_last : bool
        Lay images and filters out channels last.
    compiled : None, "default", "reduce-overhead" or "max-autotune"
        Mode of `torch.compile` for network and loss; None runs them eagerly.
    precision : "float32" or "bf16"
        With "bf16" the network runs within `torch.autocast`.

    Attributes
    ----------
    averages : dict of str to tensor
        Exponential moving averages of weights and running statistics.
    optimizer : torch.optim.SGD
    """

    def __init__(
        self, model, weight_decay, channels_last=False, compiled=None, precision="float32"
    ):
        self.layout = torch.channels_last if channels_last else torch.contiguous_format
        self.model = model.to(memory_format=self.layout).train()
        self.device = next(model.parameters()).device
        self.bf16 = precision == "bf16"
        self.optimizer = make_optimizer(model, weight_decay)
        self.trained = [p for p in model.parameters() if p.requires_grad]
        state = model.state_dict()
        self.averages = {name: value.clone() for name, value in state.items() if is_averaged(name)}
        # Tensors of the model itself, which the optimizer and the normalizations write to.
        self._tracked = [state[name] for name in self.averages]
        self._loss, self._graphs = self.loss, compiled == "reduce-overhead"
        if compiled:
            # One program for a shape, as JAX has it, not one for all.
            self._loss = torch.compile(self.loss, mode=compiled, dynamic=False)

    def loss(self, images, targets):
        """Return the total loss, and its parts by name."""
        if images.dtype == torch.uint8:
            images = images.float() / 255
        images = images.contiguous(memory_format=self.layout)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            maps = self.model(images)
        return yolo_loss(maps, targets, self.model.model[-1].dfl)

    def __call__(self, images, targets, rates, decay):
        """Run one step.

        Parameters
        ----------
        images : uint8 in 0..255 or float32 in 0..1 (B, 3, height, width)
        targets : Targets
        rates : (rate, rate of biases, momentum)
        decay : float
            Of the averages.

        Returns
        -------
        parts : dict of tensors
            Of the loss.
        norm : tensor
            Of the gradient before clipping.
        """
        self.optimizer.zero_grad(set_to_none=True)
        if self._graphs:
            torch.compiler.cudagraph_mark_step_begin()
        total, parts = self._loss(images, targets)
        total.backward()
        norm = nn.utils.clip_grad_norm_(self.trained, MAX_NORM)
        lr, bias_lr, momentum = rates
        for group in self.optimizer.param_groups:
            group["lr"] = bias_lr if group["name"] == "biases" else lr
            group["momentum"] = momentum
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(self.averages.values()), self._tracked, 1 - decay)
        return {name: part.detach() for name, part in parts.items()}, norm


def make_optimizer(model, weight_decay):
    """Make SGD with Nesterov's momentum: filters, scales and biases; filters alone decay."""
    groups = {"filters": [], "scales": [], "biases": []}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            others = "biases" if name.endswith("bias") else "scales"
            groups["filters" if parameter.ndim == 4 else others].append(parameter)
    return torch.optim.SGD(
        [
            {
                "params": parameters,
                "name": kind,
                "weight_decay": weight_decay if kind == "filters" else 0.0,
            }
            for kind, parameters in groups.items()
        ],
        lr=0.0,
        momentum=0.9,
        nesterov=True,
    )


def is_averaged(name):
    """Return whether the averages hold the state dict's entry."""
    return not name.endswith(("num_batches_tracked", "dfl.conv.weight"))
