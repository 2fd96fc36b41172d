#!/usr/bin/env bash
# test_search_job.sh STARFOLD TREE   The shipped job on a real SLURM of two nodes on this machine. Two searches at once,
# one started by srun and one by mpirun, each longer than its time limit:
#   both     stop before their limit, put themselves back into the queue and resume, until they are done
#   srun     is also killed in the middle by `scontrol requeue`, as preemption or a lost node would
#   mpirun   is also cancelled in the middle, must stay away, and is submitted again by hand
# Their run files must be, byte for byte, that of one search that nobody interrupted. A third one is cancelled and
# finished without SLURM, to the same bytes. The runs' folders and files have a blank in their names.
set -euo pipefail
starfold=$1 tree=$2
# shellcheck source=tests/slurm/cluster.sh
. "$tree/tests/slurm/cluster.sh"
SLURM_NODES=2 SLURM_CPUS=2 cluster_up

# --- What is searched. Pieces end 100 seconds before a limit of two minutes, give or take SLURM's half minute, so a search
# of a minute needs several, and each goes further, on a slow machine too. How many generations that is differs between
# machines: measure, in time on the processor, for the machine may be busy. The chain is so long that its sequences never
# all become known. Four ranks share the cores: on four and more each search advances twice as fast.
configure() { # GENERATIONS
    cat >"$work/search.ini" <<INI
length = 21
islands = 6
generations = $1
migration-interval = 5
seed = 12
checkpoint-seconds = 2
INI
}
run_whole() { "$starfold" run --config "$work/search.ini" --output "$work/whole.h5" --force --quiet "$@"; }
processor_ms() { # COMMAND...
    local TIMEFORMAT=%U seconds
    seconds=$({ time "$@" >&2; } 2>&1)
    awk -v s="$seconds" 'BEGIN {printf "%d", s * 1000}'
}
configure 0
table_ms=$(processor_ms run_whole --threads 1)
trial=10 took_ms=0
while [ "$took_ms" -lt 1000 ]; do
    trial=$((trial * 2))
    configure "$trial"
    took_ms=$(($(processor_ms run_whole --threads 1) - table_ms))
done
goal_ms=$(($(nproc) >= 4 ? 120000 : 60000))
generations=$((trial * goal_ms / took_ms))
configure "$generations"
say "$trial generations take $took_ms ms; searching $generations"

# --- Jobs.
submit() { # LAUNCHER NAME; prints the job's number
    mkdir -p "$work/$2"
    (
        cd "$work/$2"
        LAUNCH=$1 STARFOLD=$starfold CONFIG=$work/search.ini RUN="a run.h5" sbatch --parsable \
            --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --time=2 --signal=B:USR1@100 "$tree/jobs/search.sbatch"
    )
}
# The n-th piece runs and has done so for a moment; a job that is over will have no n-th piece.
piece_runs() { # JOB PIECE
    ! is_over "$1" || fail "job $1 is $(field "$1" JobState), before its piece $2"
    [ "$(field "$1" JobState)" = RUNNING ] && [ "$(field "$1" Restarts)" -ge $(($2 - 1)) ] &&
        [[ $(field "$1" RunTime) > 00:00:04 ]]
}
same_bytes() { # NAME
    cmp "$work/$1/a run.h5" "$work/whole.h5" || fail "$1: the run file is not that of an uninterrupted search"
    say "$1: same bytes"
}

by_srun=$(submit srun "by srun")
by_mpirun=$(submit mpirun "by mpirun")
wait_for 200 "srun: second piece runs" piece_runs "$by_srun" 2
wait_for 200 "mpirun: second piece runs" piece_runs "$by_mpirun" 2
grep -q "ended with status 75" "$work/by srun/search-$by_srun.log" || fail "srun: the first piece did not end with status 75"
grep -q "ended with status 75" "$work/by mpirun/search-$by_mpirun.log" ||
    fail "mpirun: the first piece did not end with status 75"
scontrol requeue "$by_srun"
scancel "$by_mpirun"
wait_for 30 "mpirun: cancelled" is_over "$by_mpirun"
[ "$(field "$by_mpirun" JobState)" = CANCELLED ] || fail "mpirun: state $(field "$by_mpirun" JobState) after scancel"
first=$by_mpirun
by_mpirun=$(submit mpirun "by mpirun")

# One search that nobody interrupts, meanwhile: another number of ranks and threads, the same bytes.
run_whole --threads 2
say "the uninterrupted search is done"
wait_for 600 "srun: done" is_over "$by_srun"
wait_for 600 "mpirun: done" is_over "$by_mpirun"
for job in "$by_srun" "$by_mpirun"; do
    [ "$(field "$job" JobState)" = COMPLETED ] || fail "job $job ended as $(field "$job" JobState)"
done
[ "$(field "$first" JobState)" = CANCELLED ] || fail "the cancelled job came back"
same_bytes "by srun"
same_bytes "by mpirun"

# --- scancel leaves a good checkpoint, which needs no SLURM to go on.
job=$(submit srun "cancelled")
wait_for 60 "cancelled: a checkpoint" is_there "$work/cancelled/a run.h5.checkpoint"
scancel "$job"
wait_for 30 "cancelled: over" is_over "$job"
status=0
"$starfold" resume "$work/cancelled/a run.h5" --threads 2 --quiet || status=$?
[ "$status" = 0 ] || fail "cancelled: resume ended with status $status"
same_bytes "cancelled"
