# shellcheck shell=sh
# Environment for Open MPI on one machine; source it before mpirun. A value that is already set is kept.
# (On a cluster the job script decides; see jobs/.)

# mpirun refuses root unless told twice. Containers and fresh virtual machines have no other user.
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# More ranks than cores are wanted in tests; then a waiting rank must give its core away.
export OMPI_MCA_rmaps_base_oversubscribe="${OMPI_MCA_rmaps_base_oversubscribe-1}"
export OMPI_MCA_mpi_yield_when_idle="${OMPI_MCA_mpi_yield_when_idle-1}"
# With one or two ranks mpirun binds each to one core, and all its threads with it.
export OMPI_MCA_hwloc_base_binding_policy="${OMPI_MCA_hwloc_base_binding_policy-none}"
# Containers often forbid ranks to read each other's memory directly; copying through shared memory always works.
export OMPI_MCA_btl_vader_single_copy_mechanism="${OMPI_MCA_btl_vader_single_copy_mechanism-none}"
# A rank that is killed while it starts may hold a lock of PMIx's memory for good, and mpirun then waits for it for ever
# (https://github.com/openpmix/openpmix/issues/1233). Without that memory there is no lock.
export PMIX_MCA_gds="${PMIX_MCA_gds-hash}"
