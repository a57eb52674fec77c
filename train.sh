#!/usr/bin/env bash
# Trains YOLO11n for persons and cell phones, measures it, exports it to ONNX, and builds the browser
# page that runs it, in the run's folder.
#
#   bash train.sh                     with a GPU: COCO 2017; without one: drawn images, minutes
#   DATASET=synthetic bash train.sh   drawn images on either
#   bash train.sh --cpu               on the CPU even where there is a GPU
#   bash train.sh --check h100        what such a run takes on a GPU that need not be there: memory,
#                                     images a second, hours (see benchmarks/gpu/training_check.py)
#   bash train.sh --resume            go on with an interrupted run; other options of
#                                     train_yolo11n.py are passed through too, such as
#                                     --no-build-page
#
# A data set of your own (DATASET=PATH) starts from weights that have seen photographs, unless WEIGHTS
# says otherwise (a file, or none); coco and synthetic start from random ones.
#
# Settings can be given as environment variables, or as NAME=VALUE lines of a file .env next to this
# one (the environment wins): DATASET (coco, synthetic, a folder, or several, A:3,B:1: three of four
# pictures from A), CLASSES (separated by commas),
# DATA_DIR, OUTPUT_DIR, IMAGE_SIZE, BATCH_SIZE, NOMINAL_BATCH, EPOCHS, WARMUP_EPOCHS, OPTIMIZER, LR,
# SCHEDULE, MOSAIC, CLOSE_MOSAIC, COPY_PASTE, BACKGROUND_SHARE, HARD_SHARE, PATIENCE, WEIGHTS,
# TRAIN_IMAGES, VAL_IMAGES, CONNECTIONS, VAL_EVERY, CHECKPOINT_MINUTES, CACHE, WORKERS, DEVICES, SEED,
# REQUIRE_MAP50. Nothing in the file is run.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
python=$here/.venv/bin/python
if [ ! -x "$python" ]; then
    printf 'train: error: there is no .venv yet; run: bash setup.sh\n' >&2
    exit 1
fi

unset MPLBACKEND # a notebook's, which .venv need not have; pictures are only written

# Counted to the end: grep -q would leave early, and nvidia-smi could fail for want of a reader.
preset=cpu
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=0
[ "$gpus" -eq 0 ] || preset=gpu
if [ "${1:-}" = --check ]; then
    [ "$gpus" -ne 0 ] || export JAX_PLATFORMS=cpu
    export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
    exec "$python" -m benchmarks.gpu.training_check "${@:2}" \
        --preset gpu --settings "$here/.env"
fi
options=()
for argument in "$@"; do
    if [ "$argument" = --cpu ]; then
        preset=cpu
        export JAX_PLATFORMS=cpu
    else
        options+=("$argument")
    fi
done
[ "$preset" = gpu ] || printf 'train: no GPU; training at a size for the CPU\n'

# Instead of this shell, so that signals reach the training and its exit code is the caller's.
exec "$python" "$here/examples/onnx/onnx-yolo-demo/train_yolo11n.py" \
    --preset "$preset" --settings "$here/.env" ${options[@]+"${options[@]}"}
