/* fake.c - an engine for ranks within one process: worlds of any size for tests, and the world of
 * one rank when there is no launcher.
 *
 * A hub stores the operations that its ranks have started. A collective executes when the last rank
 * of its group starts it. If the ranks' arguments disagree or a rank is missing, it never
 * completes, as with a real engine. Not thread-safe. */
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "memory/alloc.h"

typedef enum fake_kind { FAKE_BARRIER, FAKE_BROADCAST, FAKE_ALL_GATHER, FAKE_ALL_TO_ALL } fake_kind;

/* One rank's arguments of a collective. */
typedef struct fake_part {
    bool there;
    fake_kind kind;
    const char *data;
    char *to;
    int64_t bytes;
    int root;
    lt_engine_parts given, got;
} fake_part;

/* A collective of a group. */
typedef struct fake_op {
    int64_t number;
    int there, taken;
    bool done;
    fake_part *parts;
    struct fake_op *next;
} fake_op;

/* A sent message that was not received yet. */
typedef struct fake_letter {
    int from, to, tag;
    int64_t bytes;
    struct fake_letter *next;
    char data[];
} fake_letter;

typedef struct fake_shared {
    int n;
    int *ranks;
    fake_op *ops;
    fake_letter *letters;
    struct fake_shared *next;
} fake_shared;

typedef struct fake_note {
    int from, bytes;
    struct fake_note *next;
    char data[LT_ENGINE_CONTROL];
} fake_note;

struct lt_fake_hub {
    int size, users;
    fake_shared *groups; /* in order of creation */
    fake_note **notes;   /* by rank */
};

struct lt_engine_world {
    lt_fake_hub *hub;
    int rank;
    int n_groups;
    lt_engine_group *groups;
};

struct lt_engine_group {
    fake_shared *shared;
    int me;
    int64_t begun;
    lt_engine_group *next;
};

struct lt_engine_request {
    lt_engine_group *group;
    fake_op *op; /* NULL: a message */
    bool sent;
    int from, tag;
    char *to;
    int64_t room;
};

static lt_status no_memory(void)
{
    return lt_error(LT_ERR_MEMORY, "no memory is left for an operation");
}

/* ---- the world ------------------------------------------------------------------------------- */

lt_fake_hub *lt_fake_hub_new(int size)
{
    lt_fake_hub *hub = lt_mem_zalloc(sizeof *hub);
    if (hub == NULL) return NULL;
    hub->size = size;
    hub->notes = lt_mem_zarray(size, sizeof *hub->notes);
    if (hub->notes == NULL) {
        lt_mem_free(hub);
        return NULL;
    }
    return hub;
}

static lt_status join_world(void *where, lt_engine_world **out, int *rank, int *size)
{
    const lt_fake_rank *place = where;
    if (place->hub == NULL) return LT_ERR_MEMORY;
    lt_engine_world *w = lt_mem_zalloc(sizeof *w);
    if (w == NULL) return LT_ERR_MEMORY;
    w->hub = place->hub;
    w->rank = *rank = place->rank;
    *size = place->hub->size;
    w->hub->users++;
    *out = w;
    return LT_OK;
}

static lt_status leave_world(lt_engine_world *w)
{
    (void)w;
    return LT_OK;
}

static void free_shared(fake_shared *s)
{
    for (fake_op *op = s->ops, *next; op != NULL; op = next) {
        next = op->next;
        lt_mem_free(op->parts);
        lt_mem_free(op);
    }
    for (fake_letter *l = s->letters, *next; l != NULL; l = next) {
        next = l->next;
        lt_mem_free(l);
    }
    lt_mem_free(s->ranks);
    lt_mem_free(s);
}

void lt_fake_request_free(lt_engine_request *r) { lt_mem_free(r); }

void lt_fake_world_free(lt_engine_world *w)
{
    lt_fake_hub *hub = w->hub;
    for (lt_engine_group *g = w->groups, *next; g != NULL; g = next) {
        next = g->next;
        lt_mem_free(g);
    }
    lt_mem_free(w);
    if (--hub->users > 0) return;
    for (fake_shared *s = hub->groups, *next; s != NULL; s = next) {
        next = s->next;
        free_shared(s);
    }
    for (int r = 0; r < hub->size; r++) {
        for (fake_note *note = hub->notes[r], *next; note != NULL; note = next) {
            next = note->next;
            lt_mem_free(note);
        }
    }
    lt_mem_free(hub->notes);
    lt_mem_free(hub);
}

