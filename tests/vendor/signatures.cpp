/* signatures.cpp - our declarations of the vendor's libraries (src/cuda/libraries) beside the
 * vendor's own: every number and every type of a function must be the same, and every function is
 * in the library. Compiled by check.sh where the vendor's headers are; run with no argument it
 * looks all functions up by the sonames that the backend opens for CUDA 13. */
#define LT_VENDOR_HEADERS
#include <cuda_runtime.h>

#include <cublasLt.h>
#include <cublas_api.h>
#include <cudnn.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <nccl.h>
#include <nvrtc.h>

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <type_traits>

#include "libraries/cublas_api.h"
#include "libraries/cudnn_api.h"
#include "libraries/cudnn_graph_api.h"
#include "libraries/cudnn_rnn_api.h"
#include "libraries/cufft_api.h"
#include "libraries/cusolver_api.h"
#include "libraries/cusparse_api.h"
#include "libraries/nccl_api.h"
#include "libraries/nvrtc_api.h"

#define SAME_NUMBER(name, value) static_assert((long long)(name) == (value), #name);
LT_CUBLAS_STATUSES(SAME_NUMBER)
LT_CUBLAS_OPERATIONS(SAME_NUMBER)
LT_CUBLAS_SIDES(SAME_NUMBER)
LT_CUBLAS_FILLS(SAME_NUMBER)
LT_CUBLAS_DIAGONALS(SAME_NUMBER)
LT_CUBLAS_MATHS(SAME_NUMBER)
LT_CUBLAS_COMPUTATIONS(SAME_NUMBER)
LT_CUBLAS_ALGORITHMS(SAME_NUMBER)
LT_CUBLASLT_DESC_ATTRIBUTES(SAME_NUMBER)
LT_CUBLASLT_EPILOGUES(SAME_NUMBER)
LT_CUBLASLT_PREFERENCES(SAME_NUMBER)
LT_CUSOLVER_STATUSES(SAME_NUMBER)
LT_CUSOLVER_JOBS(SAME_NUMBER)
LT_CUSPARSE_STATUSES(SAME_NUMBER)
LT_CUSPARSE_INDEX_TYPES(SAME_NUMBER)
LT_CUSPARSE_BASES(SAME_NUMBER)
LT_CUSPARSE_ORDERS(SAME_NUMBER)
LT_CUSPARSE_OPERATIONS(SAME_NUMBER)
LT_CUSPARSE_SPMM_ALGORITHMS(SAME_NUMBER)
LT_NCCL_RESULTS(SAME_NUMBER)
LT_NCCL_TYPES(SAME_NUMBER)
LT_NCCL_OPS(SAME_NUMBER)
LT_NVRTC_RESULTS(SAME_NUMBER)
LT_CUDNN_STATUSES(SAME_NUMBER)
LT_CUDNN_TYPES(SAME_NUMBER)
LT_CUDNN_FORMATS(SAME_NUMBER)
LT_CUDNN_MODES(SAME_NUMBER)
LT_CUDNN_MATHS(SAME_NUMBER)
LT_CUDNN_DETERMINISMS(SAME_NUMBER)
LT_CUDNN_FORWARDS(SAME_NUMBER)
LT_CUDNN_BACKWARD_DATAS(SAME_NUMBER)
LT_CUDNN_BACKWARD_FILTERS(SAME_NUMBER)
LT_CUDNN_DESCRIPTORS(SAME_NUMBER)
LT_CUDNN_ATTRIBUTES(SAME_NUMBER)
LT_CUDNN_ATTRIBUTE_TYPES(SAME_NUMBER)
LT_CUDNN_HEURISTICS(SAME_NUMBER)
LT_CUDNN_POINTWISE_MODES(SAME_NUMBER)
LT_CUDNN_NUMERICAL_NOTES(SAME_NUMBER)
LT_CUDNN_BEHAVIOR_NOTES(SAME_NUMBER)
LT_CUDNN_RNN_ALGORITHMS(SAME_NUMBER)
LT_CUDNN_RNN_FORWARDS(SAME_NUMBER)
LT_CUDNN_RNN_CELLS(SAME_NUMBER)
LT_CUDNN_RNN_BIASES(SAME_NUMBER)
LT_CUDNN_RNN_DIRECTIONS(SAME_NUMBER)
LT_CUDNN_RNN_INPUTS(SAME_NUMBER)
LT_CUDNN_RNN_LAYOUTS(SAME_NUMBER)
LT_CUDNN_RNN_GRADIENTS(SAME_NUMBER)
SAME_NUMBER(CUDNN_RNN_PADDED_IO_ENABLED, LT_CUDNN_RNN_PADDED)

