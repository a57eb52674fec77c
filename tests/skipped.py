"""What skipped tests lack, by kind, for the last lines of a run."""

import re

# Reasons of skipped tests by what they need; others are told as they are.
KINDS = {
    r"torch": "PyTorch",
    r"mlx": "MLX",
    r"[Cc]hromium|[Ff]irefox|playwright": "a browser",
    r"npm|Node\.js|missing: bash setup\.sh|onnxruntime-web": "what setup.sh --dev fetches from npm",
    r"g\+\+": "g++",
    r"PHOTOGRAPHS": "a folder of photographs (the variable PHOTOGRAPHS)",
    r"YOLO11N_GOLDEN": "all golden vectors (the variable YOLO11N_GOLDEN)",
    r"clone|repository": "a clone, with git",
}


def kind_of(report):
    """Return what a skipped test needs, or its reason."""
    reason = str(report.longrepr[2]).removeprefix("Skipped: ")
    for pattern, need in KINDS.items():
        if re.search(pattern, reason):
            return f"need {need}"
    lacking = re.match(r"could not import '(\w+)|(\w+) isn't installed", reason)
    return f"need {lacking[1] or lacking[2]}" if lacking else f"because {reason}"
