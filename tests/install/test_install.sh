#!/usr/bin/env bash
# test_install.sh CMAKE BUILD OUTSIDE CC   Installs the tree that was built in BUILD and builds the program of the folder
# OUTSIDE against what was installed, with CMake and (where it is there) with pkg-config.
set -euo pipefail
cmake=$1 build=$2 outside=$3 cc=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix="$folder/in stalled"

check() { # PROGRAM: its answer for 12 H is the published one, and it needs neither MPI nor HDF5
    local answer
    answer=$("$1" HHHHHHHHHHHH)
    if [ "$answer" != "3743 4622 3450 1944 803 444 31" ]; then
        echo "$1 says: $answer"
        return 1
    fi
    answer=$("$1" HHHHHHHHHHHH sets)
    if [ "$answer" != "1 1 1 1 1 1 1" ]; then
        echo "$1 says of the set of scores: $answer"
        return 1
    fi
    if ldd "$1" | grep -Ei 'mpi|hdf5'; then
        echo "$1 needs MPI or HDF5"
        return 1
    fi
    if "$1" HX 2>"$folder/line" || [ "$(wc -l <"$folder/line")" != 1 ]; then
        echo "$1 takes a sequence that is none"
        return 1
    fi
}

"$cmake" --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/starfold" --version
if ! { "$cmake" -S "$outside" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" &&
    "$cmake" --build "$folder/build"; } >"$folder/log" 2>&1; then
    cat "$folder/log"
    exit 1
fi
check "$folder/build/outside"
echo "CMake package: good"

if ! command -v pkg-config >/dev/null; then
    echo "pkg-config is not here; its file was not tried"
    exit 0
fi
mv "$prefix" "$folder/moved" # pkg-config does not quote spaces, and what is installed may be moved
PKG_CONFIG_PATH=$(dirname "$(find "$folder/moved" -name starfold_core.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs starfold_core)"
"$cc" "$outside/outside.c" "${flags[@]}" -o "$folder/by_pkg_config"
check "$folder/by_pkg_config"
echo "pkg-config: good"
