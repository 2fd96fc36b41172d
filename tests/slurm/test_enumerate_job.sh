#!/usr/bin/env bash
# test_enumerate_job.sh STARFOLD TREE   The shipped job with a long enumeration on a real SLURM, with either launcher: told
# to leave, as before its time limit, it puts itself back, goes on, and ends with the bytes of one that nobody told.
set -euo pipefail
starfold=$1 tree=$2
# shellcheck source=tests/slurm/cluster.sh
. "$tree/tests/slurm/cluster.sh"
SLURM_CPUS=2 cluster_up
mkdir "$work/some chains"
cd "$work/some chains"
for end in HHHP PHPH; do # half a minute of one core, so that it is told in time
    echo "HPHPPHHPHPPHPHHPPHPHHPPHP$end"
done >chains.txt
words=(enumerate --engine walk --file chains.txt --checkpoint-seconds 1)
by() { echo "by $1.h5"; }

for launcher in srun mpirun; do
    output=$(by $launcher)
    job=$(LAUNCH=$launcher STARFOLD=$starfold sbatch --parsable --ntasks-per-node=2 "$tree/jobs/search.sbatch" \
        "${words[@]}" --output "$output" --quiet)
    wait_for 60 "$launcher: a checkpoint" is_there "$output.checkpoint"
    scancel --batch --signal=USR1 "$job"
    wait_for 400 "$launcher: done" is_over "$job"
    log=search-$job.log
    [ "$(field "$job" JobState)" = COMPLETED ] || { cat "$log"; fail "$launcher: the job ended as $(field "$job" JobState)"; }
    grep -q 'ended with status 75' "$log" || { cat "$log"; fail "$launcher: it was not stopped"; }
    grep -q 'after 1 restarts' "$log" || { cat "$log"; fail "$launcher: it did not come back"; }
done
"$starfold" "${words[@]}" --output whole.h5 --quiet >/dev/null
for launcher in srun mpirun; do
    cmp "$(by $launcher)" whole.h5 || fail "$launcher: other bytes than without a stop"
done
say "same bytes"
