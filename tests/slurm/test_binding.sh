#!/usr/bin/env bash
# test_binding.sh TREE   The shipped job gives each rank as many cores as it has threads, and no core to two ranks, with
# either launcher. In starfold's place stands a program that tells what it was given.
set -euo pipefail
tree=$1
# shellcheck source=tests/slurm/cluster.sh
. "$tree/tests/slurm/cluster.sh"
cores=$(nproc)
[ "$cores" -ge 2 ] || {
    echo "SKIP: ${0##*/}: binding takes two cores or more"
    exit 77
}
cluster_up
# What the job script must get right by itself.
unset OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_rmaps_base_oversubscribe

mkdir "$work/a job"
cat >"$work/a job/tell" <<'TELL'
#!/bin/sh
sed -n "s/^Cpus_allowed_list:[[:space:]]*/given $OMP_NUM_THREADS threads, cores /p" /proc/self/status
sleep 1
TELL
chmod +x "$work/a job/tell"

check() { # LAUNCHER RANKS THREADS
    local job log cpu given=0
    job=$(cd "$work/a job" && LAUNCH=$1 STARFOLD="$work/a job/tell" sbatch --parsable --ntasks-per-node="$2" \
        --cpus-per-task="$3" "$tree/jobs/search.sbatch")
    wait_for 60 "$1 with $2 ranks of $3 threads" is_over "$job"
    log="$work/a job/search-$job.log"
    [ "$(field "$job" JobState)" = COMPLETED ] || fail "the job ended as $(field "$job" JobState)"
    [ "$(grep -c "^given $3 threads" "$log")" = "$2" ] || fail "not $2 ranks of $3 threads"
    # All cores of all ranks, one a line: ranges as 0-1 written out.
    sed -n 's/^given.* cores //p' "$log" | tr ',' '\n' | awk -F- '{for (c = $1; c <= $NF; c++) print c}' | sort \
        >"$work/a job/cpus"
    for cpu in $(uniq "$work/a job/cpus"); do
        given=$((given + 1))
        [ "$(grep -cx "$cpu" "$work/a job/cpus")" = 1 ] || fail "core $cpu was given to two ranks"
    done
    [ "$given" = $(($2 * $3)) ] || fail "$given cores for $2 ranks of $3 threads"
}
for launcher in srun mpirun; do
    check "$launcher" 2 1
    check "$launcher" 1 2
done
