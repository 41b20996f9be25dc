/* app.h - a script inside of the executable (`ltensor build`, repl/bundle/app.lua). */
#ifndef REPL_APP_H
#define REPL_APP_H

#include <stdbool.h>

/* Whether the running executable ends with an archive of repl/bundle/app.lua. */
bool app_is_inside(void);

#endif
