/* contexts.h - what the tests of contexts begin with: a context, what it uses, some floats that
 * count against it. */
#ifndef LT_TEST_CONTEXTS_H
#define LT_TEST_CONTEXTS_H

#include "expect.h"

static inline lt_context *make(const lt_context_config *config)
{
    lt_context *context = NULL;
    assert_ok(lt_context_new(config, &context));
    return context;
}

static inline int64_t used(const lt_context *context, lt_device device)
{
    int64_t bytes = -1;
    assert_ok(lt_context_memory(context, device, &bytes, NULL));
    return bytes;
}

static inline lt_status floats(int64_t n, lt_tensor **out)
{
    const lt_dims sizes = {1, {n}};
    return lt_ones(&sizes, LT_FLOAT32, NULL, out);
}

#endif
