/* numbers.c - see numbers.h. */
#include "ops/numbers.h"

#include <string.h>

#include "dtypes/dtype.h"
#include "op/contiguous.h"
#include "op/to.h"

lt_status lt_numbers_of(const char *op, const char *name, lt_tensor *vector, int64_t n,
                        double *numbers)
{
    if (vector->ndim != 1 || vector->numel != n || lt_dtype_is_complex((lt_dtype)vector->dtype))
        return lt_error(LT_ERR_RUNTIME, "%s(): argument '%s' must be a vector of %lld real numbers",
                        op, name, (long long)n);
    lt_tensor *host = NULL, *dense = NULL;
    LT_TRY(lt_to(vector, &lt_host, LT_FLOAT64, false, false, &host));
    const lt_status status = lt_contiguous(host, &dense);
    lt_tensor_release(host);
    LT_TRY(status);
    if (n > 0) memcpy(numbers, lt_data(dense), (size_t)n * sizeof *numbers);
    lt_tensor_release(dense);
    return LT_OK;
}
