"""Post-processing, metrics and drawing: the names that other scripts of the demo import."""

from evaluation.coco_metrics import coco_map, coco_scores
from evaluation.drawing import draw_detections, image_mosaic, save_png
from evaluation.metrics import (
    DetectionMetrics,
    average_precision,
    confidence_curves,
    confusion_matrix,
    crowd_overlaps,
    match_detections,
    without_nan,
)
from evaluation.nms import box_iou, nms, scale_detections, xywh_to_xyxy

__all__ = [
    "DetectionMetrics",
    "average_precision",
    "box_iou",
    "coco_map",
    "coco_scores",
    "confidence_curves",
    "confusion_matrix",
    "crowd_overlaps",
    "draw_detections",
    "image_mosaic",
    "match_detections",
    "nms",
    "save_png",
    "scale_detections",
    "without_nan",
    "xywh_to_xyxy",
]
