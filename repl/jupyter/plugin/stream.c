/* stream.c - see stream.h. */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The length of the character at p, of n bytes: 0 for invalid UTF-8 (RFC 3629); the negative number
 * of available bytes if it is incomplete. */
static int character(const unsigned char *p, size_t n)
{
    int length = p[0] < 0x80   ? 1
                 : p[0] < 0xC2 ? 0
                 : p[0] < 0xE0 ? 2
                 : p[0] < 0xF0 ? 3
                 : p[0] < 0xF5 ? 4
                               : 0;
    for (int i = 1; i < length; i++) {
        if ((size_t)i == n) return -i;
        unsigned char low = 0x80, high = 0xBF;
        if (i == 1) { /* reject overlong encodings, surrogates and values above U+10FFFF */
            if (p[0] == 0xE0) low = 0xA0;
            if (p[0] == 0xED) high = 0x9F;
            if (p[0] == 0xF0) low = 0x90;
            if (p[0] == 0xF4) high = 0x8F;
        }
        if (p[i] < low || p[i] > high) return 0;
    }
    return length;
}

char *stream_json(const char *before, const char *bytes, size_t n, const char *after, size_t *size)
{
    enum { MOST = 6 }; /* maximum bytes per input byte */
    static const char unknown[] = "\xEF\xBF\xBD";
    const unsigned char *p = (const unsigned char *)bytes, *end = p + n;
    const size_t before_size = strlen(before), after_size = strlen(after);
    char *json = malloc(before_size + MOST * n + after_size + 1), *to = json;
    if (json == NULL) return NULL;
    memcpy(to, before, before_size);
    to += before_size;
    while (p < end) {
        int length = character(p, (size_t)(end - p));
        if (length <= 0) {
            memcpy(to, unknown, sizeof unknown - 1);
            to += sizeof unknown - 1;
            p += length < 0 ? -length : 1;
        } else if (*p < 0x20 || *p == 0x7F || *p == '"' || *p == '\\') {
            to += sprintf(to, "\\u%04x", *p++);
        } else {
            memcpy(to, p, (size_t)length);
            to += length;
            p += length;
        }
    }
    memcpy(to, after, after_size + 1);
    *size = (size_t)(to - json) + after_size;
    return json;
}

/* The number of bytes at the end that begin an incomplete character. */
static size_t unfinished(const char *bytes, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++)
        if (((unsigned char)bytes[n - back] & 0xC0) == 0xC0)
            return character((const unsigned char *)bytes + n - back, back) < 0 ? back : 0;
    return 0;
}

/* The number of bytes that can be read. */
static size_t waiting(const jupyter_stream *s)
{
    int n = 0;
    return ioctl(s->from, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

uint64_t stream_written(jupyter_stream *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t written = s->taken + waiting(s);
    pthread_mutex_unlock(&s->lock);
    return written;
}

/* Reads up to n queued bytes. */
static size_t read_waiting(jupyter_stream *s, char *bytes, size_t n)
{
    size_t done = 0;
    pthread_mutex_lock(&s->lock);
    while (done < n) {
        ssize_t got = read(s->from, bytes + done, n - done);
        if (got <= 0) break;
        done += (size_t)got;
    }
    s->taken += done;
    pthread_mutex_unlock(&s->lock);
    return done;
}

char *stream_take(jupyter_stream *s, const char *name, uint64_t end, bool whole, size_t *size)
{
    char before[48], *json = NULL;
    uint64_t ahead = end > s->taken ? end - s->taken : 0;
    size_t wanted = waiting(s);
    if (wanted > ahead) wanted = (size_t)ahead;
    char *bytes = malloc(s->begun_size + wanted + 1);
    if (bytes == NULL) return NULL;
    memcpy(bytes, s->begun, s->begun_size);
    size_t n = s->begun_size + read_waiting(s, bytes + s->begun_size, wanted);
    s->begun_size = whole ? 0 : unfinished(bytes, n);
    n -= s->begun_size;
    memcpy(s->begun, bytes + n, s->begun_size);
    if (n > 0) {
        snprintf(before, sizeof before, "{\"name\": \"%s\", \"text\": \"", name);
        json = stream_json(before, bytes, n, "\"}", size);
    }
    free(bytes);
    return json;
}

void stream_close(jupyter_stream *s)
{
    close(s->from);
    close(s->saved);
    pthread_mutex_destroy(&s->lock);
}
