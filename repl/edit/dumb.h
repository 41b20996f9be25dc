/* dumb.h - cells of several lines on a terminal that cannot move its cursor; see dumb.c. */
#ifndef REPL_DUMB_H
#define REPL_DUMB_H

/* A line begins to be read. */
void dumb_begin(void);
/* Readline's function to draw its line. */
void dumb_redraw(void);

#endif
