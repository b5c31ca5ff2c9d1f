#!/usr/bin/env bash
# Build the sdist and from it the wheel; install the wheel with the oldest supported versions (constraints-oldest.txt)
# and the sdist with the newest that pip finds; run there the tests that need no training library, outside the checkout.
# The argument `oldest` or `newest` runs one of the two.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$PWD/.venv/bin/python
sets=("${@:-oldest newest}")
needs_more='notebooks|open_spiel|rllib|torchrl|tianshou|supersuit|frameworks|learning|train|docs'

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv "$scratch/build"
"$scratch/build/bin/pip" install --quiet build
"$scratch/build/bin/python" -m build --outdir "$scratch/dist" . >/dev/null
wheel=$(echo "$scratch"/dist/*.whl)
sdist=$(echo "$scratch"/dist/*.tar.gz)
mkdir "$scratch/work"
cp -r tests tools benchmarks pyproject.toml "$scratch/work"
tests=$(cd tests && ls test_*.py | grep -Ev "test_($needs_more)\.py" | sed 's|^|tests/|')
export NUMBA_CACHE_DIR SCOPA_ENV_QUIET=1
for name in ${sets[@]}; do
    venv=$scratch/$name
    "$python" -m venv "$venv"
    if [[ $name == oldest ]]; then
        "$venv/bin/pip" install --quiet "$wheel[plot,test]" -c constraints-oldest.txt
    else
        "$venv/bin/pip" install --quiet "$sdist[plot,test]"
    fi
    "$venv/bin/pip" check
    echo "With the $name versions:" "$("$venv/bin/pip" list --format=freeze | grep -Ei '^(numba|numpy|gymnasium|pettingzoo)=' | xargs)"
    NUMBA_CACHE_DIR=$scratch/cache-$name
    (cd "$scratch/work" && "$venv/bin/pytest" -q -o filterwarnings=default -n logical --maxprocesses 4 $tests)
done
