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
# CHECKPOINT_MINUTES, CACHE, WORKERS, DEVICES, SEED, REQUIRE_MAP50.
#
# The file .env may set no other names but these, which this script hands on: COCO_BASE_URL and
# COCO_ANNOTATIONS_SHA256 (see coco.py), CUDA_VISIBLE_DEVICES, and of JAX's JAX_PLATFORMS,
# JAX_COMPILATION_CACHE_DIR, XLA_CLIENT_MEM_FRACTION, XLA_PYTHON_CLIENT_MEM_FRACTION,
# XLA_PYTHON_CLIENT_PREALLOCATE and XLA_PYTHON_CLIENT_ALLOCATOR. XLA_FLAGS is none of them, for it
# can name files to write; whoever needs it or another variable sets it in the environment.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
python=$here/.venv/bin/python
demo=$here/examples/onnx/onnx-yolo-demo

die() {
    printf 'train: error: %s\n' "$*" >&2
    exit 1
}

[ -x "$python" ] || die "there is no .venv yet; run: bash setup.sh"

# Name, kind of value, and whether it changes what is learned or how it is scored ("result").
settings=(
    "DATASET path same"
    "CLASSES names result"
    "DATA_DIR path same"
    "OUTPUT_DIR path same"
    "IMAGE_SIZE whole result"
    "BATCH_SIZE whole result"
    "NOMINAL_BATCH whole result"
    "EPOCHS whole result"
    "WARMUP_EPOCHS number result"
    "OPTIMIZER word result"
    "LR number result"
    "SCHEDULE word result"
    "MOSAIC number result"
    "CLOSE_MOSAIC whole result"
    "PATIENCE whole result"
    "WEIGHTS path result"
    "TRAIN_IMAGES whole result"
    "VAL_IMAGES whole result"
    "CONNECTIONS whole same"
    "VAL_EVERY whole result"
    "CHECKPOINT_MINUTES number same"
    "CACHE word same"
    "WORKERS whole same"
    "DEVICES whole same"
    "SEED whole result"
    "REQUIRE_MAP50 number same"
    "COCO_BASE_URL path handed-on"
    "COCO_ANNOTATIONS_SHA256 word handed-on"
    "CUDA_VISIBLE_DEVICES names handed-on"
    "JAX_PLATFORMS names handed-on"
    "JAX_COMPILATION_CACHE_DIR path handed-on"
    "XLA_CLIENT_MEM_FRACTION number handed-on"
    "XLA_PYTHON_CLIENT_MEM_FRACTION number handed-on"
    "XLA_PYTHON_CLIENT_PREALLOCATE word handed-on"
    "XLA_PYTHON_CLIENT_ALLOCATOR word handed-on"
)
known=${settings[*]%% *}

# Without a leading zero, which bash takes for octal; without a leading -, which starts an option.
declare -A pattern=(
    [whole]='^(0|[1-9][0-9]{0,8})$'
    [number]='^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$'
    [word]='^[A-Za-z0-9_][A-Za-z0-9_-]*$'
    [names]='^[^[:cntrl:],-][^[:cntrl:],]*(,[^[:cntrl:],-][^[:cntrl:],]*)*$'
    [path]='^[^[:cntrl:]-][^[:cntrl:]]*$'
)
declare -A meaning=(
    [whole]='a whole number' [number]='a number' [word]='a word'
    [names]='names separated by commas' [path]='a path'
)

check_value() { # place, name, value, kind; an empty value is none
    [[ -z $3 || $3 =~ ${pattern[$4]} ]] || die "$1$2 must be ${meaning[$4]}, not '$3'"
}

# Lines are read, not run: a file of settings should not be able to do anything else.
read_settings() {
    local line name value kind number=0
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
        kind=$(printf '%s\n' "${settings[@]}" | sed -n "s/^$name \([a-z]*\) .*/\1/p")
        [ -n "$kind" ] ||
            die "$1, line $number: there is no setting $name; there are ${known// /, }"
        check_value "$1, line $number: " "$name" "$value" "$kind"
        if [ -z "${!name+set}" ]; then
            export "$name=$value"
        fi
    done <"$1"
}

[ ! -f "$here/.env" ] || read_settings "$here/.env"

own_settings=""
for setting in "${settings[@]}"; do
    read -r name kind effect <<<"$setting"
    [ "$effect" != handed-on ] || continue
    check_value "" "$name" "${!name:-}" "$kind"
    [ "$effect" != result ] || own_settings+=${!name:-}
done

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
    # What these settings promise for the drawn images; others, another seed's too, promise nothing.
    if [ "$DATASET" = synthetic ] && [ -z "$own_settings" ]; then
        REQUIRE_MAP50=${REQUIRE_MAP50:-0.40}
    fi
fi

if [ -n "${CLASSES:-}" ]; then
    IFS=, read -r -a names <<<"$CLASSES"
    defaults+=(--classes "${names[@]}")
fi
for setting in "${settings[@]}"; do
    read -r name kind effect <<<"$setting"
    case $name-$effect in DATASET-* | CLASSES-* | *-handed-on) continue ;; esac
    if [ -n "${!name:-}" ]; then
        option=${name,,}
        defaults+=("--${option//_/-}" "${!name}")
    fi
done

# Instead of this shell, so that signals reach the training and its exit code is the caller's; it
# builds the page itself, at its end.
exec "$python" "$demo/train_yolo11n.py" --data "$DATASET" --build-page "${defaults[@]}" \
    ${options[@]+"${options[@]}"}
