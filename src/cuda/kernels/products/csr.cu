/* csr.cu - product of a CSR matrix and a dense matrix by cuSPARSE, if it is installed. The
 * workspace is allocated by our allocator per call. In deterministic mode, the algorithm that
 * cuSPARSE documents as deterministic is used. */
#include "cuda.h"
#include "libraries/sparse.cuh"

namespace {

class product {
  public:
    explicit product(const lt_csr_product *p) : p(p) {}
    product(const product &) = delete;
    product &operator=(const product &) = delete;
    ~product()
    {
        if (a != nullptr) (void)sparse.functions->destroy_sparse(a);
        if (b != nullptr) (void)sparse.functions->destroy_dense(b);
        if (c != nullptr) (void)sparse.functions->destroy_dense(c);
    }

    lt_status run(cudaStream_t stream, bool *done)
    {
        const bool wide = p->dtype == LT_FLOAT64;
        const cudaDataType type = wide ? CUDA_R_64F : CUDA_R_32F;
        LT_TRY(sparse.open(p->device.index, stream));
        if (sparse.functions == nullptr) return LT_OK;
        LT_TRY(describe(type));
        const float one_float = 1, zero_float = 0;
        const double one_double = 1, zero_double = 0;
        return multiply(type, wide ? (const void *)&one_double : &one_float,
                        wide ? (const void *)&zero_double : &zero_float, done);
    }

  private:
    lt_status describe(cudaDataType type)
    {
        const lt_cusparse *f = sparse.functions;
        LT_CUSPARSE_TRY(f->create_csr(&a, p->rows, p->in_rows, p->count, p->begins, p->places,
                                      p->values, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                                      CUSPARSE_INDEX_BASE_ZERO, type));
        LT_CUSPARSE_TRY(f->create_const_dense(&b, p->in_rows, p->columns, p->in_step, p->in, type,
                                              CUSPARSE_ORDER_ROW));
        LT_CUSPARSE_TRY(
            f->create_dense(&c, p->rows, p->columns, p->columns, p->out, type, CUSPARSE_ORDER_ROW));
        return LT_OK;
    }

    /* Whether cuSPARSE does not support a matrix of this size with 64-bit indices. */
    static bool unsupported(cusparseStatus_t status)
    {
        return status == CUSPARSE_STATUS_NOT_SUPPORTED ||
               status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    }

    lt_status multiply(cudaDataType type, const void *one, const void *zero, bool *done)
    {
        const lt_cusparse *f = sparse.functions;
        const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
        const auto algorithm =
            lt_cuda_core->deterministic() ? CUSPARSE_SPMM_CSR_ALG3 : CUSPARSE_SPMM_ALG_DEFAULT;
        size_t bytes = 0;
        lt_cuda_scratch work;
        cusparseStatus_t status =
            f->spmm_size(sparse.handle, plain, plain, one, a, b, zero, c, type, algorithm, &bytes);
        if (unsupported(status)) return LT_OK;
        LT_CUSPARSE_TRY(status);
        if (bytes > 0) LT_TRY(work.take(p->device.index, bytes));
        status = f->spmm(sparse.handle, plain, plain, one, a, b, zero, c, type, algorithm,
                         work.as<void>());
        if (unsupported(status)) return LT_OK;
        LT_CUSPARSE_TRY(status);
        *done = true;
        return LT_OK;
    }

    const lt_csr_product *p;
    lt_cuda_sparse sparse;
    cusparseConstSpMatDescr_t a = nullptr;
    cusparseConstDnMatDescr_t b = nullptr;
    cusparseDnMatDescr_t c = nullptr;
};

} // namespace

lt_status lt_cuda_csr_product(const lt_csr_product *p, bool *done)
{
    cudaStream_t stream;
    *done = false;
    LT_TRY(lt_cuda_enter(p->device.index, &stream));
    LT_TRY(product(p).run(stream, done));
    return lt_cuda_launched(p->device.index, stream, "csr_product");
}
