/* message.c - see message.h. Nettle computes the signatures; cJSON reads one field of a header. */
#include "message.h"

#include <cjson/cJSON.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define PROTOCOL_VERSION "5.4"

static const char delimiter[] = "<IDS|MSG>";
enum { DELIMITER = sizeof delimiter - 1, SIGNATURE = 2 * SHA256_DIGEST_SIZE };

static struct hmac_sha256_ctx signing_key;
static bool has_key;
static char session[33];
static atomic_ulong sent; /* number of created messages */

/* ---- frames ---------------------------------------------------------------------------------- */

jupyter_message *message_new(void) { return calloc(1, sizeof(jupyter_message)); }

void message_free(jupyter_message *m)
{
    if (m == NULL) return;
    for (size_t i = 0; i < m->count; i++) zmq_msg_close(&m->frames[i]);
    free(m->frames);
    free(m);
}

/* The next free frame; NULL: out of memory. */
static zmq_msg_t *next_frame(jupyter_message *m)
{
    if (m->count == m->room) {
        size_t room = m->room == 0 ? 8 : 2 * m->room;
        zmq_msg_t *frames = malloc(room * sizeof *frames);
        if (frames == NULL) return NULL;
        for (size_t i = 0; i < m->count; i++) { /* a zmq_msg_t must not be copied bytewise */
            zmq_msg_init(&frames[i]);
            zmq_msg_move(&frames[i], &m->frames[i]);
            zmq_msg_close(&m->frames[i]);
        }
        free(m->frames);
        m->frames = frames;
        m->room = room;
    }
    return &m->frames[m->count];
}

bool message_add(jupyter_message *m, const void *bytes, size_t size)
{
    zmq_msg_t *frame = next_frame(m);
    if (frame == NULL || zmq_msg_init_size(frame, size) != 0) return false;
    if (size > 0) memcpy(zmq_msg_data(frame), bytes, size);
    m->count++;
    return true;
}

