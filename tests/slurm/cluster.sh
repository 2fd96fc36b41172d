# shellcheck shell=bash
# What the SLURM tests share; sourced, with $tree naming the source tree. Ends the test with 77 where SLURM is missing.
: "${tree:?}" "${starfold:=starfold}"

fail() {
    printf 'FAIL: %s\n' "$*"
    tail -n 40 "$work"/*/search-*.log 2>/dev/null || true
    exit 1
}
say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd srun sbatch; do
    command -v "$tool" >/dev/null || {
        echo "SKIP: ${0##*/}: SLURM is not installed ($tool is missing)"
        exit 77
    }
done
# A cluster of the site must not get our jobs, nor a job that we are in shape them.
unset "${!SLURM_@}"
# shellcheck source=scripts/mpi-env.sh
. "$tree/scripts/mpi-env.sh"

# Short and without blanks, for SLURM's sockets are in it.
work=$(mktemp -d /tmp/starfold-slurm.XXXXXX)
finish() {
    "$tree/scripts/local-cluster" down "$work/cluster" --wipe >/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

cluster_up() { # with SLURM_NODES and SLURM_CPUS set for it
    "$tree/scripts/local-cluster" up "$work/cluster"
    # shellcheck source=/dev/null
    . "$work/cluster/env.sh"
}

field() { scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"; } # JOB NAME
is_over() { [[ $(field "$1" JobState) =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)$ ]]; }
is_there() { [ -e "$1" ]; }
# The program with these words, by process number, once it answers USR1 with a handler of its own, so many times.
hears() { # COUNT WORDS; the numbers are left in $heard
    local pid caught
    heard=()
    for pid in $(pgrep -f "^$starfold $2"); do
        caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null) || continue
        [ -z "$caught" ] || [ $((0x$caught >> 9 & 1)) = 0 ] || heard+=("$pid")
    done
    [ "${#heard[@]}" = "$1" ]
}
# The seconds are those of a quiet machine. No test may fail for being slow: only what hangs takes ten times as long.
wait_for() { # SECONDS WHAT COMMAND...
    local seconds=$((10 * $1)) what=$2 end=$((SECONDS + 10 * $1))
    shift 2
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "waited $seconds s for $what"
        sleep 0.2
    done
    say "$what"
}
