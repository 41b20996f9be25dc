/* host.c - the functions of ltensor_host.h for text and for the states of generators. */
#include "compile/deferred.h"
#include "devices/backend.h"
#include "error.h"
#include "ltensor_host.h"
#include "memory/alloc.h"
#include "print/print.h"
#include "random/random.h"

lt_status lt_tensor_to_string(const lt_tensor *t, char **out)
{
    size_t n;
    LT_REQUIRE(t);
    LT_REQUIRE(out);
    return lt_tensor_format((lt_tensor *)t, out, &n);
}

void lt_string_release(char *text) { lt_mem_free(text); }

lt_status lt_get_rng_state(lt_device device, lt_tensor **out)
{
    LT_REQUIRE(out);
    LT_TRY(lt_device_resolve(&device));
    return lt_generator_get_state(lt_default_generator(device), out);
}

lt_status lt_set_rng_state(lt_device device, const lt_tensor *state)
{
    LT_REQUIRE(state);
    LT_TRY(lt_device_resolve(&device));
    return lt_generator_set_state(lt_default_generator(device), state);
}
