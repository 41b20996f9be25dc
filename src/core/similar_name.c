/* similar_name.c - the known name that is most similar to a misspelled one, by edit distance. */
#include "similar_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 48 /* longer names are never similar */

static int min_int(int a, int b) { return a < b ? a : b; }

/* Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbours,
 * ignoring case. */
static int distance(const char *a, int n, const char *b, int m)
{
    int rows[3][LONGEST + 1], *before = rows[0], *previous = rows[1], *current = rows[2];
    for (int j = 0; j <= m; j++) previous[j] = j;
    for (int i = 1; i <= n; i++) {
        current[0] = i;
        for (int j = 1; j <= m; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            current[j] =
                min_int(min_int(previous[j], current[j - 1]) + 1, previous[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                current[j] = min_int(current[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = previous, previous = current, current = oldest;
    }
    return previous[m];
}

bool lt_is_nearer_name(const char *name, const char *candidate, const char *best)
{
    int n = (int)strlen(name), m = (int)strlen(candidate), limit = n / 3 > 1 ? n / 3 : 1;
    if (n < 2 || n > LONGEST || m > LONGEST || abs(n - m) > limit) return false;
    int d = distance(name, n, candidate, m);
    if (d > limit) return false;
    if (best == NULL) return true;
    int known = distance(name, n, best, (int)strlen(best));
    return d < known || (d == known && strcmp(candidate, best) < 0);
}
