/* expect.h - what the library's calls come to, for cmocka: that they succeed, or fail in the way
 * that is expected. */
#ifndef LT_TEST_EXPECT_H
#define LT_TEST_EXPECT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ltensor.h"

/* The call succeeds; its message is shown if not. */
#define assert_ok(call) assert_string_equal((call) == LT_OK ? "" : lt_error_message(), "")

/* The call fails with a status, and the message has the text in it. */
#define assert_fails(call, status, text)                                                           \
    do {                                                                                           \
        assert_int_equal(call, status);                                                            \
        if (strstr(lt_error_message(), text) == NULL)                                              \
            fail_msg("'%s' is not in: %s", text, lt_error_message());                              \
    } while (0)

/* Whether case i of a long sweep runs: each does, unless LTENSOR_TEST_SAMPLE=n (tests/run.sh) wants n
 * percent of them. LTENSOR_TEST_SAMPLE_SEED decides which. */
static inline bool sampled(size_t i)
{
    const char *percent = getenv("LTENSOR_TEST_SAMPLE"), *seed = getenv("LTENSOR_TEST_SAMPLE_SEED");
    const int wanted = percent != NULL ? atoi(percent) : 100;
    const uint64_t stride = wanted > 0 && wanted < 100 ? 100 / (uint64_t)wanted : 1;
    return (i + (seed != NULL ? strtoull(seed, NULL, 10) : 0)) % stride == 0;
}

/* The number in a tensor of one real element. */
static inline double item(lt_tensor *t)
{
    lt_scalar number;
    assert_ok(lt_tensor_item(t, &number));
    return number.kind == LT_SCALAR_FLOAT ? number.v.d : (double)number.v.i;
}

#endif