jupyter_message *message_receive(void *socket)
{
    jupyter_message *m = message_new();
    bool more = true;
    while (m != NULL && more) {
        zmq_msg_t *frame = next_frame(m);
        if (frame == NULL) break;
        zmq_msg_init(frame);
        if (zmq_msg_recv(frame, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(frame);
            break;
        }
        more = zmq_msg_more(frame);
        m->count++;
    }
    if (m != NULL && !more) return m;
    message_free(m);
    return NULL;
}

void message_send(jupyter_message *m, void *socket)
{
    for (size_t i = 0; i < m->count; i++) {
        int flags = ZMQ_DONTWAIT | (i + 1 < m->count ? ZMQ_SNDMORE : 0);
        if (zmq_msg_send(&m->frames[i], socket, flags) < 0) break;
    }
    message_free(m);
}

jupyter_text message_frame(jupyter_message *m, size_t i)
{
    return (jupyter_text){zmq_msg_data(&m->frames[i]), zmq_msg_size(&m->frames[i])};
}

jupyter_text message_part(jupyter_message *m, int part)
{
    return message_frame(m, m->identities + 2 + (size_t)part);
}

/* ---- replay protection ----------------------------------------------------------------------- */

enum { REMEMBERED = 1 << 16, NONE = 0 };

/* A ring of the last signatures, and a hash table of them by their last characters: lists of ring
 * indices, from 1. */
static struct {
    char signature[SIGNATURE];
    uint32_t next;
} seen[REMEMBERED + 1];
static uint32_t first_seen[REMEMBERED], newest_seen;
static bool ring_is_full;

static uint32_t *list_of(const char *signature)
{
    uint32_t hash;
    memcpy(&hash, signature + SIGNATURE - sizeof hash, sizeof hash);
    return &first_seen[(hash * 2654435761u) >> 16];
}

static void forget(uint32_t place)
{
    uint32_t *link = list_of(seen[place].signature);
    while (*link != place) link = &seen[*link].next;
    *link = seen[place].next;
}

static void forget_all(void)
{
    memset(first_seen, 0, sizeof first_seen);
    newest_seen = NONE;
    ring_is_full = false;
}

/* ---- signatures ------------------------------------------------------------------------------ */

void message_begin(const char *key, size_t size)
{
    unsigned char bytes[16];
    forget_all();
    has_key = size > 0;
    if (has_key) hmac_sha256_set_key(&signing_key, size, (const uint8_t *)key);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        memset(bytes, 0, sizeof bytes); /* the name only distinguishes kernels */
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(session + 2 * i, 3, "%02x", bytes[i]);
}

/* Computes the SIGNATURE digits of the parts. Thread-safe. */
static void sign(const jupyter_text parts[MESSAGE_PARTS], char *digits)
{
    struct hmac_sha256_ctx state = signing_key;
    uint8_t digest[SHA256_DIGEST_SIZE];
    static const char hexadecimal[] = "0123456789abcdef";
    for (int i = 0; i < MESSAGE_PARTS; i++)
        hmac_sha256_update(&state, parts[i].size, (const uint8_t *)parts[i].bytes);
    hmac_sha256_digest(&state, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        digits[2 * i] = hexadecimal[digest[i] >> 4];
        digits[2 * i + 1] = hexadecimal[digest[i] & 15];
    }
}

const char *message_check(jupyter_message *m)
{
    jupyter_text parts[MESSAGE_PARTS], signature;
    char digits[SIGNATURE];
    for (m->identities = 0; m->identities < m->count; m->identities++) {
        jupyter_text frame = message_frame(m, m->identities);
        if (frame.size == DELIMITER && memcmp(frame.bytes, delimiter, DELIMITER) == 0) break;
    }
    if (m->count < m->identities + 2 + MESSAGE_PARTS) return "it is not of Jupyter's protocol";
    for (int i = 0; i < MESSAGE_PARTS; i++) parts[i] = message_part(m, i);
    if (!has_key) return NULL;
    signature = message_frame(m, m->identities + 1);
    sign(parts, digits);
    if (signature.size != SIGNATURE || !memeql_sec(signature.bytes, digits, SIGNATURE))
        return "its signature is wrong";
    return NULL;
}

const char *message_check_new(jupyter_message *m)
{
    if (!has_key) return NULL;
    const char *signature = message_frame(m, m->identities + 1).bytes;
    uint32_t *list = list_of(signature);
    for (uint32_t place = *list; place != NONE; place = seen[place].next)
        if (memcmp(seen[place].signature, signature, SIGNATURE) == 0)
            return "it came before: it was sent again";
    newest_seen = newest_seen % REMEMBERED + 1;
    if (ring_is_full) forget(newest_seen);
    ring_is_full = ring_is_full || newest_seen == REMEMBERED;
    memcpy(seen[newest_seen].signature, signature, SIGNATURE);
    seen[newest_seen].next = *list;
    *list = newest_seen;
    return NULL;
}

/* ---- headers --------------------------------------------------------------------------------- */

bool message_finish(jupyter_message *m, const char *type, jupyter_text parent,
                    jupyter_text metadata, jupyter_text content)
{
    char header[512], date[32], digits[SIGNATURE];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    int size = snprintf(header, sizeof header,
                        "{\"msg_id\": \"%s_%lu\", \"session\": \"%s\", \"username\": \"kernel\", "
                        "\"date\": \"%s.%06ldZ\", \"msg_type\": \"%.64s\", \"version\": \"%s\"}",
                        session, atomic_fetch_add(&sent, 1) + 1, session, date, now.tv_nsec / 1000,
                        type, PROTOCOL_VERSION);
    const jupyter_text parts[MESSAGE_PARTS] = {{header, (size_t)size}, parent, metadata, content};
    if (has_key) sign(parts, digits);
    m->identities = m->count;
    bool good =
        message_add(m, delimiter, DELIMITER) && message_add(m, digits, has_key ? SIGNATURE : 0);
    for (int i = 0; i < MESSAGE_PARTS; i++)
        good = good && message_add(m, parts[i].bytes, parts[i].size);
    return good;
}

bool message_is(jupyter_message *m, const char *type)
{
    jupyter_text header = message_part(m, 0);
    cJSON *tree = cJSON_ParseWithLength(header.bytes, header.size);
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, "msg_type"));
    bool is = value != NULL && strcmp(value, type) == 0;
    cJSON_Delete(tree);
    return is;
}

jupyter_message *message_answer(jupyter_message *m)
{
    jupyter_text content = message_part(m, 3);
    cJSON *tree = cJSON_ParseWithLength(content.bytes, content.size);
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, "value"));
    jupyter_message *line = NULL;
    if (value != NULL && strcmp(value, "\x04") != 0 && (line = message_new()) != NULL) {
        size_t size = strlen(value);
        zmq_msg_t *frame = next_frame(line);
        if (frame != NULL && zmq_msg_init_size(frame, size + 1) == 0) {
            memcpy(zmq_msg_data(frame), value, size);
            ((char *)zmq_msg_data(frame))[size] = '\n';
            line->count = 1;
        } else {
            message_free(line);
            line = NULL;
        }
    }
    cJSON_Delete(tree);
    return line;
}
