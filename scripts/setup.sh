#!/usr/bin/env bash
# setup.sh [build] [figures] [tests] [slurm]   (default: build figures)
#
# Installs what is missing for each purpose, as Debian packages by name, as root or through sudo; does nothing when all
# is there. Where there is no apt-get, or no right to use it, it looks for the tools themselves and says what is needed.
# `build` and `figures` must succeed. `tests` and `slurm` add tests; where they cannot be had those tests are skipped,
# so their failure is told and forgiven (CUnit, which every test needs, belongs to `build`).
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

packages_for() {
    case $1 in
    build)
        echo build-essential cmake ninja-build openmpi-bin libopenmpi-dev libhdf5-openmpi-dev hdf5-tools \
            libcunit1-dev librandom123-dev libcjson-dev libinih-dev
        ;;
    figures) echo python3-numpy python3-h5py python3-matplotlib ;;
    tests) echo shellcheck ;;
    # srun loads the unversioned libpmix.so, which only libpmix-dev brings.
    slurm) echo slurm-wlm slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libpmix2 libpmix-dev ;;
    *) fail "unknown purpose '$1'; there are: build figures tests slurm" ;;
    esac
}

# One line for each tool of a purpose that is not there; nothing when all are.
missing_tools() {
    local tool header compiler=${CC:-cc}
    case $1 in
    build)
        for tool in "$compiler" cmake mpicc mpirun; do
            command -v "$tool" >/dev/null || echo "$tool"
        done
        command -v "$compiler" >/dev/null || return 0
        for header in CUnit/Basic.h Random123/philox.h cjson/cJSON.h ini.h; do
            echo "#include <$header>" | "$compiler" -fsyntax-only -x c - 2>/dev/null || echo "header $header"
        done
        command -v h5pcc >/dev/null || command -v h5pcc.openmpi >/dev/null || echo "HDF5 built with MPI"
        ;;
    figures) "$here/find-python" >/dev/null 2>&1 || echo "Python with numpy, h5py and matplotlib" ;;
    tests) command -v shellcheck >/dev/null || echo shellcheck ;;
    slurm)
        for tool in munged slurmctld slurmd srun sbatch; do
            PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || echo "$tool"
        done
        ;;
    esac
}

# Installs the named packages; status 1 when that is not possible here.
install() {
    local run=()
    command -v apt-get >/dev/null || return 1
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || return 1
        run=(sudo)
        [ -t 0 ] || run=(sudo -n)
    fi
    run+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
    say "installing: $*"
    if [ "$updated" = no ]; then
        "${run[@]}" update || say "apt-get update failed; trying with the package lists that are there"
        updated=yes
    fi
    "${run[@]}" install --no-install-recommends "$@"
}

provide() {
    local purpose=$1 package missing=() wanted tools
    wanted=$(packages_for "$purpose")
    if command -v dpkg-query >/dev/null; then
        for package in $wanted; do
            [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
        done
        [ ${#missing[@]} -gt 0 ] || return 0
        install "${missing[@]}" && return 0
    fi
    tools=$(missing_tools "$purpose" | paste -sd, | sed 's/,/, /g')
    [ -n "$tools" ] || return 0
    local message="for '$purpose' this machine lacks: $tools (Debian packages: $wanted)"
    case $purpose in
    build | figures) fail "$message" ;;
    *) say "$message; tests that need it will be skipped" ;;
    esac
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
updated=no
[ $# -gt 0 ] || set -- build figures
for purpose; do
    packages_for "$purpose" >/dev/null
done
for purpose; do
    provide "$purpose"
done
say "all there for: $*"
