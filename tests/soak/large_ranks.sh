#!/bin/sh
# make soak-ranks: two ranks exchange tensors of more than 2^31 elements (large_ranks.lua), with our reductions and with the MPI's own, on
# each MPI that is here. Takes 14 GiB of memory and some minutes. Uses $BUILD (default build).
set -eu
ltensor=${BUILD-build}/ltensor
export LC_ALL=C OMP_NUM_THREADS=1
tried=0
for mpi in openmpi mpich; do
    command -v "mpirun.$mpi" >/dev/null || continue
    launch="mpirun.$mpi -n 2"
    if [ $mpi = openmpi ]; then
        launch="$launch --oversubscribe --bind-to none"
        [ "$(id -u)" -ne 0 ] || launch="$launch --allow-run-as-root"
    fi
    for native in 0 1; do
        echo "$mpi$([ $native = 0 ] || echo ', its own reductions')"
        $launch "$ltensor" tests/soak/large_ranks.lua $native
        tried=$((tried + 1))
    done
done
[ $tried -gt 0 ] || { echo "large_ranks.sh: neither mpirun.openmpi nor mpirun.mpich is here" >&2; exit 1; }
