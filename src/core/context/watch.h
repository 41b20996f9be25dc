/* watch.h - the watchdog thread: sets the flags of contexts when their deadline passes or their
 * progress callback is due, so that operations poll a flag, not a clock. It also calls the function
 * that frees idle memory (memory/block.c). It starts when it is first needed. If no thread can be
 * started (thread.h), operations compare the clock themselves when they poll. */
#ifndef LT_WATCH_H
#define LT_WATCH_H

#include "context.h"

/* Sets the deadline, in seconds from now (INFINITY: none), and clears the flag of a passed one. */
void lt_watch_deadline(lt_context *c, double seconds);
/* Starts periodic calls of c->progress. */
void lt_watch_progress(lt_context *c);
/* Sets the flag of a passed deadline if there is no thread. */
void lt_watch_poll_deadline(lt_context *c);
/* The same; returns whether the progress callback is due, in a context whose LT_CONTEXT_PROGRESS the
 * caller has cleared. */
bool lt_watch_poll(lt_context *c);
/* Ends the thread, and starts it again if it is needed and permitted. */
void lt_watch_renew(void);
/* Removes a context before it is freed. */
void lt_unwatch(lt_context *c);
/* Schedules f in `seconds`, and then repeatedly in as many seconds as f returns (INFINITY: never
 * again). One f per process. f must not call functions of this file. Never calls f if no thread can
 * be started. */
void lt_watch_call(double (*f)(void), double seconds);

#endif
