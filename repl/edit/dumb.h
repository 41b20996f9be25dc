/* dumb.h - cells of several lines on a terminal that cannot move its cursor; see dumb.c. */
#ifndef REPL_DUMB_H
#define REPL_DUMB_H

/* Called at the start of a line. */
void dumb_begin(void);
/* Redisplay function for readline. */
void dumb_redraw(void);

#endif
