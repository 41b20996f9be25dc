/* steps.c - implements each operation as a sequence of the engine's collectives with local
 * computation between them (a state machine per work).
 *
 * A reduction is a reduce-scatter and a gather: all_to_all gives each rank a chunk from all ranks,
 * which it reduces in rank order, then the chunks are gathered. For few elements, each rank gathers
 * all rows and reduces them itself, with the same bits. Large tensors are processed in segments to
 * bound the scratch memory. Ranks compare their calls before each collective. */
#include <stdio.h>
#include <string.h>

#include "assertion.h"
#include "dtypes/dtype.h"
#include "internal.h"
#include "memory/block.h"

enum {
    SEGMENT_BYTES = 4 << 20,
    FEW_BYTES = 32 << 10, /* summed over the ranks: below it, one exchange costs less than two */
    CHUNK_UNIT = 16       /* elements; keeps chunks a multiple of the vector width */
};

enum { COMPARE, COMPARED, BEGIN }; /* phases; each operation's own phases start at BEGIN */

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static lt_tensor *tensor_of(const lt_comm_call *call)
{
    return call->output != NULL ? call->output : call->input;
}
static int64_t element_size(const lt_comm_call *call)
{
    return (int64_t)lt_dtype_size((lt_dtype)tensor_of(call)->dtype);
}
static char *input_data(const lt_work *w)
{
    return w->call.input != NULL ? lt_data(w->call.input) : NULL;
}
static char *output_data(const lt_work *w)
{
    return w->call.output != NULL ? lt_data(w->call.output) : NULL;
}

static lt_status scratch(lt_work *w, int64_t bytes)
{
    LT_ASSERT(bytes >= 0 && w->request == NULL, "%lld bytes", (long long)bytes);
    if ((size_t)bytes <= w->scratch_capacity) return LT_OK;
    lt_block_free(w->scratch, w->scratch_capacity);
    w->scratch_capacity = 0;
    w->scratch = lt_block_alloc((size_t)bytes, &w->scratch_capacity);
    if (w->scratch != NULL) return LT_OK;
    w->scratch_capacity = 0;
    return LT_ERR_MEMORY;
}

/* The arguments of an exchange, by rank, in bytes; initialized to 0. */
typedef struct parts {
    int64_t *give, *give_at, *get, *get_at;
} parts;

static parts no_parts(lt_work *w)
{
    const int n = w->group->n;
    memset(w->parts, 0, 4 * (size_t)n * sizeof *w->parts);
    return (parts){w->parts, w->parts + n, w->parts + 2 * n, w->parts + 3 * n};
}

static lt_status exchange(lt_work *w, parts p, const void *from, void *to)
{
    return w->group->world->engine->all_to_all(w->group->group, from,
                                               (lt_engine_parts){p.give, p.give_at}, to,
                                               (lt_engine_parts){p.get, p.get_at}, &w->request);
}

static lt_status gather_all(lt_work *w, const void *mine, int64_t bytes, void *to, parts p)
{
    return w->group->world->engine->all_gather(w->group->group, mine, bytes, to,
                                               (lt_engine_parts){p.get, p.get_at}, &w->request);
}

/* ---- comparison of calls --------------------------------------------------------------------- */

/* Exchanged before each collective: if ranks differed in dtype or number of elements, they would
 * misinterpret each other's bytes. TORCH_DISTRIBUTED_DEBUG=DETAIL also compares sizes. */

typedef struct fingerprint {
    int64_t sequence;
    int64_t kind, dtype, root, reduction, ndim;
    int64_t sizes[LT_MAX_DIMS];
    char what[160];
} fingerprint;

static fingerprint fingerprint_of(const lt_work *w)
{
    const lt_comm_call *call = &w->call;
    const lt_tensor *t =
        call->kind == LT_SCATTER || call->kind == LT_REDUCE_SCATTER ? call->output : call->input;
    if (t == NULL) t = call->output;
    fingerprint f;
    memset(&f, 0, sizeof f);
    f.sequence = w->sequence;
    f.kind = call->kind;
    f.root = call->peer;
    f.reduction = call->reduction;
    f.dtype = t != NULL ? t->dtype : LT_DTYPE_NONE;
    if (t != NULL && call->kind != LT_ALL_TO_ALL && w->group->world->detail) {
        f.ndim = t->ndim;
        memcpy(f.sizes, t->sizes, t->ndim * sizeof *f.sizes);
    } else if (t != NULL && call->kind != LT_ALL_TO_ALL) {
        f.sizes[0] = t->numel;
    }
    lt_work_describe(w, f.what, sizeof f.what);
    return f;
}

