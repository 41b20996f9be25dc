/* watch.h - the thread that tells contexts that their deadline has passed, or that their progress
 * callback is due: operations look at a flag, not at a clock. It also calls what frees idle memory
 * (memory/block.c). It runs while there is something to watch. */
#ifndef LT_WATCH_H
#define LT_WATCH_H

#include "context.h"

/* Sets the deadline, seconds from now (INFINITY: none), and clears one that has passed.
 * LT_ERR_MEMORY: no thread could be started. */
lt_status lt_watch_deadline(lt_context *c, double seconds);
/* Begins to call for c->progress. */
lt_status lt_watch_progress(lt_context *c);
/* Before the context goes. */
void lt_unwatch(lt_context *c);
/* Has the thread call f in so many seconds, and again in as many as f returns (INFINITY: not
 * again). One f for the process. f must not call functions of this file. Without a thread nothing
 * is called. */
void lt_watch_call(double (*f)(void), double seconds);

#endif
