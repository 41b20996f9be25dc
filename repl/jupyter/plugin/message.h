/* message.h - messages of Jupyter's protocol (jupyter-client.readthedocs.io, "Messaging in
 * Jupyter") as frames of ZeroMQ:
 *
 *   identities..., "<IDS|MSG>", signature, header, parent header, metadata, content, buffers...
 *
 * The signature is the HMAC-SHA256 of the four that follow it, in hexadecimal digits; empty where
 * the key is. Includes ZeroMQ and the C library only.
 */
#ifndef REPL_JUPYTER_MESSAGE_H
#define REPL_JUPYTER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

enum { MESSAGE_PARTS = 4 }; /* header, parent header, metadata, content */

/* The frames of a message, in a list of such. */
typedef struct jupyter_message {
    struct jupyter_message *next;
    int channel; /* of sockets.h */
    size_t count, room;
    zmq_msg_t *frames;
    size_t identities;   /* how many frames stand before the delimiter */
    uint64_t written[2]; /* bytes of stdout and stderr that go out before it */
} jupyter_message;

typedef struct jupyter_text {
    const char *bytes;
    size_t size;
} jupyter_text;

/* A message without frames; NULL: no memory. */
jupyter_message *message_new(void);
void message_free(jupyter_message *m);

/* Adds a frame; false: no memory. */
bool message_add(jupyter_message *m, const void *bytes, size_t size);
/* Reads one message that waits in the socket; NULL: there is none, or no memory. */
jupyter_message *message_receive(void *socket);
/* Sends the message and frees it. Does not block: messages that the receiver does not accept are
 * dropped. */
void message_send(jupyter_message *m, void *socket);

/* The bytes of frame i. */
jupyter_text message_frame(jupyter_message *m, size_t i);
/* Header (0), parent header (1), metadata (2) or content (3) of a message that message_check found
 * good. */
jupyter_text message_part(jupyter_message *m, int part);

/* With which key messages are signed and checked from now on; the session's name is chosen here,
 * too. */
void message_begin(const char *key, size_t size);
/* NULL, or why it is none: its shape, or its signature. Sets `identities`. */
const char *message_check(jupyter_message *m);
/* NULL, or the reason for rejecting a message with a valid signature: it was received before, so a
 * recorded session cannot be replayed. The last 65,536 signatures are stored. Called by one thread.
 */
const char *message_check_new(jupyter_message *m);
/* Adds all that follows the identities, with a header of that type; false: no memory. */
bool message_finish(jupyter_message *m, const char *type, jupyter_text parent,
                    jupyter_text metadata, jupyter_text content);

/* The line that an input_reply carries, with its end, as the only frame; NULL: Ctrl-D, or there is
 * none. */
jupyter_message *message_answer(jupyter_message *m);

/* True if the header has that message type. */
bool message_is(jupyter_message *m, const char *type);

#endif
