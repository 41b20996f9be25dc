/* message.h - messages of Jupyter's protocol (jupyter-client.readthedocs.io, "Messaging in
 * Jupyter") as frames of ZeroMQ:
 *
 *   identities..., "<IDS|MSG>", signature, header, parent header, metadata, content, buffers...
 *
 * The signature is the HMAC-SHA256 of the next four frames, in hexadecimal; empty if the key is
 * empty. Includes ZeroMQ and the C library only. */
#ifndef REPL_JUPYTER_MESSAGE_H
#define REPL_JUPYTER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

enum { MESSAGE_PARTS = 4 }; /* header, parent header, metadata, content */

/* The frames of a message; node of a linked list. */
typedef struct jupyter_message {
    struct jupyter_message *next;
    int channel; /* a channel of sockets.h */
    size_t count, room;
    zmq_msg_t *frames;
    size_t identities;   /* number of frames before the delimiter */
    uint64_t written[2]; /* number of bytes of stdout and stderr to publish before it */
} jupyter_message;

typedef struct jupyter_text {
    const char *bytes;
    size_t size;
} jupyter_text;

/* A message without frames; NULL: out of memory. */
jupyter_message *message_new(void);
void message_free(jupyter_message *m);

/* Adds a frame; false: out of memory. */
bool message_add(jupyter_message *m, const void *bytes, size_t size);
/* Reads one message if one is pending in the socket; NULL: none, or out of memory. */
jupyter_message *message_receive(void *socket);
/* Sends the message and frees it. Does not block: messages that the receiver does not accept are
 * dropped. */
void message_send(jupyter_message *m, void *socket);

/* The bytes of frame i. */
jupyter_text message_frame(jupyter_message *m, size_t i);
/* Header (0), parent header (1), metadata (2) or content (3) of a message accepted by
 * message_check. */
jupyter_text message_part(jupyter_message *m, int part);

/* Sets the key for signing and checking messages, and creates the session's name. */
void message_begin(const char *key, size_t size);
/* NULL, or the reason for rejecting the message: its structure or its signature. Sets `identities`.
 */
const char *message_check(jupyter_message *m);
/* NULL, or the reason for rejecting a message with a valid signature: it was received before, so a
 * recorded session cannot be replayed. The last 65,536 signatures are stored. Called by one thread.
 */
const char *message_check_new(jupyter_message *m);
/* Adds all frames after the identities, with a header of that type; false: out of memory. */
bool message_finish(jupyter_message *m, const char *type, jupyter_text parent,
                    jupyter_text metadata, jupyter_text content);

/* The line of an input_reply, with a newline, as the only frame; NULL: Ctrl-D, or not an
 * input_reply. */
jupyter_message *message_answer(jupyter_message *m);

/* True if the header has that message type. */
bool message_is(jupyter_message *m, const char *type);

#endif
