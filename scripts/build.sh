#!/usr/bin/env bash
# build.sh FOLDER [CMAKE-OPTION...]   configures and builds into build/FOLDER of the source tree, with every core.
set -euo pipefail
[ $# -ge 1 ] || {
    echo "usage: build.sh FOLDER [CMAKE-OPTION...]" >&2
    exit 2
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build/$1
shift

# A tree that was copied or moved keeps a cache that names the old place, and CMake refuses it.
cache=$build/CMakeCache.txt
if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    echo "build: $build was configured for another folder; configuring anew"
    rm -rf "$cache" "$build/CMakeFiles"
fi
generator=()
if [ ! -f "$cache" ] && command -v ninja >/dev/null; then
    generator=(-G Ninja)
fi
echo "build: configuring $build"
cmake -S "$root" -B "$build" "${generator[@]}" "$@"
echo "build: building $build"
cmake --build "$build" --parallel "$(nproc)"
