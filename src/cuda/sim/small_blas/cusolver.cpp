/* cusolver.cpp - no cuSOLVER in builds without OpenBLAS: its stand-in needs LAPACK. */
#include "cuda.h"
#include "libraries/cusolver_api.h"

lt_status lt_cusolver_get(const lt_cusolver **)
{
    return lt_cuda_core->error(LT_ERR_DEVICE,
                               "simulated GPUs have no cuSOLVER in this build, since it needs "
                               "LAPACK; call cpu() first, or run the program of make all");
}
