#!/usr/bin/env bash
# paper.sh   From a bare Debian 12 to the paper's figures: installs what is missing, builds, runs the paper's experiment
# (length 16, square lattice, 25 trials) under MPI and draws its figures into results/paper/.
# STARFOLD_RANKS=R sets the number of ranks (default: one a core, 8 at most); the numbers do not depend on it.
set -euo pipefail
if [[ ${1:-} =~ ^(-h|--help)$ ]]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit 0
fi
[ $# -eq 0 ] || {
    echo "usage: paper.sh" >&2
    exit 2
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
results=$root/results/paper
ranks=${STARFOLD_RANKS:-}
[[ $ranks =~ ^([1-9][0-9]{0,5})?$ ]] || { # bash would obey more than a number where it calculates
    echo "paper: STARFOLD_RANKS is '$ranks'; allowed is a number from 1" >&2
    exit 2
}

"$root/scripts/setup.sh" build figures
"$root/scripts/build.sh" release -DCMAKE_BUILD_TYPE=Release -DSTARFOLD_TESTS=OFF
# shellcheck source=scripts/mpi-env.sh
. "$root/scripts/mpi-env.sh"

cores=$(nproc)
ranks=${ranks:-$((cores < 8 ? cores : 8))}
threads=$((cores / ranks > 0 ? cores / ranks : 1))
mkdir -p "$results"
echo "paper: the paper's experiment on $ranks ranks with $threads threads each"
mpirun -q -np "$ranks" "$root/build/release/bin/starfold" run --preset paper --threads "$threads" --force \
    --output "$results/paper.h5"

echo "paper: drawing the figures"
python=$("$root/scripts/find-python")
"$python" "$root/analysis/figures.py" "$results/paper.h5" --out "$results"
echo "paper: done. The run file and the figures are in $results:"
ls -l "$results"
