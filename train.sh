#!/usr/bin/env bash
# Trains YOLO11n for persons and cell phones, measures it, exports it to ONNX, and builds the browser
# page that runs it.
#
#   bash train.sh                     with a GPU: COCO 2017; without one: drawn images, minutes
#   DATASET=synthetic bash train.sh   drawn images on either
#   bash train.sh --cpu               on the CPU even where there is a GPU
#   bash train.sh --resume            go on with an interrupted run; other options of
#                                     train_yolo11n.py are passed through too, such as
#                                     --no-build-page
#
# Settings can be given as environment variables, or as NAME=VALUE lines of a file .env beside this
# one (the environment wins): DATASET (coco, synthetic or a folder), CLASSES (separated by commas),
# DATA_DIR, OUTPUT_DIR, IMAGE_SIZE, BATCH_SIZE, NOMINAL_BATCH, EPOCHS, WARMUP_EPOCHS, OPTIMIZER, LR,
# SCHEDULE, MOSAIC, CLOSE_MOSAIC, PATIENCE, WEIGHTS, TRAIN_IMAGES, VAL_IMAGES, CONNECTIONS, VAL_EVERY,
# CHECKPOINT_MINUTES, CACHE, WORKERS, DEVICES, SEED, REQUIRE_MAP50; and any of JAX's, such as
# XLA_PYTHON_CLIENT_MEM_FRACTION.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
python=$here/.venv/bin/python
demo=$here/examples/onnx/onnx-yolo-demo

die() {
    printf 'train: error: %s\n' "$*" >&2
    exit 1
}

[ -x "$python" ] || die "there is no .venv yet; run: bash setup.sh"

# Lines are read, not run: a file of settings should not be able to do anything else.
read_settings() {
    local line name value number=0
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        line=${line%$'\r'}
        case $line in '' | '#'*) continue ;; esac
        [[ $line =~ ^(export[[:space:]]+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$ ]] ||
            die "$1, line $number: expected NAME=VALUE, found: $line"
        name=${BASH_REMATCH[2]} value=${BASH_REMATCH[3]}
        case $value in
        \"*\") value=${value#\"} value=${value%\"} ;;
        \'*\') value=${value#\'} value=${value%\'} ;;
        esac
        if [ -z "${!name+set}" ]; then
            export "$name=$value"
        fi
    done <"$1"
}

[ ! -f "$here/.env" ] || read_settings "$here/.env"

# The largest batch up to the nominal 64 that fits into the free memory of the fullest GPU. XLA
# counts 82 MB of temporaries an image for a step at 320 px; twice that leaves room for the work
# space of cuDNN, and an eighth of the memory for the images of the data set and all else.
MIB_PER_IMAGE_AT_320=160
batch_for_memory() {
    local free size=${IMAGE_SIZE:-320} batch=64
    free=$(nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits 2>/dev/null |
        grep -E '^ *[0-9]+ *$' | sort -n | sed -n 1p) || free=""
    if [ -z "$free" ]; then
        printf 'train: nvidia-smi does not say how much memory is free; batch %s\n' $batch >&2
    else
        while [ $batch -gt 4 ] &&
            [ $((batch * MIB_PER_IMAGE_AT_320 * size * size / (320 * 320))) -gt $((free * 3 / 4)) ]; do
            batch=$((batch / 2))
        done
        printf 'train: %s MiB of GPU memory are free: batch %s at %s px\n' \
            $((free)) $batch "$size" >&2
    fi
    echo $batch
}

want_cpu=no
options=()
own_settings=${IMAGE_SIZE:-}${EPOCHS:-}${TRAIN_IMAGES:-}${VAL_IMAGES:-}${LR:-}${BATCH_SIZE:-}
own_settings+=${CLASSES:-}${OPTIMIZER:-}${MOSAIC:-}${CLOSE_MOSAIC:-}${NOMINAL_BATCH:-}${SCHEDULE:-}
for argument in "$@"; do
    case $argument in
    --cpu) want_cpu=yes ;;
    --resume | --overwrite | --build-page | --no-build-page) options+=("$argument") ;;
    *) options+=("$argument") own_settings=yes ;;
    esac
done

# Where there is a GPU, it is used or the run stops: hours on the CPU by mistake help nobody.
device=cpu
# Counted to the end: grep -q would leave early, and nvidia-smi could fail for want of a reader.
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=0
if [ "$want_cpu" = yes ]; then
    export JAX_PLATFORMS=cpu
elif [ "$gpus" -gt 0 ]; then
    if ! seen=$("$python" -c 'import jax; print(jax.devices("gpu")[0].device_kind)' 2>&1); then
        die "nvidia-smi finds a GPU but JAX sees none: ${seen##*$'\n'}. Run 'bash setup.sh --gpu'," \
            "or train on the CPU with 'bash train.sh --cpu'"
    fi
    device=gpu
    printf 'train: on %s\n' "${seen##*$'\n'}"
    if [ "$gpus" -gt 1 ] && [ -z "${DEVICES:-}" ]; then
        printf 'train: one of %s GPUs is used; DEVICES=%s uses all\n' "$gpus" "$gpus"
    fi
fi

if [ "$device" = gpu ]; then
    DATASET=${DATASET:-coco}
    BATCH_SIZE=${BATCH_SIZE:-$(batch_for_memory)}
    defaults=(
        --image-size 320 --epochs 100 --warmup-epochs 3 --optimizer sgd --lr 0.01
        --schedule linear --mosaic 1 --close-mosaic 10
    )
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

if [ -n "${CLASSES:-}" ]; then
    IFS=, read -r -a names <<<"$CLASSES"
    defaults+=(--classes "${names[@]}")
fi
for name in DATA_DIR OUTPUT_DIR IMAGE_SIZE BATCH_SIZE NOMINAL_BATCH EPOCHS WARMUP_EPOCHS OPTIMIZER LR \
    SCHEDULE MOSAIC CLOSE_MOSAIC PATIENCE WEIGHTS TRAIN_IMAGES VAL_IMAGES CONNECTIONS VAL_EVERY \
    CHECKPOINT_MINUTES CACHE WORKERS DEVICES SEED REQUIRE_MAP50; do
    if [ -n "${!name:-}" ]; then
        option=${name,,}
        defaults+=("--${option//_/-}" "${!name}")
    fi
done

# Instead of this shell, so that signals reach the training and its exit code is the caller's; it
# builds the page itself, at its end.
exec "$python" "$demo/train_yolo11n.py" --data "$DATASET" --build-page "${defaults[@]}" \
    ${options[@]+"${options[@]}"}