static lt_status compare(lt_work *w)
{
    const lt_ranks *g = w->group;
    const fingerprint *all = w->scratch, *mine = &all[g->me];
    for (int r = 0; r < g->n; r++) {
        if (memcmp(&all[r], mine, offsetof(fingerprint, what)) == 0) continue;
        return lt_error(LT_ERR_RUNTIME,
                        "Detected mismatch between collectives on ranks. Rank %d is running "
                        "collective: %s, but Rank %d is running "
                        "collective: %s.",
                        g->ranks[g->me], mine->what, g->ranks[r], all[r].what);
    }
    return LT_OK;
}

static lt_status begin_comparison(lt_work *w)
{
    const lt_ranks *g = w->group;
    LT_TRY(scratch(w, (g->n + 1) * (int64_t)sizeof(fingerprint)));
    fingerprint *all = w->scratch;
    all[g->n] = fingerprint_of(w);
    parts p = no_parts(w);
    for (int r = 0; r < g->n; r++) {
        p.get[r] = (int64_t)sizeof *all;
        p.get_at[r] = r * (int64_t)sizeof *all;
    }
    return gather_all(w, &all[g->n], (int64_t)sizeof *all, all, p);
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Elements of a segment that each rank reduces. */
static int64_t chunk_of(int64_t segment, int n)
{
    const int64_t even = (segment + n - 1) / n;
    return (even + CHUNK_UNIT - 1) / CHUNK_UNIT * CHUNK_UNIT;
}

/* Number of elements of the segment that rank r reduces, from element r * chunk. */
static int64_t chunk_length(int64_t segment, int64_t chunk, int r)
{
    const int64_t left = segment - r * chunk;
    return left < 0 ? 0 : smaller(left, chunk);
}

/* Sends each rank its part of the segment. The parts for this rank are received as rows of `chunk`
 * elements; its own row is not copied. */
static lt_status exchange_parts(lt_work *w, int64_t chunk, int64_t size)
{
    const int n = w->group->n, me = w->group->me;
    const int64_t mine = chunk_length(w->segment, chunk, me);
    LT_ASSERT(chunk * n >= w->segment, "%d parts of %lld for %lld elements", n, (long long)chunk,
              (long long)w->segment);
    parts p = no_parts(w);
    for (int r = 0; r < n; r++) {
        if (r == me) continue;
        p.give[r] = chunk_length(w->segment, chunk, r) * size;
        p.give_at[r] = r * chunk * size;
        p.get[r] = mine * size;
        p.get_at[r] = r * chunk * size;
    }
    return exchange(w, p, input_data(w) + w->position * size, w->scratch);
}

/* Reduces the received rows, `stride` elements apart, and this rank's own row. */
static void reduce_rows(const lt_work *w, int64_t stride, const void *own, int64_t count, void *out)
{
    LT_ASSERT(count <= stride, "%lld of %lld", (long long)count, (long long)stride);
    const int64_t bytes = stride * element_size(&w->call);
    for (int r = 0; r < w->group->n; r++)
        w->rows[r] = r == w->group->me ? own : (char *)w->scratch + r * bytes;
    lt_reduce_rows(w->call.reduction, (lt_dtype)tensor_of(&w->call)->dtype, w->rows, w->group->n,
                   count, out);
}

/* Reduces this rank's part of the segment; its own row is in its input tensor. */
static void reduce_part(const lt_work *w, int64_t chunk, void *out)
{
    const int me = w->group->me;
    reduce_rows(w, chunk, input_data(w) + (w->position + me * chunk) * element_size(&w->call),
                chunk_length(w->segment, chunk, me), out);
}

enum { SEGMENT = BEGIN, ALL_HAVE_ALL, ALL_HAVE_PARTS, GATHERED };

/* The engine's reduction to use, if native and supported; -1: ours. A mean is a sum, divided
 * afterwards. */
static int native_reduction(const lt_work *w)
{
    const lt_world *world = w->group->world;
    const lt_dtype dtype = (lt_dtype)w->call.output->dtype;
    const int reduction = w->call.reduction == LT_COMM_AVG ? LT_COMM_SUM : (int)w->call.reduction;
    if (!world->native || world->engine->reduces == NULL) return -1;
    return world->engine->reduces(dtype, reduction) ? reduction : -1;
}

static lt_status native_all_reduce(lt_work *w, int reduction, bool *done)
{
    const lt_dtype dtype = (lt_dtype)w->call.output->dtype;
    const int64_t size = element_size(&w->call);
    if (w->phase != SEGMENT) {
        if (w->call.reduction == LT_COMM_AVG)
            lt_divide_row(dtype, output_data(w) + w->position * size, w->segment, w->group->n);
        w->position += w->segment;
    }
    w->segment = smaller(w->call.output->numel - w->position, LT_ENGINE_MESSAGE / size);
    *done = w->segment == 0;
    if (*done) return LT_OK;
    w->phase = GATHERED;
    return w->group->world->engine->all_reduce(w->group->group, output_data(w) + w->position * size,
                                               w->segment, dtype, reduction, &w->request);
}

static lt_status all_reduce(lt_work *w, bool *done)
{
    const lt_ranks *g = w->group;
    const int64_t size = element_size(&w->call), numel = w->call.output->numel;
    char *out = output_data(w) + w->position * size;
    const int64_t chunk = chunk_of(w->segment, g->n);
    const int native = native_reduction(w);
    parts p;
    if (native >= 0) return native_all_reduce(w, native, done);
    switch (w->phase) {
    case ALL_HAVE_ALL:
        reduce_rows(w, w->segment, input_data(w) + w->position * size, w->segment, out);
        break;
    case ALL_HAVE_PARTS:
        reduce_part(w, chunk, out + g->me * chunk * size);
        p = no_parts(w);
        for (int r = 0; r < g->n; r++) {
            p.get[r] = chunk_length(w->segment, chunk, r) * size;
            p.get_at[r] = r * chunk * size;
        }
        w->phase = GATHERED;
        return gather_all(w, NULL, p.get[g->me], out, p);
    default: break;
    }
    if (w->phase != SEGMENT) w->position += w->segment;
    w->segment = smaller(numel - w->position, SEGMENT_BYTES / size);
    *done = w->segment == 0;
    if (*done) return LT_OK;
    if (w->segment * size * g->n <= FEW_BYTES) {
        LT_TRY(scratch(w, w->segment * size * g->n));
        p = no_parts(w);
        for (int r = 0; r < g->n; r++) {
            p.get[r] = w->segment * size;
            p.get_at[r] = r * w->segment * size;
        }
        w->phase = ALL_HAVE_ALL;
        return gather_all(w, input_data(w) + w->position * size, w->segment * size, w->scratch, p);
    }
    const int64_t next_chunk = chunk_of(w->segment, g->n);
    LT_TRY(scratch(w, next_chunk * size * g->n));
    w->phase = ALL_HAVE_PARTS;
    return exchange_parts(w, next_chunk, size);
}

/* Like all_reduce, but only the root gathers the parts. The output of the other ranks is unchanged.
 */
static lt_status reduce_step(lt_work *w, bool *done)
{
    const lt_ranks *g = w->group;
    const int64_t size = element_size(&w->call), numel = w->call.input->numel;
    const int64_t chunk = chunk_of(w->segment, g->n);
    if (w->phase == ALL_HAVE_PARTS) {
        char *mine = (char *)w->scratch + g->me * chunk * size;
        reduce_part(w, chunk, mine);
        parts p = no_parts(w);
        p.give[w->call.peer] = chunk_length(w->segment, chunk, g->me) * size;
        for (int r = 0; r < g->n && g->me == w->call.peer; r++) {
            p.get[r] = chunk_length(w->segment, chunk, r) * size;
            p.get_at[r] = (w->position + r * chunk) * size;
        }
        w->phase = GATHERED;
        return exchange(w, p, mine, output_data(w));
    }
    if (w->phase != SEGMENT) w->position += w->segment;
    w->segment = smaller(numel - w->position, SEGMENT_BYTES / size);
    *done = w->segment == 0;
    if (*done) return LT_OK;
    const int64_t next_chunk = chunk_of(w->segment, g->n);
    LT_TRY(scratch(w, next_chunk * size * g->n));
    w->phase = ALL_HAVE_PARTS;
    return exchange_parts(w, next_chunk, size);
}

static lt_status reduce_scatter(lt_work *w, bool *done)
{
    const int n = w->group->n;
    const int64_t size = element_size(&w->call), numel = w->call.output->numel;
    if (w->phase != SEGMENT) {
        const int64_t own = w->group->me * numel + w->position;
        reduce_rows(w, w->segment, input_data(w) + own * size, w->segment,
                    output_data(w) + w->position * size);
        w->position += w->segment;
    }
    w->segment = smaller(numel - w->position, SEGMENT_BYTES / size / n + CHUNK_UNIT);
    *done = w->segment == 0;
    if (*done) return LT_OK;
    LT_TRY(scratch(w, w->segment * size * n));
    parts p = no_parts(w);
    for (int r = 0; r < n; r++) {
        if (r == w->group->me) continue;
        p.give[r] = p.get[r] = w->segment * size;
        p.give_at[r] = (r * numel + w->position) * size;
        p.get_at[r] = r * w->segment * size;
    }
    w->phase = ALL_HAVE_PARTS;
    return exchange(w, p, input_data(w), w->scratch);
}

enum { MORE = BEGIN + 1 }; /* phase of the other operations: at least one engine call was made */

/* ---- operations without computation ---------------------------------------------------------- */

static lt_status all_gather_step(lt_work *w)
{
    const lt_ranks *g = w->group;
    const int64_t bytes = w->call.input->numel * element_size(&w->call);
    const bool there = input_data(w) == output_data(w) + g->me * bytes;
    parts p = no_parts(w);
    for (int r = 0; r < g->n; r++) {
        p.get[r] = bytes;
        p.get_at[r] = r * bytes;
    }
    return gather_all(w, there ? NULL : input_data(w), bytes, output_data(w), p);
}

static lt_status gather(lt_work *w)
{
    const lt_ranks *g = w->group;
    const int64_t bytes = w->call.input->numel * element_size(&w->call);
    parts p = no_parts(w);
    p.give[w->call.peer] = bytes;
    for (int r = 0; r < g->n && g->me == w->call.peer; r++) {
        p.get[r] = bytes;
        p.get_at[r] = r * bytes;
    }
    return exchange(w, p, input_data(w), output_data(w));
}

static lt_status scatter(lt_work *w)
{
    const lt_ranks *g = w->group;
    const int64_t bytes = w->call.output->numel * element_size(&w->call);
    parts p = no_parts(w);
    for (int r = 0; r < g->n && g->me == w->call.peer; r++) {
        p.give[r] = bytes;
        p.give_at[r] = r * bytes;
    }
    p.get[w->call.peer] = bytes;
    return exchange(w, p, input_data(w), output_data(w));
}

static void part_offsets(const int64_t *counts, int64_t all, int n, int64_t size, int64_t *bytes,
                         int64_t *at)
{
    int64_t before = 0;
    for (int r = 0; r < n; r++) {
        bytes[r] = (counts != NULL ? counts[r] : all / n) * size;
        at[r] = before;
        before += bytes[r];
    }
}

static lt_status all_to_all_step(lt_work *w)
{
    const int n = w->group->n;
    const int64_t size = element_size(&w->call);
    parts p = no_parts(w);
    part_offsets(w->call.given, w->call.input->numel, n, size, p.give, p.give_at);
    part_offsets(w->call.got, w->call.output->numel, n, size, p.get, p.get_at);
    return exchange(w, p, input_data(w), output_data(w));
}

/* One message per call; all ranks compute the same number of messages from the size. */
static lt_status broadcast_step(lt_work *w, bool *done)
{
    const int64_t bytes = w->call.output->numel * element_size(&w->call);
    w->position += w->segment;
    w->segment = smaller(bytes - w->position, LT_ENGINE_MESSAGE);
    *done = w->phase == MORE && w->segment == 0;
    if (*done) return LT_OK;
    w->phase = MORE;
    return w->group->world->engine->broadcast(w->group->group, output_data(w) + w->position,
                                              w->segment, w->call.peer, &w->request);
}

/* ---- messages -------------------------------------------------------------------------------- */

static lt_status message(lt_work *w, bool *done)
{
    const lt_ranks *g = w->group;
    const lt_engine *engine = g->world->engine;
    const int64_t bytes = tensor_of(&w->call)->numel * element_size(&w->call);
    *done = w->phase == MORE && w->position == bytes;
    if (*done) return LT_OK;
    w->segment = smaller(bytes - w->position, LT_ENGINE_MESSAGE);
    const int peer = w->phase == MORE ? w->from : w->call.peer;
    w->phase = MORE;
    if (w->call.kind == LT_SEND)
        return engine->send(g->group, input_data(w) + w->position, w->segment, w->call.peer,
                            w->call.tag, &w->request);
    return engine->receive(g->group, output_data(w) + w->position, w->segment, peer, w->call.tag,
                           &w->request);
}

static lt_status message_arrived(lt_work *w, int from, int64_t bytes)
{
    if (w->call.kind == LT_RECV) {
        w->from = from;
        if (bytes != w->segment)
            return lt_error(LT_ERR_RUNTIME,
                            "recv: rank %d has sent %lld bytes where %lld were expected",
                            w->group->ranks[from], (long long)bytes, (long long)w->segment);
    }
    w->position += w->segment;
    return LT_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The engine blocks while it creates a group. A barrier first, so that all ranks are ready. */
static lt_status new_group(lt_work *w, bool *done)
{
    lt_world *world = w->group->world;
    if (w->phase == BEGIN) {
        w->phase = MORE;
        return world->engine->barrier(w->group->group, &w->request);
    }
    *done = true;
    return lt_ranks_make(world, w->call.ranks, w->call.n_ranks, &w->made);
}

/* ---- state machine --------------------------------------------------------------------------- */

/* Starts the next step, or sets *done. */
static lt_status next(lt_work *w, bool *done)
{
    const lt_ranks *g = w->group;
    const bool is_message = w->call.kind == LT_SEND || w->call.kind == LT_RECV;
    if (w->phase == COMPARE) {
        w->phase = is_message || g->n == 1 ? BEGIN : COMPARED;
        if (w->phase == COMPARED) return begin_comparison(w);
    } else if (w->phase == COMPARED) {
        LT_TRY(compare(w));
        w->phase = BEGIN;
    }
    *done = w->call.compare_only;
    if (*done) return LT_OK;
    switch (w->call.kind) {
    case LT_ALL_REDUCE: return all_reduce(w, done);
    case LT_REDUCE: return reduce_step(w, done);
    case LT_REDUCE_SCATTER: return reduce_scatter(w, done);
    case LT_BROADCAST: return broadcast_step(w, done);
    case LT_NEW_GROUP: return new_group(w, done);
    case LT_SEND:
    case LT_RECV: return message(w, done);
    default: break;
    }
    *done = w->phase != BEGIN;
    if (*done) return LT_OK;
    w->phase = MORE;
    switch (w->call.kind) {
    case LT_BARRIER: return g->world->engine->barrier(g->group, &w->request);
    case LT_ALL_GATHER: return all_gather_step(w);
    case LT_GATHER: return gather(w);
    case LT_SCATTER: return scatter(w);
    case LT_ALL_TO_ALL: return all_to_all_step(w);
    default: return lt_error(LT_ERR_TYPE, "%d is no operation between ranks", (int)w->call.kind);
    }
}

lt_status lt_work_step(lt_work *w, bool *moved, bool *done)
{
    *done = false;
    for (;;) {
        if (w->request != NULL) {
            bool finished = false;
            int from = -1;
            int64_t bytes = 0;
            const lt_status status =
                w->group->world->engine->test(w->request, &finished, &from, &bytes);
            if (status == LT_OK && !finished) return LT_OK;
            w->request = NULL;
            *moved = true;
            LT_TRY(status);
            if (w->call.kind == LT_SEND || w->call.kind == LT_RECV)
                LT_TRY(message_arrived(w, from, bytes));
        }
        LT_TRY(next(w, done));
        *moved = true;
        if (*done) return LT_OK;
    }
}
