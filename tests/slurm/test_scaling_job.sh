#!/usr/bin/env bash
# test_scaling_job.sh STARFOLD TREE   The shipped scaling job on a real SLURM, with either launcher: the study holds every
# point, and submitted again the job has nothing left to do.
set -euo pipefail
starfold=$1 tree=$2
/usr/bin/python3 -c 'import h5py, numpy' 2>/dev/null || {
    echo "SKIP: ${0##*/}: no /usr/bin/python3 with h5py and numpy"
    exit 77
}
# shellcheck source=tests/slurm/cluster.sh
. "$tree/tests/slurm/cluster.sh"
SLURM_CPUS=2 cluster_up
mkdir "$work/a study"
cd "$work/a study"

submit() { # LAUNCHER KIND COMMAND...
    local launcher=$1 kind=$2
    shift 2
    LAUNCH=$launcher KIND=$kind RANKS=1,2 REPEAT=2 STUDY="by $launcher.h5" STARFOLD=$starfold \
        SCALING=$tree/scripts/scaling sbatch --parsable --ntasks-per-node=2 "$tree/jobs/scaling.sbatch" "$@"
}
check() { # LAUNCHER KIND COMMAND...
    local job log before
    job=$(submit "$@")
    log=scaling-$job.log
    wait_for 120 "$1: the study is done" is_over "$job"
    [ "$(field "$job" JobState)" = COMPLETED ] || { cat "$log"; fail "$1: the job ended as $(field "$job" JobState)"; }
    [ "$(grep -c 'ranks x 1 threads: [0-9.]* s' "$log")" = 4 ] || { cat "$log"; fail "$1: not four runs"; }
    grep -Eq '^ +2 +1 +[0-9.]+ +[0-9.]+ +[0-9.]+$' "$log" || { cat "$log"; fail "$1: no speed-up for two ranks"; }
    before=$(cksum <"by $1.h5")
    job=$(submit "$@")
    wait_for 60 "$1: nothing left to do" is_over "$job"
    [ "$(field "$job" JobState)" = COMPLETED ] || fail "$1: submitted again, the job ended as $(field "$job" JobState)"
    ! grep -q 'threads: ' "scaling-$job.log" || fail "$1: submitted again, it measured again"
    [ "$before" = "$(cksum <"by $1.h5")" ] || fail "$1: submitted again, the study changed"
}
check srun strong census --length 14
check mpirun weak run --length 12 --islands '{2*workers}' --generations 20