#define SAME_TYPE(table, field, symbol)                                                            \
    static_assert(std::is_same<decltype(&::symbol), decltype(table::field)>::value, #symbol);
#define OF_CUBLAS(field, symbol, arguments)   SAME_TYPE(lt_cublas, field, symbol)
#define OF_CUBLAS_S(field, symbol, arguments) SAME_TYPE(lt_cublas_real<float>, field, symbol)
#define OF_CUBLAS_D(field, symbol, arguments) SAME_TYPE(lt_cublas_real<double>, field, symbol)
LT_CUBLAS_FUNCTIONS(OF_CUBLAS)
LT_CUBLAS_REAL_FUNCTIONS(OF_CUBLAS_S, S, float)
LT_CUBLAS_REAL_FUNCTIONS(OF_CUBLAS_D, D, double)
#define OF_CUBLASLT(field, symbol, arguments) SAME_TYPE(lt_cublaslt, field, symbol)
LT_CUBLASLT_FUNCTIONS(OF_CUBLASLT)
#define OF_CUFFT(field, symbol, arguments) SAME_TYPE(lt_cufft, field, symbol)
LT_CUFFT_FUNCTIONS(OF_CUFFT)
LT_CUFFT_STATUSES(SAME_NUMBER)
LT_CUFFT_TYPES(SAME_NUMBER)
#define OF_CUSOLVER(field, symbol, arguments)   SAME_TYPE(lt_cusolver, field, symbol)
#define OF_CUSOLVER_S(field, symbol, arguments) SAME_TYPE(lt_cusolver_real<float>, field, symbol)
#define OF_CUSOLVER_D(field, symbol, arguments) SAME_TYPE(lt_cusolver_real<double>, field, symbol)
LT_CUSOLVER_FUNCTIONS(OF_CUSOLVER)
LT_CUSOLVER_REAL_FUNCTIONS(OF_CUSOLVER_S, S, float)
LT_CUSOLVER_REAL_FUNCTIONS(OF_CUSOLVER_D, D, double)

#define OF_CUSPARSE(field, symbol, arguments) SAME_TYPE(lt_cusparse, field, symbol)
LT_CUSPARSE_FUNCTIONS(OF_CUSPARSE)

#define OF_CUDNN(field, symbol, arguments) SAME_TYPE(lt_cudnn, field, symbol)
LT_CUDNN_FUNCTIONS(OF_CUDNN)
#define OF_CUDNN_RNN(field, symbol, arguments) SAME_TYPE(lt_cudnn_rnn, field, symbol)
LT_CUDNN_RNN_FUNCTIONS(OF_CUDNN_RNN)
#define OF_CUDNN_GRAPH(field, symbol, arguments) SAME_TYPE(lt_cudnn_graph, field, symbol)
LT_CUDNN_GRAPH_FUNCTIONS(OF_CUDNN_GRAPH)

#define OF_NCCL(field, symbol, arguments) SAME_TYPE(lt_nccl, field, symbol)
LT_NCCL_FUNCTIONS(OF_NCCL)
#define OF_NVRTC(field, symbol, arguments) SAME_TYPE(lt_nvrtc, field, symbol)
LT_NVRTC_FUNCTIONS(OF_NVRTC)
LT_NVRTC_USER_FUNCTIONS(OF_NVRTC)
static_assert(sizeof(ncclUniqueId) == 128, "");

/* Of the structs, in the order of our declaration. */
static_assert(sizeof(cublasLtMatmulAlgo_t) == 64, "");
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) == 64 &&
                  offsetof(cublasLtMatmulHeuristicResult_t, state) == 72 &&
                  offsetof(cublasLtMatmulHeuristicResult_t, wavesCount) == 76 &&
                  sizeof(cublasLtMatmulHeuristicResult_t) == 96,
              "");

