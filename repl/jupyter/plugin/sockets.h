/* sockets.h - the five sockets of a kernel and the program's output, handled by a thread.
 *
 * The thread never runs user code. It answers heartbeats, interrupts and subscriptions while a cell
 * runs, publishes the output of file descriptors 1 and 2 as `stream` messages, and passes on all
 * other messages. Messages of a thread are sent in order, after its previous output. Includes
 * message.h and the C library only. */
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

/* Binds the sockets to the addresses, redirects descriptors 1 and 2, and starts the thread; the
 * calling thread receives interrupts. NULL, or an error message, valid until the next call. */
const char *sockets_open(const char *const addresses[CHANNELS]);
/* Sends queued messages and ends the thread. The descriptors are restored. */
void sockets_close(void);

/* Sends a message on its channel; takes ownership. */
void sockets_send(jupyter_message *m);
/* Assigns the following output to the request with this header; previous output belongs to the
 * previous request. */
bool sockets_begin_request(jupyter_text header);
/* Returns after all previous output and messages were sent and all received messages were queued.
 * An incomplete character is dropped. */
void sockets_settle(void);

/* Receives the next message of the lowest channel from `low` to `high`. Waits for at most `milliseconds`, or forever (-1). NULL: none has arrived;
 * *interrupted: because of a signal. The caller frees it. */
jupyter_message *sockets_receive(channel low, channel high, int milliseconds, bool *interrupted);
/* Drops messages received on the stdin channel. */
void sockets_forget_answers(void);

#endif
