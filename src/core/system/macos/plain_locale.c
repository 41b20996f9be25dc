/* plain_locale.c - see system/plain_locale.h. */
#include "system/plain_locale.h"

#include <pthread.h>
#include <stdlib.h>
#include <xlocale.h>

static locale_t plain;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void create(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

lt_locale lt_plain_locale_begin(void)
{
    pthread_once(&once, create);
    return uselocale(plain);
}

void lt_plain_locale_end(lt_locale before) { uselocale(before); }

double lt_plain_strtod(const char *text, char **end)
{
    const lt_locale before = lt_plain_locale_begin();
    const double value = strtod(text, end);
    lt_plain_locale_end(before);
    return value;
}
