#!/usr/bin/env bash
# fuzz.sh [SECONDS] [TARGET...]   Runs the fuzz targets (all, or those named) under libFuzzer, AddressSanitizer and UBSan
# for SECONDS each (default 60), one on every core, and prints a table. Needs clang with its runtimes (Debian: clang
# libclang-rt-14-dev libomp-14-dev). Inputs that crash are left in build/fuzz/found/TARGET/, new corpus in
# build/fuzz/corpus/TARGET/, where the next call goes on. Status 1 when a target crashed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build/fuzz
seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || {
    echo "usage: fuzz.sh [SECONDS] [TARGET...]" >&2
    exit 2
}
[ $# -eq 0 ] || shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for folder in "$root"/tests/fuzz/corpus/*/; do
        targets+=("$(basename "$folder")")
    done
fi
command -v clang >/dev/null || {
    echo "fuzz: clang is not installed (Debian: clang libclang-rt-14-dev libomp-14-dev)" >&2
    exit 2
}
mkdir -p "$build"
# The engines are compiled too; -O1 and few debugging symbols keep that to minutes.
cmake -S "$root" -B "$build" -DCMAKE_C_COMPILER=clang -DSTARFOLD_FUZZ=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g1" >"$build.log" 2>&1 || {
    cat "$build.log" >&2
    exit 1
}
cmake --build "$build" --parallel "$(nproc)" --target fuzzers

# What the trial process of the reader trips over is told to nobody: its reports go to files that are looked through.
export ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1:malloc_context_size=10"
export UBSAN_OPTIONS="print_stacktrace=1"
export LSAN_OPTIONS="suppressions=$root/tests/suppressions/lsan.supp:print_suppressions=0"

fuzz_one() {
    local name=$1 found=$build/found/$1 corpus=$build/corpus/$1
    mkdir -p "$found" "$corpus"
    ASAN_OPTIONS="$ASAN_OPTIONS:log_path=$found/report" nice -n 19 "$build/tests/fuzz/fuzz_$name" \
        -max_total_time="$seconds" -timeout=300 -rss_limit_mb=4096 -max_len=4096 -print_final_stats=1 \
        -artifact_prefix="$found/" "$corpus" "$root/tests/fuzz/corpus/$name" >"$found/log" 2>&1 || true
}
running=0
for name in "${targets[@]}"; do
    if [ "$running" -ge "$(nproc)" ]; then
        wait -n
        running=$((running - 1))
    fi
    fuzz_one "$name" &
    running=$((running + 1))
done
wait

# A line of the statistics that libFuzzer ends with.
statistic() {
    sed -n "s/^stat::$2: *//p" "$build/found/$1/log"
}
status=0
printf '%-14s %12s %10s %8s %8s\n' target executions seconds corpus crashes
for name in "${targets[@]}"; do
    # What a dying trial process of the reader leaves in found/ is not ours: its output goes nowhere, that of the fuzzer to
    # the log. A fuzzer that found something does not say that it is done.
    crashes=$(grep -c 'Test unit written' "$build/found/$name/log" || true)
    took=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$build/found/$name/log")
    printf '%-14s %12s %10s %8s %8s\n' "$name" "$(statistic "$name" number_of_executed_units)" "${took:--}" \
        "$(find "$build/corpus/$name" -type f | wc -l)" "$crashes"
    [ "$crashes" = 0 ] && [ -n "$took" ] || status=1
done
# Faults inside HDF5, of which the trial process is there to die, are counted apart from ours.
reports=$(find "$build/found" -name 'report.*' | wc -l)
ours=$(find "$build/found" -name 'report.*' -exec grep -lE '^ *#[0-2] .* (sf_|.*/src/(core|io|app|dist)/)' {} + | wc -l)
echo "fuzz: $reports reports of trial processes; in $ours of them the fault lies in or just below our own code"
exit "$status"
