#!/usr/bin/env bash
# torture.sh [KILLS]   The long proof that no run is lost: builds, then kills random ranks at KILLS (200) random moments,
# lets every single call that changes a file and every allocation go wrong, fills disks, stops runs in every way and chains
# pieces. Takes an hour or so and prints a table; the quick version of the same is part of test.sh.
# STARFOLD_TEST_SEED=N repeats random choices.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build/test
kills=${1:-200}
log=$build/torture.log
table=$build/torture.table

case $kills in
'' | *[!0-9]*)
    echo "torture.sh: '$kills' is no number of kills" >&2
    exit 2
    ;;
esac
"$root/scripts/build.sh" test -DCMAKE_BUILD_TYPE=Release -DSTARFOLD_WERROR=ON
# shellcheck source=scripts/mpi-env.sh
. "$root/scripts/mpi-env.sh"
export STARFOLD_KILLS=$kills STARFOLD_TORTURE=all STARFOLD_TORTURE_TABLE=$table
: >"$log"
: >"$table"

failed=0
summary=()
for name in app.test_kills io.test_killed torture.test_faults torture.test_table_faults torture.test_answer_faults \
    torture.test_memory torture.test_stops torture.test_trouble app.test_resume; do
    echo "torture: $name, the log is $log"
    begin=$SECONDS
    result=good
    ctest --test-dir "$build" --no-tests=error --output-on-failure --timeout 14400 -R "^$name\$" >>"$log" 2>&1 || result=FAILED
    if [ "$result" = FAILED ]; then
        failed=1
        tail -n 30 "$log"
    fi
    summary+=("$(printf '%-28s%-8s%6d s' "$name" "$result" $((SECONDS - begin)))")
done

echo
echo "Calls that change a file, made to go wrong in turn; after each the file opened and going on gave the expected bytes:"
cat "$table"
echo
printf '%s\n' "${summary[@]}" "random kills: $kills"
exit "$failed"
