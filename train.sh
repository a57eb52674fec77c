#!/usr/bin/env bash
# Trains YOLO11n for persons and cell phones, measures it, and exports it to ONNX.
#
#   bash train.sh                     with a GPU: COCO 2017; without one: drawn images, minutes
#   DATASET=synthetic bash train.sh   drawn images on either
#   bash train.sh --cpu               on the CPU even where there is a GPU
#   bash train.sh --resume            go on with an interrupted run; other options of
#                                     train_yolo11n.py are passed through too
#
# Settings can be given as environment variables: DATASET (coco, synthetic or a folder), DATA_DIR,
# OUTPUT_DIR, IMAGE_SIZE, BATCH_SIZE, NOMINAL_BATCH, EPOCHS, WARMUP_EPOCHS, LR, SCHEDULE, MOSAIC,
# CLOSE_MOSAIC, TRAIN_IMAGES, VAL_IMAGES, VAL_EVERY, WORKERS, SEED, REQUIRE_MAP50.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
python=$here/.venv/bin/python
demo=$here/examples/onnx/onnx-yolo-demo

die() {
    printf 'train: error: %s\n' "$*" >&2
    exit 1
}

[ -x "$python" ] || die "there is no .venv yet; run: bash setup.sh"

want_cpu=no
options=()
own_settings=${IMAGE_SIZE:-}${EPOCHS:-}${TRAIN_IMAGES:-}${VAL_IMAGES:-}${LR:-}${BATCH_SIZE:-}
for argument in "$@"; do
    case $argument in
    --cpu) want_cpu=yes ;;
    --resume | --overwrite) options+=("$argument") ;;
    *) options+=("$argument") own_settings=yes ;;
    esac
done

# Where there is a GPU, it is used or the run stops: hours on the CPU by mistake help nobody.
device=cpu
if [ "$want_cpu" = yes ]; then
    export JAX_PLATFORMS=cpu
elif nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    if ! seen=$("$python" -c 'import jax; print(jax.devices("gpu")[0].device_kind)' 2>&1); then
        die "nvidia-smi finds a GPU but JAX sees none: ${seen##*$'\n'}. Run 'bash setup.sh --gpu'," \
            "or train on the CPU with 'bash train.sh --cpu'"
    fi
    device=gpu
    printf 'train: on %s\n' "${seen##*$'\n'}"
fi

if [ "$device" = gpu ]; then
    DATASET=${DATASET:-coco}
    defaults=(--image-size 320 --batch-size 64 --epochs 100 --warmup-epochs 5 --lr 0.01)
else
    # Sized for two cores: minutes, not hours.
    DATASET=${DATASET:-synthetic}
    printf 'train: no GPU; training at a size for the CPU\n'
    defaults=(
        --image-size 192 --batch-size 16 --nominal-batch 16 --epochs 22 --warmup-epochs 2
        --lr 0.01 --schedule linear --mosaic 1 --close-mosaic 8 --workers 1
        --ema-decay 0.99 --ema-steps 100
    )
    # What these settings promise for the drawn images; others promise nothing.
    if [ "$DATASET" = synthetic ] && [ -z "$own_settings" ]; then
        REQUIRE_MAP50=${REQUIRE_MAP50:-0.40}
    fi
fi

for name in DATA_DIR OUTPUT_DIR IMAGE_SIZE BATCH_SIZE NOMINAL_BATCH EPOCHS WARMUP_EPOCHS LR \
    SCHEDULE MOSAIC CLOSE_MOSAIC TRAIN_IMAGES VAL_IMAGES VAL_EVERY WORKERS SEED REQUIRE_MAP50; do
    if [ -n "${!name:-}" ]; then
        option=${name,,}
        defaults+=("--${option//_/-}" "${!name}")
    fi
done

exec "$python" "$demo/train_yolo11n.py" --data "$DATASET" "${defaults[@]}" \
    ${options[@]+"${options[@]}"}
