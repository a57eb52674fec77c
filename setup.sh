#!/usr/bin/env bash
# Installs the project and what it needs into .venv, with uv, at the versions in requirements/lock.txt.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: bash setup.sh [--cpu | --gpu] [--dev] [--help]

Makes .venv next to setup.sh and installs the project into it, editable, with the packages that
training, testing and exporting need. Then npm fetches what the detector's page is built from; where
there is no Node.js, one is installed into .venv. Run it again at any time: what is up to date is
left as it is. To begin again, delete .venv first.

  --cpu     install the CPU build of JAX, even where there is an NVIDIA GPU
  --gpu     install the CUDA build of JAX; fail where nvidia-smi finds no driver
            (default: CUDA where nvidia-smi finds a driver, else CPU)
  --dev     install what builds the site and checks the page's sources, too
  --help    show this text

UV_PYTHON names the Python to use (3.12, 3.13 or 3.14: a version or a path). Without it, uv takes
one of this machine, or downloads 3.13. uv itself comes from PATH, else from PyPI or its own site.
TEXT
}

say() { printf 'setup: %s\n' "$*"; }
die() { say "error: $*" >&2 && exit 1; }

accelerator=auto dev=no
for argument in "$@"; do
    case $argument in
    --cpu | --gpu)
        [ $accelerator = auto ] || [ --$accelerator = "$argument" ] ||
            die "--cpu and --gpu exclude each other"
        accelerator=${argument#--}
        ;;
    --dev) dev=yes ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && die "unknown argument '$argument'" ;;
    esac
done

cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
root=$(pwd -P)
# What a caller's shell has set for another environment must not leak into this one.
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV
# Node.js may be in .venv; pyenv's launchers on PATH don't always run, what they launch does.
PATH=$root/.venv/bin:$PATH$(printf ':%s' "${HOME:-}"/.pyenv/versions/3.1[234]*/bin)

# Prints cpu, cuda12 or cuda13. nvidia-smi reports the newest CUDA that the driver can run.
build_of_jax() {
    local cuda=""
    [ $accelerator = cpu ] ||
        cuda=$({ nvidia-smi 2>&1 || true; } |
            sed -n 's/.*CUDA[A-Za-z ]*Version *: *\([0-9]*\).*/\1/p' | head -n 1)
    if [ "${cuda:-0}" -ge 13 ]; then
        echo cuda13
    elif [ "$cuda" = 12 ]; then
        echo cuda12
    elif [ $accelerator = gpu ]; then
        die "--gpu: nvidia-smi finds ${cuda:+a driver for CUDA }${cuda:-no driver}; JAX needs an" \
            "NVIDIA driver for CUDA 12 or later"
    else
        echo cpu
    fi
}

# Sets $uv to a release that knows all that is asked of it here.
find_uv() {
    local lower oldest="uv 0.8.5" own=$root/.venv.uv/bin
    for uv in uv "$own/uv"; do
        lower=$({ echo "$oldest" && "$uv" --version 2>/dev/null || echo; } | sort -V | head -n 1)
        [ "$lower" != "$oldest" ] || return 0
    done
    say "installing uv into .venv.uv"
    python3 -m pip install -qU --disable-pip-version-check --target .venv.uv --require-hashes \
        -r <(sed -n '/^uv==/,/[^\\]$/p' $lock) ||
        curl -LsSf https://astral.sh/uv/$(sed -n 's/^uv==\([0-9.]*\).*/\1/p' $lock)/install.sh | UV_UNMANAGED_INSTALL=$own sh ||
        die "uv could not be installed; see https://docs.astral.sh/uv, then run setup.sh again"
}

install() {
    local python extras=(--extra test) other
    [ $build = cpu ] || extras+=(--extra "jax-$build")
    # From Node.js 18 on, npm reads the page's lock file.
    [[ $(node --version 2>/dev/null) =~ ^v(1[89]|[2-9][0-9]) ]] && command -v npm >/dev/null ||
        extras+=(--extra node)
    [ $dev = no ] || extras+=(--extra docs)
    # Its scripts name their folder by its full path; pip may have made it, and a user filled it.
    if [ -e .venv ] && ! { grep -qsF "$root/.venv" .venv/bin/activate && .venv/bin/python -c \
        'import sys; sys.exit(not (3, 12) <= sys.version_info < (3, 15))' >/dev/null 2>&1; }; then
        say "deleting .venv, which was moved or has no Python 3.12 to 3.14" && rm -rf .venv
    fi
    python=$("$uv" python find --no-python-downloads '>=3.12,<3.15' 2>/dev/null) || python=3.13
    { [ -e .venv ] || "$uv" venv --quiet --python "${UV_PYTHON:-$python}" .venv; } &&
        "$uv" pip install --python .venv --constraint $lock -r pyproject.toml "${extras[@]}" &&
        "$uv" pip install --python .venv --no-deps --no-build-isolation --editable . ||
        die "uv could not install the project: mend what it says, then run setup.sh again"
    # JAX loads every CUDA plugin it finds, wanted or not.
    for other in cuda12 cuda13; do
        [ $other = $build ] ||
            "$uv" pip uninstall --quiet --python .venv jax-$other-plugin jax-$other-pjrt
    done
}

fetch_page() {
    local what=--omit=dev
    [ $dev = no ] || what=--include=dev
    cd examples/onnx/onnx-yolo-demo
    # npm ci deletes node_modules, and with it the copy of the lock file that the last one left.
    cmp -s package-lock.json node_modules/fetched--include=dev && return
    cmp -s package-lock.json node_modules/fetched$what && return
    say "npm ci $what: what the detector's page is built from"
    npm ci $what --fetch-retries=1 && cp package-lock.json node_modules/fetched$what ||
        say "warning: npm failed, so the detector's page can't be built; all else works"
}

lock=requirements/lock.txt # uv compares the hashes of constraints, too
build=$(build_of_jax)
find_uv
install
fetch_page
[ "$build" != cpu ] || command -v g++ clang++ >/dev/null ||
    say "warning: there is no C++ compiler (g++), so training on the CPU takes longer"
say "done: $("$root/.venv/bin/python" --version), JAX for $build"
say "now: source .venv/bin/activate"
