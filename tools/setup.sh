#!/usr/bin/env bash
# Create the virtual environment $1 and install this checkout into it with everything that training and tests need:
# the extras $2 with the versions of $3.
# PYTHON=/path/to/python chooses the interpreter; pip's own settings (PIP_INDEX_URL, ...) apply.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${1:-.venv}
extras=${2:-train,dev}
constraints=${3:-constraints.txt}

usable() { # can it run, is it new enough, can it make a virtual environment?
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || return 1
    found+=("$1")
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

python=
found=()
for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python; do
    if usable "$candidate"; then
        python=$candidate
        break
    fi
done

missing=()
if [[ -z $python && ${#found[@]} -gt 0 ]]; then
    missing+=("the venv module of ${found[0]} (Debian, Ubuntu: the package python3-venv)")
elif [[ -z $python ]]; then
    missing+=("Python 3.11 or newer (found: $(python3 --version 2>/dev/null || echo none)); PYTHON=/path/to/python names one")
fi
command -v git >/dev/null || missing+=("git")
if [[ ${#missing[@]} -gt 0 ]]; then
    printf 'Set-up needs what this machine lacks:\n' >&2
    printf '  - %s\n' "${missing[@]}" >&2
    exit 1
fi

echo "Setting up $venv with $("$python" --version) ($(command -v "$python"))."
echo "The first time this downloads 0.5 to 4 GB, most of it PyTorch: on Linux pip's default is the build for GPUs."
if ! usable "$venv/bin/python"; then
    "$python" -m venv --clear "$venv"
fi
"$venv/bin/python" -m pip install -e ".[$extras]" -c "$constraints"
echo "Set-up is complete."
