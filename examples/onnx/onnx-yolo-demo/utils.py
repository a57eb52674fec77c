"""Post-processing, metrics and drawing: the names that other scripts of the demo import."""

from evaluation.metrics import DetectionMetrics, coco_map, coco_scores, without_nan
from evaluation.nms import box_iou, nms, scale_detections
from evaluation.report import draw_detections, image_mosaic, save_png

__all__ = [
    "DetectionMetrics",
    "box_iou",
    "coco_map",
    "coco_scores",
    "draw_detections",
    "image_mosaic",
    "nms",
    "save_png",
    "scale_detections",
    "without_nan",
]
