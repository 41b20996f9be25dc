/* plain_locale.c - see system/plain_locale.h. */
#include "system/plain_locale.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* The thread's locale is separate from then on. */
lt_locale lt_plain_locale_begin(void)
{
    _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    const char *name = setlocale(LC_ALL, NULL);
    char *before = name != NULL ? _strdup(name) : NULL;
    setlocale(LC_ALL, "C");
    return before;
}

void lt_plain_locale_end(lt_locale before)
{
    if (before == NULL) return;
    setlocale(LC_ALL, before);
    free(before);
}

double lt_plain_strtod(const char *text, char **end)
{
    const lt_locale before = lt_plain_locale_begin();
    const double value = strtod(text, end);
    lt_plain_locale_end(before);
    return value;
}
