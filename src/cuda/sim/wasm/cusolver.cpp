/* cusolver.cpp - no cuSOLVER in WebAssembly: its stand-in needs LAPACK. */
#include "cuda.h"
#include "libraries/cusolver_api.h"

lt_status lt_cusolver_get(const lt_cusolver **)
{
    return lt_cuda_core->error(LT_ERR_DEVICE,
                               "simulated GPUs have no cuSOLVER in WebAssembly, since it needs "
                               "LAPACK; call cpu() first, or run the program on a computer");
}
