/* failing.h - for tests of every function of a header: which functions there are, and a call of
 * each with the first, the second, the third ... allocation failing. What is out is counted
 * exactly: the library takes its memory from here. */
#ifndef LT_TEST_FAILING_H
#define LT_TEST_FAILING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "expect.h"
#include "memory/limit.h"
#include "memory/system.h"

/* A function of a header: a call of it on what is right, which gives back all it made and returns
 * the status (of functions without one: LT_ERR_MEMORY where they say it another way), and calls
 * with NULL in each place for a pointer. */
typedef struct row {
    const char *name;
    lt_status (*call)(void);
    void (*null)(void); /* NULL: it takes no pointer */
} row;

/* ---- memory that is counted ------------------------------------------------------------------ */

static _Atomic int64_t pieces_out, requests;
/* there is no memory for this request and all after it; 0: there is */
static _Atomic int64_t none_from;

static bool is_refused(void)
{
    const int64_t n = ++requests;
    return none_from != 0 && n >= none_from;
}

static void *counted_resize(void *user, void *old, size_t bytes)
{
    (void)user;
    if (bytes > 0) {
        if (is_refused()) return NULL;
        void *p = realloc(old, bytes);
        pieces_out += old == NULL && p != NULL;
        return p;
    }
    pieces_out--;
    free(old);
    return NULL;
}

static void *counted_take_block(void *user, size_t bytes)
{
    (void)user;
    if (is_refused()) return NULL;
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    pieces_out += p != NULL;
    return p;
}

static void counted_give_block(void *user, void *block, size_t bytes)
{
    (void)user, (void)bytes;
    pieces_out--;
    free(block);
}

/* First of all, before anything of the library is used. */
static lt_status count_memory(void)
{
    const lt_allocator counting = {sizeof counting, NULL, counted_resize, counted_take_block,
                                   counted_give_block};
    return lt_set_allocator(&counting);
}

/* ---- allocations that fail ------------------------------------------------------------------- */

/* A failure may be swallowed where something does without the memory: as many calls in a row must
 * then succeed. */
#define CALLS_AT_REST    6
#define MOST_ALLOCATIONS 20000

static int64_t failing; /* the allocation that is to fail */
static int complaints;  /* about calls that did otherwise: all are told before the test fails */
#define complain(...) (complaints++, print_error(__VA_ARGS__))

/* For calls that have something to prepare, or to give back, with all the memory they want. */
static inline void fail_from_here(void) { lt_mem_fail_after(failing); }
static inline void fail_no_more(void) { lt_mem_fail_after(0); }

/* Each allocation of a call fails once; how many did. */
static inline int fail_each(const char *name, lt_status (*call)(void))
{
    int failures = 0, rest = 0;
    for (int64_t n = 1; rest < CALLS_AT_REST; n++) {
        lt_error_set(LT_OK, "%s", "");
        failing = n;
        fail_from_here();
        const lt_status status = call();
        fail_no_more();
        const bool told = status != LT_ERR_MEMORY || strstr(lt_error_message(), "memory") != NULL;
        if ((status != LT_OK && status != LT_ERR_MEMORY) || !told || n == MOST_ALLOCATIONS) {
            complain("%s: allocation %lld fails: status %d, %s\n", name, (long long)n, (int)status,
                     lt_error_message());
            return failures;
        }
        failures += status != LT_OK;
        rest = status == LT_OK ? rest + 1 : 0;
    }
    return failures;
}

/* A call of which every allocation fails, by fail_each or a function like it. */
typedef struct sweep {
    int (*each)(const char *name, lt_status (*call)(void));
    const char *name;
    lt_status (*call)(void);
} sweep;

static void *run_sweep(void *argument)
{
    const sweep *s = argument;
    s->each(s->name, s->call);
    return NULL;
}

/* How many pieces of memory are out once a thread that did so has ended: with it goes what it kept
 * for later. */
static int64_t pieces_after(sweep *s)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_sweep, s), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return pieces_out;
}

/* Here first, then by threads of their own: what the process keeps is there after the first time.
 * How many failed. */
static int fail_without_a_leak(sweep s)
{
    const int failures = s.each(s.name, s.call);
    const int64_t live = lt_mem_live(), first = pieces_after(&s), second = pieces_after(&s);
    if (lt_mem_live() != live)
        complain("%s: %lld bytes of tensors are left\n", s.name, (long long)(lt_mem_live() - live));
    if (second != first)
        complain("%s: %lld pieces of memory are left\n", s.name, (long long)(second - first));
    return failures;
}

/* ---- functions of a header ------------------------------------------------------------------- */

/* The text of a file; NULL: there is none. Freed by the caller. */
static inline char *text_of_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    const long n = ftell(file);
    rewind(file);
    char *text = malloc((size_t)n + 1);
    const size_t got = fread(text, 1, (size_t)n, file);
    text[got] = '\0';
    fclose(file);
    return text;
}

/* The name in the declaration that begins here; its length. */
static inline const char *declared_name(const char *declaration, size_t *length)
{
    const char *bracket = strchr(declaration, '(');
    const char *begin = bracket;
    while (begin > declaration && (begin[-1] == '_' || (begin[-1] >= 'a' && begin[-1] <= 'z') ||
                                   (begin[-1] >= '0' && begin[-1] <= '9')))
        begin--;
    *length = (size_t)(bracket - begin);
    return begin;
}

/* `beside` is the __FILE__ of the test. Fails for a function that the header declares and no row
 * has, and for a row whose function takes pointers and is not called without them. Returns how many
 * functions the header has. */
static inline int every_function_has_a_row(const char *beside, const char *header, const row *rows,
                                           int n)
{
    char path[1024];
    const char *folder = strstr(beside, "tests/core/");
    snprintf(path, sizeof path, "%.*sinclude/%s", folder != NULL ? (int)(folder - beside) : 0,
             beside, header);
    char *text = text_of_file(path);
    int functions = 0;
    assert_non_null(text);
    for (const char *at = text; (at = strstr(at, "\nLT_API ")) != NULL;) {
        size_t length;
        at += strlen("\nLT_API ");
        const char *name = declared_name(at, &length), *end = strchr(at, ';');
        int i = 0;
        while (i < n &&
               !(strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0))
            i++;
        if (i == n) fail_msg("%s of %s has no row here", strndup(name, length), header);
        const char *star = strchr(name, '*');
        if (star != NULL && star < end && rows[i].null == NULL)
            fail_msg("%s takes pointers: what does it do without?", rows[i].name);
        functions++;
    }
    free(text);
    return functions;
}

/* A call that NULL makes fail: the message names the function, as its caller wrote it, and the
 * argument. */
#define assert_no_null(call, argument)                                                             \
    do {                                                                                           \
        const char *const written_ = #call;                                                        \
        char expected_[128];                                                                       \
        snprintf(expected_, sizeof expected_, "%.*s()", (int)strcspn(written_, "("), written_);    \
        assert_fails(call, LT_ERR_TYPE, expected_);                                                \
        assert_fails(call, LT_ERR_TYPE, argument);                                                 \
    } while (0)

#endif
