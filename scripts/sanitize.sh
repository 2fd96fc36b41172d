#!/usr/bin/env bash
# sanitize.sh [address|thread|memcheck]... [-- CTEST-OPTION...]   Runs checkers of memory and threads (default: all three).
#
#   address   everything under AddressSanitizer, its leak checker and UBSan: the tests of core, io, dist, app and fuzz, and
#             every allocation of every command failing in turn
#   thread    the threaded engines and a search under ThreadSanitizer; needs clang, libomp and its libarcher (Debian:
#             clang libclang-rt-14-dev libomp-14-dev), because with GCC's own OpenMP every barrier looks like a race
#   memcheck  short commands under valgrind
#
# Options after -- go to ctest in `address` (as -- -L io). Status 1 when anything was found. STARFOLD_JOBS=N sets how many
# tests run at once.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
suppressions=$root/tests/suppressions
jobs=${STARFOLD_JOBS:-$(nproc)}
failed=()

need() {
    command -v "$1" >/dev/null && return 0
    echo "sanitize: $1 is not installed (Debian: $2)" >&2
    exit 2
}

# Runs a command; tells and remembers when it fails.
check() {
    local what=$1
    shift
    if "$@" >"$log" 2>&1; then
        echo "sanitize: clean: $what"
    else
        echo "sanitize: NOT clean: $what (status $?)"
        sed 's/^/    /' "$log" | tail -n 60
        failed+=("$what")
    fi
}

address() {
    "$root/scripts/build.sh" asan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g1" \
        -DCMAKE_C_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
    # MPI unloads its plugins, and what they leave would have no name any more to be passed over by.
    printf 'int dlclose(void *handle)\n{\n    return (void)handle, 0;\n}\n' >"$folder/keep.c"
    cc -shared -fPIC -o "$folder/keep.so" "$folder/keep.c"
    export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:verify_asan_link_order=0
    export UBSAN_OPTIONS=print_stacktrace=1
    export LSAN_OPTIONS=suppressions=$suppressions/lsan.supp:print_suppressions=0
    if [ $# -gt 0 ]; then
        address_tests "$@"
    else
        address_tests -L '^(core|io|dist|app|fuzz)$'
        STARFOLD_TORTURE=all address_tests -R '^torture.test_memory$'
    fi
}

address_tests() {
    LD_PRELOAD=$folder/keep.so ctest --test-dir "$root/build/asan" --no-tests=error --output-on-failure \
        --parallel "$jobs" --timeout 3600 "$@" || failed+=("tests under AddressSanitizer: $*")
}

thread() {
    need clang clang
    local archer tests=(core_test_engine core_test_table core_test_merge core_test_bound core_test_census core_test_puzzle)
    archer=$(find /usr/lib/llvm-*/lib -name libarcher.so 2>/dev/null | sort | tail -n 1)
    [ -n "$archer" ] || {
        echo "sanitize: libarcher.so is not installed (Debian: libomp-14-dev)" >&2
        exit 2
    }
    cmake -S "$root" -B "$root/build/tsan" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g1" -DCMAKE_C_FLAGS=-fsanitize=thread
    cmake --build "$root/build/tsan" --parallel "$(nproc)" --target starfold "${tests[@]}"
    export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive
    export TSAN_OPTIONS=ignore_noninstrumented_modules=1:suppressions=$suppressions/tsan.supp
    local program=$root/build/tsan/bin/starfold test engine
    for engine in table walk bound; do
        check "thread: enumerate, engine $engine" "$program" enumerate --engine "$engine" --threads 4 HHPPHPPHPHHP
        check "thread: enumerate, cubic, engine $engine" "$program" enumerate --engine "$engine" --threads 4 \
            --lattice cubic HHPPHPPHPH
    done
    check "thread: census" "$program" census --length 12 --threads 4
    check "thread: run" "$program" run --length 12 --islands 2 --generations 10 --migration-interval 3 --threads 4 \
        --output "$folder/thread.h5"
    check "thread: verify" "$program" verify "$folder/thread.h5" --threads 4
    for test in "${tests[@]}"; do
        check "thread: $test" "$root/build/tsan/tests/$test"
    done
}

memcheck() {
    need valgrind valgrind
    "$root/scripts/build.sh" memcheck -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTARFOLD_TESTS=OFF
    export STARFOLD_ISA=avx2 # the best that valgrind knows
    local program=$root/build/memcheck/bin/starfold run words
    run=(valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite
        --errors-for-leak-kinds=definite --keep-debuginfo=yes --suppressions="$suppressions/memcheck.supp")
    [ ! -f /usr/share/openmpi/openmpi-valgrind.supp ] ||
        run+=(--suppressions=/usr/share/openmpi/openmpi-valgrind.supp)
    printf 'HPHPPHHP\nPHHPPHPH\n' >"$folder/sequences"
    while read -r -a words; do
        check "memcheck: ${words[*]}" "${run[@]}" "$program" "${words[@]}"
    done <<END
enumerate --engine table --threads 2 HHPPHPPHPHHP
enumerate --engine walk --lattice cubic --threads 2 HHPPHPPH
enumerate --engine bound --threads 2 HHPPHPPHPHHP
enumerate --file sequences --format json
enumerate --score-model HPN:4,0,0;-1,1;-1 HPNNPH
census --length 9
run --length 9 --islands 2 --generations 6 --migration-interval 2 --threads 2 --output run.h5
info run.h5
levels run.h5
digest run.h5
verify run.h5
repair run.h5
END
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/log
checkers=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    address | thread | memcheck) checkers+=("$1") ;;
    *)
        echo "usage: sanitize.sh [address|thread|memcheck]... [-- CTEST-OPTION...]" >&2
        exit 2
        ;;
    esac
    shift
done
[ $# -eq 0 ] || shift
[ ${#checkers[@]} -gt 0 ] || checkers=(address thread memcheck)
cd "$folder"
# shellcheck source=scripts/mpi-env.sh
. "$root/scripts/mpi-env.sh"
for checker in "${checkers[@]}"; do
    "$checker" "$@"
done
if [ ${#failed[@]} -gt 0 ]; then
    printf 'sanitize: found something in: %s\n' "${failed[@]}"
    exit 1
fi
echo "sanitize: nothing found"
