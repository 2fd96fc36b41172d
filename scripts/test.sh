#!/usr/bin/env bash
# test.sh [CTEST-OPTION...]   Installs what is missing, builds into build/test with warnings as errors and runs every
# test through ctest. Tests whose tools cannot be had are skipped, counted, and told with their reason at the end.
# Without options the tests labelled `long` are left out; `test.sh -L long` runs them.
# STARFOLD_SLURM=no leaves SLURM alone: nothing of it is installed; its tests run only if it is already there.
set -euo pipefail
if [[ ${1:-} =~ ^(-h|--help)$ ]]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit 0
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build/test
log=$build/Testing/Temporary/LastTest.log

purposes=(build figures tests)
[ "${STARFOLD_SLURM:-yes}" = no ] || purposes+=(slurm)
"$root/scripts/setup.sh" "${purposes[@]}"
"$root/scripts/build.sh" test -DCMAKE_BUILD_TYPE=Release -DSTARFOLD_WERROR=ON
# shellcheck source=scripts/mpi-env.sh
. "$root/scripts/mpi-env.sh"

if [ $# = 0 ]; then
    echo "test: running the tests of $build, but those labelled long ('scripts/test.sh -L long' runs these)"
    set -- --label-exclude '^long$'
else
    echo "test: running the tests of $build that these options select: $*"
fi
status=0
ctest --test-dir "$build" --no-tests=error --output-on-failure --parallel "$(nproc)" "$@" || status=$?
if [ -f "$log" ]; then
    sed -n 's/^SKIP: /test: skipped: /p' "$log"
fi
echo "test: ctest ended with status $status; the log is $log"
exit "$status"
