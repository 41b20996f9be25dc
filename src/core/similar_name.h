/* similar_name.h - the known name that is most similar to a misspelled one. */
#ifndef LT_SIMILAR_NAME_H
#define LT_SIMILAR_NAME_H

#include <stdbool.h>

/* Whether the candidate is within an edit distance of a third of the letters of name, and nearer
 * than best (NULL: none yet). Of equally near names, the first in byte order. */
bool lt_is_nearer_name(const char *name, const char *candidate, const char *best);

#endif