static lt_status new_shared(const int *ranks, int n, fake_shared **out)
{
    fake_shared *s = lt_mem_zalloc(sizeof *s);
    if (s == NULL) return LT_ERR_MEMORY;
    s->n = n;
    s->ranks = lt_mem_array(n, sizeof *s->ranks);
    if (s->ranks == NULL) {
        lt_mem_free(s);
        return LT_ERR_MEMORY;
    }
    memcpy(s->ranks, ranks, (size_t)n * sizeof *ranks);
    *out = s;
    return LT_OK;
}

static lt_status make_group(lt_engine_world *w, const int *ranks, int n, lt_engine_group **out)
{
    fake_shared **place = &w->hub->groups;
    *out = NULL;
    for (int i = 0; i < w->n_groups; i++) place = &(*place)->next;
    if (*place == NULL) LT_TRY(new_shared(ranks, n, place));
    w->n_groups++;
    for (int i = 0; i < n; i++) {
        if (ranks[i] != w->rank) continue;
        lt_engine_group *g = lt_mem_zalloc(sizeof *g);
        if (g == NULL) return LT_ERR_MEMORY;
        g->shared = *place;
        g->me = i;
        g->next = w->groups;
        w->groups = *out = g;
    }
    return LT_OK;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void copy_if_any(char *to, const char *from, int64_t bytes)
{
    if (bytes > 0) memmove(to, from, (size_t)bytes);
}

static void deliver_part(const fake_op *op, int from, int to)
{
    const fake_part *a = &op->parts[from], *b = &op->parts[to];
    if (a->kind == FAKE_BROADCAST && from == a->root && from != to)
        copy_if_any(b->to, a->to, b->bytes);
    if (a->kind == FAKE_ALL_GATHER && (a->data != NULL || from != to))
        copy_if_any(b->to + b->got.at[from], a->data != NULL ? a->data : a->to + a->got.at[from],
                    b->got.bytes[from]);
    if (a->kind == FAKE_ALL_TO_ALL)
        copy_if_any(b->to + b->got.at[from], a->data + a->given.at[to], b->got.bytes[from]);
}

/* Whether the arguments of all ranks match; otherwise the operation never completes. */
static bool agree(const fake_shared *s, const fake_op *op)
{
    const fake_part *first = &op->parts[0];
    for (int i = 0; i < s->n; i++)
        if (op->parts[i].kind != first->kind || op->parts[i].root != first->root) return false;
    for (int i = 0; i < s->n; i++) {
        for (int j = 0; j < s->n; j++) {
            const fake_part *a = &op->parts[i], *b = &op->parts[j];
            if (a->kind == FAKE_BROADCAST && a->bytes != b->bytes) return false;
            if (a->kind == FAKE_ALL_GATHER && b->got.bytes[i] != a->bytes) return false;
            if (a->kind == FAKE_ALL_TO_ALL && b->got.bytes[i] != a->given.bytes[j]) return false;
        }
    }
    return true;
}

static lt_status begin_operation(lt_engine_group *g, fake_part part, lt_engine_request **out)
{
    fake_shared *s = g->shared;
    const int64_t number = ++g->begun;
    fake_op **place = &s->ops;
    while (*place != NULL && (*place)->number != number) place = &(*place)->next;
    lt_engine_request *r = lt_mem_zalloc(sizeof *r);
    if (r == NULL) return no_memory();
    if (*place == NULL) {
        fake_op *op = lt_mem_zalloc(sizeof *op);
        fake_part *parts = lt_mem_zarray(s->n, sizeof *parts);
        if (op == NULL || parts == NULL) {
            lt_mem_free(op);
            lt_mem_free(parts);
            lt_mem_free(r);
            return no_memory();
        }
        op->number = number;
        op->parts = parts;
        *place = op;
    }
    fake_op *op = *place;
    part.there = true;
    op->parts[g->me] = part;
    r->group = g;
    r->op = op;
    *out = r;
    if (++op->there < s->n || !agree(s, op)) return LT_OK;
    for (int from = 0; from < s->n; from++)
        for (int to = 0; to < s->n; to++) deliver_part(op, from, to);
    op->done = true;
    return LT_OK;
}

static lt_status barrier(lt_engine_group *g, lt_engine_request **out)
{
    return begin_operation(g, (fake_part){.kind = FAKE_BARRIER}, out);
}

static lt_status broadcast(lt_engine_group *g, void *data, int64_t bytes, int root,
                           lt_engine_request **out)
{
    return begin_operation(
        g, (fake_part){.kind = FAKE_BROADCAST, .to = data, .bytes = bytes, .root = root}, out);
}

static lt_status all_gather(lt_engine_group *g, const void *data, int64_t bytes, void *to,
                            lt_engine_parts parts, lt_engine_request **out)
{
    return begin_operation(
        g,
        (fake_part){.kind = FAKE_ALL_GATHER, .data = data, .to = to, .bytes = bytes, .got = parts},
        out);
}

static lt_status all_to_all(lt_engine_group *g, const void *data, lt_engine_parts given, void *to,
                            lt_engine_parts got, lt_engine_request **out)
{
    return begin_operation(
        g, (fake_part){.kind = FAKE_ALL_TO_ALL, .data = data, .to = to, .given = given, .got = got},
        out);
}

/* ---- messages -------------------------------------------------------------------------------- */

static lt_status send_message(lt_engine_group *g, const void *data, int64_t bytes, int to, int tag,
                              lt_engine_request **out)
{
    lt_engine_request *r = lt_mem_zalloc(sizeof *r);
    fake_letter *letter = lt_mem_alloc(sizeof *letter + (size_t)bytes);
    if (r == NULL || letter == NULL) {
        lt_mem_free(r);
        lt_mem_free(letter);
        return no_memory();
    }
    *letter = (fake_letter){.from = g->me, .to = to, .tag = tag, .bytes = bytes};
    copy_if_any(letter->data, data, bytes);
    fake_letter **end = &g->shared->letters;
    while (*end != NULL) end = &(*end)->next;
    *end = letter;
    r->group = g;
    r->sent = true;
    *out = r;
    return LT_OK;
}

static lt_status receive_message(lt_engine_group *g, void *data, int64_t bytes, int from, int tag,
                                 lt_engine_request **out)
{
    lt_engine_request *r = lt_mem_zalloc(sizeof *r);
    if (r == NULL) return no_memory();
    *r = (lt_engine_request){.group = g, .from = from, .tag = tag, .to = data, .room = bytes};
    *out = r;
    return LT_OK;
}

static lt_status take_letter(const lt_engine_request *r, bool *done, int *from, int64_t *bytes)
{
    for (fake_letter **place = &r->group->shared->letters; *place != NULL;
         place = &(*place)->next) {
        fake_letter *letter = *place;
        if (letter->to != r->group->me || letter->tag != r->tag ||
            (r->from != LT_ENGINE_ANY && letter->from != r->from))
            continue;
        *done = true;
        *from = letter->from;
        *bytes = letter->bytes;
        *place = letter->next;
        const bool fits = letter->bytes <= r->room;
        if (fits) copy_if_any(r->to, letter->data, letter->bytes);
        lt_mem_free(letter);
        return fits ? LT_OK
                    : lt_error(LT_ERR_RUNTIME,
                               "recv: rank %d has sent %lld bytes where %lld were expected",
                               r->group->shared->ranks[*from], (long long)*bytes,
                               (long long)r->room);
    }
    return LT_OK;
}

static void take_op(const lt_engine_request *r)
{
    fake_shared *s = r->group->shared;
    if (++r->op->taken < s->n) return;
    fake_op **place = &s->ops;
    while (*place != r->op) place = &(*place)->next;
    *place = r->op->next;
    lt_mem_free(r->op->parts);
    lt_mem_free(r->op);
}

static lt_status test(lt_engine_request *r, bool *done, int *from, int64_t *bytes)
{
    lt_status status = LT_OK;
    *done = r->sent || (r->op != NULL && r->op->done);
    if (r->op == NULL && !r->sent) status = take_letter(r, done, from, bytes);
    if (!*done) return LT_OK;
    if (r->op != NULL) take_op(r);
    lt_mem_free(r);
    return status;
}

/* ---- control messages ------------------------------------------------------------------------ */

static void post_message(lt_engine_world *w, int rank, const void *note, int bytes)
{
    fake_note *n = lt_mem_zalloc(sizeof *n);
    if (n == NULL) return;
    n->from = w->rank;
    n->bytes = bytes;
    memcpy(n->data, note, (size_t)bytes);
    fake_note **end = &w->hub->notes[rank];
    while (*end != NULL) end = &(*end)->next;
    *end = n;
}

static bool poll_message(lt_engine_world *w, void *note, int *bytes, int *from)
{
    fake_note *n = w->hub->notes[w->rank];
    if (n == NULL) return false;
    *bytes = n->bytes;
    *from = n->from;
    memcpy(note, n->data, (size_t)n->bytes);
    w->hub->notes[w->rank] = n->next;
    lt_mem_free(n);
    return true;
}

const lt_engine lt_fake_engine = {
    .name = "fake",
    .threaded = false,
    .join = join_world,
    .leave = leave_world,
    .group = make_group,
    .barrier = barrier,
    .broadcast = broadcast,
    .all_gather = all_gather,
    .all_to_all = all_to_all,
    .send = send_message,
    .receive = receive_message,
    .test = test,
    .tell = post_message,
    .hear = poll_message,
};
