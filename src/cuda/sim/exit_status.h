/* exit_status.h - functions that exit() calls. */
#ifndef LT_SIM_EXIT_STATUS_H
#define LT_SIM_EXIT_STATUS_H

namespace lt_sim {

/* Registers a function of the exit status. Where the C library does not report the status, it is 0. */
void at_exit(void (*function)(int status));

} // namespace lt_sim

#endif
