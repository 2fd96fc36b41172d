#!/usr/bin/env bash
# test_trouble.sh STARFOLD TREE   What goes wrong under a real SLURM: copies that do not know of each other, a rank that
# is killed, signals to a step, a job's end that nothing but SLURM knows, and preemption of the shipped job.
set -euo pipefail
starfold=$1 tree=$2
# shellcheck source=tests/slurm/cluster.sh
. "$tree/tests/slurm/cluster.sh"
SLURM_CPUS=4 cluster_up
search=(--length 18 --islands 6 --population 100 --generations 1000000 --seed 4 --threads 1 --quiet)
cd "$work"

is_gone() { ! kill -0 "$1" 2>/dev/null; }
says() { grep -q -- "$2" "$1" || fail "$1 does not say '$2': $(cat "$1")"; }
ours() { grep -c '^starfold: ' "$1" || true; } # lines of the program
step() { squeue -h -s -o '%i %j' | sed -n "s/ $1\$//p"; }

# --- srun without a PMI starts copies; each would write the one output.
status=0
srun --mpi=none -n 3 "$starfold" run --output copies.h5 "${search[@]}" 2>copies.err || status=$?
[ "$status" = 2 ] || fail "copies: status $status"
[ "$(ours copies.err)" = 1 ] || fail "copies: $(cat copies.err)"
says copies.err "use srun --mpi=pmix"
! ls copies.h5* >/dev/null 2>&1 || fail "copies wrote something"
say "copies that do not know of each other are refused"

# --- A job of one minute, told by no --time-limit and no signal. It goes on while the others run.
limit_began=$SECONDS
srun --mpi=pmix -n 1 --time=1 "$starfold" run --output limit.h5 "${search[@]}" 2>limit.err &
limit=$!

# --- A rank is killed: srun names it, and all is over.
srun --mpi=pmix -n 2 --job-name=killed "$starfold" run --output killed.h5 "${search[@]}" --checkpoint-seconds 1 2>killed.err &
child=$!
wait_for 60 "killed: two checkpoints" is_there killed.h5.checkpoint.previous
wait_for 10 "killed: two ranks" hears 2 "run --output killed.h5"
kill -KILL "${heard[1]}"
wait_for 10 "killed: over" is_gone "$child"
status=0
wait "$child" || status=$?
[ "$status" = 137 ] || fail "killed: status $status"
says killed.err "task [01]: Killed"
"$starfold" info killed.h5 >/dev/null

# --- USR1 to a step reaches every rank; one line, status 75, and the file may be resumed.
srun --mpi=pmix -n 2 --job-name=told "$starfold" resume killed.h5 --threads 1 --quiet 2>told.err &
child=$!
wait_for 60 "told: both ranks listen" hears 2 "resume killed.h5" # a lock of the one that was killed may lie there
scancel --signal=USR1 "$(step told)"
wait_for 20 "told: over" is_gone "$child"
status=0
wait "$child" || status=$?
[ "$status" = 75 ] || fail "told: status $status: $(cat told.err)"
[ "$(ours told.err)" = 1 ] || fail "told: $(cat told.err)"
says told.err "stopped by a signal"

# --- The end of the job: SLURM would kill it after a minute, give or take half of one.
wait_for 100 "limit: over" is_gone "$limit"
status=0
wait "$limit" || status=$?
[ "$status" = 75 ] || fail "limit: status $status after $((SECONDS - limit_began)) s: $(cat limit.err)"
says limit.err "stopped by the time limit"

# --- A job of a higher partition takes the node; ours is put back and goes on afterwards.
mkdir preempted
cat >preempted/search.ini <<INI
length = 13
islands = 3
population = 20
generations = 3000000
seed = 4
checkpoint-seconds = 1
INI
job=$(cd preempted && LAUNCH=mpirun STARFOLD=$starfold RUN=run.h5 sbatch --parsable --ntasks-per-node=1 \
    --cpus-per-task=1 --time=10 "$tree/jobs/search.sbatch")
wait_for 60 "preempted: a checkpoint" is_there preempted/run.h5.checkpoint.previous
printf '#!/bin/sh\nsleep 3\n' >urgent.sh
urgent=$(sbatch --parsable --partition=urgent --exclusive --output=urgent.log urgent.sh)
wait_for 60 "preempted: the urgent job is done" is_over "$urgent"
# The lock of the piece that was killed may still lie there: what tells is the log.
restarted() {
    [ "$(field "$job" Restarts)" = 1 ] && [ "$(field "$job" JobState)" = RUNNING ] &&
        grep -q "resume run.h5" "preempted/search-$job.log"
}
wait_for 120 "preempted: runs again" restarted
scontrol update JobId="$job" Requeue=0
breeds() { [ -n "$(sed -n '/resume run.h5/,${/^generation /p}' "preempted/search-$job.log")" ]; }
wait_for 60 "preempted: the second piece breeds" breeds
touch preempted/run.h5.stop
wait_for 30 "preempted: over" is_over "$job"
says "preempted/search-$job.log" "ended with status 75"
[ ! -e preempted/run.h5.stop ] || fail "preempted: the stop file is left"
done_generations=$("$starfold" info preempted/run.h5.checkpoint --format json |
    sed -n 's/.*"generation":[^0-9]*\([0-9]*\).*/\1/p')
"$starfold" resume preempted/run.h5 --generations $((done_generations + 5)) --quiet
"$starfold" run --config preempted/search.ini --generations $((done_generations + 5)) --output whole.h5 --quiet
cmp preempted/run.h5 whole.h5 || fail "preempted: another file than of an undisturbed run"
say "preempted: same bytes after $done_generations generations"