template <class Performance> constexpr bool same_performance()
{
    return offsetof(Performance, status) == 4 && offsetof(Performance, time) == 8 &&
           offsetof(Performance, memory) == 16 && offsetof(Performance, determinism) == 24 &&
           offsetof(Performance, mathType) == 28 && sizeof(Performance) == 48;
}
static_assert(same_performance<cudnnConvolutionFwdAlgoPerf_t>() &&
                  same_performance<cudnnConvolutionBwdDataAlgoPerf_t>() &&
                  same_performance<cudnnConvolutionBwdFilterAlgoPerf_t>(),
              "");

#define SYMBOL(field, symbol, arguments) #symbol,
static const char *const of_cublas[] = {
    LT_CUBLAS_FUNCTIONS(SYMBOL) LT_CUBLAS_REAL_FUNCTIONS(SYMBOL, S, float)
        LT_CUBLAS_REAL_FUNCTIONS(SYMBOL, D, double) LT_CUBLASLT_FUNCTIONS(SYMBOL) nullptr};
static const char *const of_cusolver[] = {LT_CUSOLVER_FUNCTIONS(SYMBOL) LT_CUSOLVER_REAL_FUNCTIONS(
    SYMBOL, S, float) LT_CUSOLVER_REAL_FUNCTIONS(SYMBOL, D, double) nullptr};

static const char *const of_cufft[] = {LT_CUFFT_FUNCTIONS(SYMBOL) nullptr};
static const char *const of_cusparse[] = {LT_CUSPARSE_FUNCTIONS(SYMBOL) nullptr};
static const char *const of_nccl[] = {LT_NCCL_FUNCTIONS(SYMBOL) nullptr};
static const char *const of_cudnn[] = {LT_CUDNN_FUNCTIONS(SYMBOL) LT_CUDNN_RNN_FUNCTIONS(SYMBOL)
                                           LT_CUDNN_GRAPH_FUNCTIONS(SYMBOL) nullptr};

static const char *const of_nvrtc[] = {LT_NVRTC_FUNCTIONS(SYMBOL)
                                           LT_NVRTC_USER_FUNCTIONS(SYMBOL) nullptr};

static int passed, failed;

static void look_up(const lt_cuda_library &library, const char *const *symbols)
{
    void *handle = dlopen(library.cuda_13, RTLD_NOW | RTLD_LOCAL);
    int found = 0, missing = 0;
    if (handle == nullptr) {
        printf("%s: %s\n", library.cuda_13, dlerror());
        failed++;
        return;
    }
    for (; *symbols != nullptr; symbols++) {
        const bool there = dlsym(handle, *symbols) != nullptr;
        there ? found++ : missing++;
        if (!there) printf("%s has no %s\n", library.cuda_13, *symbols);
    }
    printf("%-24s %3d functions found, %d missing\n", library.cuda_13, found, missing);
    passed += found;
    failed += missing;
}

int main()
{
    look_up(LT_CUBLAS_LIBRARY, of_cublas);
    look_up(LT_CUSOLVER_LIBRARY, of_cusolver);
    look_up(LT_CUFFT_LIBRARY, of_cufft);
    look_up(LT_CUSPARSE_LIBRARY, of_cusparse);
    look_up(LT_CUDNN_LIBRARY, of_cudnn);
    look_up(LT_NCCL_LIBRARY, of_nccl);
    look_up(LT_NVRTC_LIBRARY, of_nvrtc);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
