/* cpu_info_test.c - sizes of caches and instruction sets beside those that the system
 * reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_info.h"

static void caches_grow_from_level_to_level(void **state)
{
    (void)state;
    assert_true(lt_processor.l1 >= 8 << 10);
    assert_true(lt_processor.l1 < lt_processor.l2);
    assert_true(lt_processor.l2 < lt_processor.l3);
}

/* Whether the first processor of /proc/cpuinfo has a flag of that name. */
static bool has_flag(const char *name)
{
    static char line[16384];
    char word[32];
    FILE *file = fopen("/proc/cpuinfo", "r");
    assert_non_null(file);
    do assert_non_null(fgets(line, sizeof line, file));
    while (strncmp(line, "flags", 5) != 0);
    fclose(file);
    line[strcspn(line, "\n")] = ' ';
    snprintf(word, sizeof word, " %s ", name);
    return strstr(line, word) != NULL;
}

static void instruction_sets_are_those_of_the_system(void **state)
{
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    assert_int_equal(lt_processor.avx2, has_flag("avx2") && has_flag("fma"));
    assert_int_equal(lt_processor.avx512, has_flag("avx512f") && has_flag("avx512dq") &&
                                              has_flag("avx512bw") && has_flag("avx512vl"));
    assert_int_equal(lt_processor.avx512_vnni, has_flag("avx512_vnni"));
    assert_int_equal(lt_processor.avx512_bf16, has_flag("avx512_bf16"));
    assert_int_equal(lt_processor.amx_bf16, has_flag("amx_bf16") && has_flag("amx_tile"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_grow_from_level_to_level),
        cmocka_unit_test(instruction_sets_are_those_of_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
