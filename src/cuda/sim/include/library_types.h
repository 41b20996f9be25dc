/* library_types.h - cudaDataType, which the simulated toolkit declares with the runtime's calls. */
#ifndef LT_SIM_LIBRARY_TYPES_H
#define LT_SIM_LIBRARY_TYPES_H

#include "cuda_runtime.h"

#endif
