/* plain_locale.h - numbers in texts have a point, whatever the locale of the host is.
 *
 * A host may call setlocale, and the decimal point of printf and strtod is then a comma in many
 * countries. Code that reads or writes files, sources or declarations uses these functions.
 * Includes nothing of core. */
#ifndef LT_PLAIN_LOCALE_H
#define LT_PLAIN_LOCALE_H

typedef void *lt_locale; /* a locale of the system */

/* Sets the locale "C" for the calling thread and returns the previous one for
 * lt_plain_locale_end. */
lt_locale lt_plain_locale_begin(void);
void lt_plain_locale_end(lt_locale before);

/* strtod in the locale "C". */
double lt_plain_strtod(const char *text, char **end);

#endif
