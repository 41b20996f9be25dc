/* sockets.h - the five sockets of a kernel, and what the program writes, in the care of a thread.
 *
 * The thread never runs a user's code: it answers heartbeats, interrupts and subscriptions while a
 * cell runs, publishes what comes out of the file descriptors 1 and 2 as `stream` messages, and
 * passes on all other messages. What a thread sends goes out in its order, after all that it has
 * written before. Includes message.h and the C library only.
 */
#ifndef REPL_JUPYTER_SOCKETS_H
#define REPL_JUPYTER_SOCKETS_H

#include "message.h"

typedef enum channel {
    CHANNEL_CONTROL,
    CHANNEL_SHELL,
    CHANNEL_STDIN,
    CHANNEL_IOPUB,
    CHANNEL_HEARTBEAT,
    CHANNELS
} channel;

/* Binds the sockets to the addresses, takes the descriptors 1 and 2 over and starts the thread; the
 * calling one is from now on the one that interrupts are for. NULL, or what failed: valid until the
 * next call. */
const char *sockets_open(const char *const addresses[CHANNELS]);
/* Sends what is still to be sent, and ends the thread. The descriptors are again what they were. */
void sockets_close(void);

/* Takes a message over and sends it on its channel. */
void sockets_send(message *m);
/* Streams belong from now on to the request whose header this is; what was written before still to
 * the one before. */
bool sockets_begin_request(text header);
/* Returns when all that was written and sent before is on its way, and all that had arrived is
 * here. A character whose first bytes alone have been written is given up. */
void sockets_settle(void);

/* The next message of the shell or the control channel, which goes first; stdin: of that one. Waits
 * for milliseconds, or without an end (-1). NULL: none has come; *interrupted: since a signal ended
 * the wait. The caller frees it. */
message *sockets_receive(bool from_stdin, int milliseconds, bool *interrupted);
/* Forgets what has come on the stdin channel. */
void sockets_forget_answers(void);

#endif
