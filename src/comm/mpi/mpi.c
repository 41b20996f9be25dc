/* mpi.c - the engine over MPI: one source, compiled with the headers of each MPI (LT_MPI_NAME). The
 * library is not linked with libmpi: core loads libmpi first with RTLD_GLOBAL, because components
 * that libmpi itself loads need its symbols.
 *
 * MPI counts are ints: larger buffers use derived datatypes that contain size and offset. Errors
 * are returned, not fatal (MPI_ERRORS_RETURN). */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../engine.h"

struct lt_engine_group {
    MPI_Comm comm;
    int size;
};

/* A control message being sent. */
typedef struct outgoing {
    MPI_Request request;
    struct outgoing *next;
    char note[LT_ENGINE_CONTROL];
} outgoing;

struct lt_engine_world {
    lt_engine_group all;
    MPI_Comm notes;
    MPI_Request hearing;
    char heard[LT_ENGINE_CONTROL];
    outgoing *told;
};

struct lt_engine_request {
    MPI_Request request;
    void *arguments;     /* argument arrays, which MPI reads until completion */
    MPI_Datatype *types; /* n_types of them, freed with the request */
    int n_types;
};

static const lt_engine_services *services;
static lt_engine_world world;

static lt_status check_mpi(const char *call, int code)
{
    if (code == MPI_SUCCESS) return LT_OK;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return services->error(LT_ERR_RUNTIME, "%s: %s: %s", LT_MPI_NAME, call, text);
}

#define TRY(call, ...)                                                                             \
    do {                                                                                           \
        const lt_status status_ = check_mpi(#call, call(__VA_ARGS__));                             \
        if (status_ != LT_OK) return status_;                                                      \
    } while (0)

static lt_status no_memory(void)
{
    return services->error(LT_ERR_MEMORY, "%s: no memory is left for a request", LT_MPI_NAME);
}

/* ---- the world ------------------------------------------------------------------------------- */

static lt_status listen(void)
{
    TRY(MPI_Irecv, world.heard, LT_ENGINE_CONTROL, MPI_BYTE, MPI_ANY_SOURCE, 0, world.notes,
        &world.hearing);
    return LT_OK;
}

static lt_status join_world(void *where, lt_engine_world **out, int *rank, int *size)
{
    (void)where;
    int provided;
    TRY(MPI_Init_thread, NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    TRY(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    TRY(MPI_Comm_dup, MPI_COMM_WORLD, &world.all.comm);
    TRY(MPI_Comm_dup, MPI_COMM_WORLD, &world.notes);
    TRY(MPI_Comm_set_errhandler, world.all.comm, MPI_ERRORS_RETURN);
    TRY(MPI_Comm_set_errhandler, world.notes, MPI_ERRORS_RETURN);
    TRY(MPI_Comm_rank, world.all.comm, rank);
    TRY(MPI_Comm_size, world.all.comm, size);
    world.all.size = *size;
    *out = &world;
    return listen();
}

/* MPI_Finalize does not complete pending sends, so wait for them first. */
static lt_status leave_world(lt_engine_world *w)
{
    for (outgoing *o = w->told; o != NULL; o = o->next) MPI_Wait(&o->request, MPI_STATUS_IGNORE);
    TRY(MPI_Barrier, w->all.comm);
    MPI_Cancel(&w->hearing);
    MPI_Wait(&w->hearing, MPI_STATUS_IGNORE);
    TRY(MPI_Finalize, );
    return LT_OK;
}

static lt_status make_group(lt_engine_world *w, const int *ranks, int n, lt_engine_group **out)
{
    int me, place = MPI_UNDEFINED;
    *out = NULL;
    TRY(MPI_Comm_rank, w->all.comm, &me);
    for (int i = 0; i < n; i++)
        if (ranks[i] == me) place = i;
    MPI_Comm comm;
    TRY(MPI_Comm_split, w->all.comm, place == MPI_UNDEFINED ? MPI_UNDEFINED : 0,
        place == MPI_UNDEFINED ? 0 : place, &comm);
    if (comm == MPI_COMM_NULL) return LT_OK;
    *out = malloc(sizeof **out);
    if (*out == NULL) return no_memory();
    (*out)->comm = comm;
    (*out)->size = n;
    TRY(MPI_Comm_set_errhandler, comm, MPI_ERRORS_RETURN);
    return LT_OK;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* With `bytes` of memory for arguments. */
static lt_engine_request *new_request(size_t bytes)
{
    lt_engine_request *r = calloc(1, sizeof *r);
    if (r == NULL) return NULL;
    r->request = MPI_REQUEST_NULL;
    if (bytes > 0 && (r->arguments = malloc(bytes)) == NULL) {
        free(r);
        return NULL;
    }
    return r;
}

static void free_request(lt_engine_request *r)
{
    for (int i = 0; i < r->n_types; i++)
        if (r->types[i] != MPI_BYTE) MPI_Type_free(&r->types[i]);
    free(r->types);
    free(r->arguments);
    free(r);
}

/* Returns the request in *out, or frees it if the call failed. */
static lt_status begun(lt_engine_request *r, const char *call, int code, lt_engine_request **out)
{
    const lt_status status = check_mpi(call, code);
    if (status == LT_OK)
        *out = r;
    else
        free_request(r);
    return status;
}

static lt_status test(lt_engine_request *r, bool *done, int *from, int64_t *bytes)
{
    int flag = 0;
    MPI_Status arrived;
    MPI_Count count = 0;
    const int code = MPI_Test(&r->request, &flag, &arrived);
    *done = code != MPI_SUCCESS || flag;
    if (!*done) return LT_OK;
    if (code == MPI_SUCCESS) {
        *from = arrived.MPI_SOURCE;
        MPI_Get_elements_x(&arrived, MPI_BYTE, &count);
        *bytes = count;
    }
    free_request(r);
    return check_mpi("MPI_Test", code);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static lt_status barrier(lt_engine_group *g, lt_engine_request **out)
{
    lt_engine_request *r = new_request(0);
    if (r == NULL) return no_memory();
    return begun(r, "MPI_Ibarrier", MPI_Ibarrier(g->comm, &r->request), out);
}

/* A datatype of more than INT_MAX bytes, or with a large offset. */
static int large_type(int64_t bytes, MPI_Aint at, MPI_Datatype *out)
{
    enum { BLOCK = 1 << 30 };
    MPI_Datatype block, blocks;
    int code = MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    if (code == MPI_SUCCESS) code = MPI_Type_contiguous((int)(bytes / BLOCK), block, &blocks);
    if (code == MPI_SUCCESS) {
        const int lengths[] = {1, (int)(bytes % BLOCK)};
        const MPI_Aint places[] = {at, at + bytes / BLOCK * BLOCK};
        const MPI_Datatype types[] = {blocks, MPI_BYTE};
        code = MPI_Type_create_struct(2, lengths, places, types, out);
        MPI_Type_free(&blocks);
        MPI_Type_free(&block);
    }
    return code == MPI_SUCCESS ? MPI_Type_commit(out) : code;
}

static lt_status broadcast(lt_engine_group *g, void *data, int64_t bytes, int root,
                           lt_engine_request **out)
{
    lt_engine_request *r = new_request(0);
    if (r == NULL) return no_memory();
    return begun(r, "MPI_Ibcast",
                 MPI_Ibcast(data, (int)bytes, MPI_BYTE, root, g->comm, &r->request), out);
}

/* Whether all counts and offsets fit into int. */
static bool fit(lt_engine_parts parts, int n)
{
    for (int i = 0; i < n; i++)
        if (parts.bytes[i] > INT_MAX || parts.at[i] > INT_MAX) return false;
    return true;
}

/* Fills counts and offsets in bytes where they fit into int, else with a derived datatype that
 * contains both. */
static int counts_of_parts(lt_engine_request *r, lt_engine_parts parts, int n, int *counts,
                           int *places)
{
    for (int i = 0; i < n; i++) {
        const bool wide = parts.bytes[i] > 0 && (parts.bytes[i] > INT_MAX || parts.at[i] > INT_MAX);
        counts[i] = wide ? 1 : (int)parts.bytes[i];
        places[i] = wide || parts.bytes[i] == 0 ? 0 : (int)parts.at[i];
        r->types[r->n_types] = MPI_BYTE;
        const int code =
            wide ? large_type(parts.bytes[i], (MPI_Aint)parts.at[i], &r->types[r->n_types])
                 : MPI_SUCCESS;
        if (code != MPI_SUCCESS) return code;
        r->n_types++;
    }
    return MPI_SUCCESS;
}

/* Always MPI_Ialltoallw: another rank may need derived datatypes. */
static lt_status all_to_all(lt_engine_group *g, const void *data, lt_engine_parts given, void *to,
                            lt_engine_parts got, lt_engine_request **out)
{
    const int n = g->size;
    lt_engine_request *r = new_request(4 * (size_t)n * sizeof(int));
    if (r != NULL) r->types = malloc(2 * (size_t)n * sizeof *r->types);
    if (r == NULL || r->types == NULL) {
        if (r != NULL) free_request(r);
        return no_memory();
    }
    int *arguments = r->arguments;
    int code = counts_of_parts(r, given, n, arguments, arguments + n);
    if (code == MPI_SUCCESS)
        code = counts_of_parts(r, got, n, arguments + 2 * n, arguments + 3 * n);
    if (code == MPI_SUCCESS)
        code = MPI_Ialltoallw(data, arguments, arguments + n, r->types, to, arguments + 2 * n,
                              arguments + 3 * n, r->types + n, g->comm, &r->request);
    return begun(r, "MPI_Ialltoallw", code, out);
}

static lt_status all_gather(lt_engine_group *g, const void *data, int64_t bytes, void *to,
                            lt_engine_parts parts, lt_engine_request **out)
{
    const int n = g->size;
    lt_engine_request *r = new_request(2 * (size_t)n * sizeof(int));
    if (r == NULL) return no_memory();
    int *arguments = r->arguments;
    if (fit(parts, n)) {
        for (int i = 0; i < n; i++) {
            arguments[i] = (int)parts.bytes[i];
            arguments[n + i] = (int)parts.at[i];
        }
        return begun(r, "MPI_Iallgatherv",
                     MPI_Iallgatherv(data != NULL ? data : MPI_IN_PLACE, (int)bytes, MPI_BYTE, to,
                                     arguments, arguments + n, MPI_BYTE, g->comm, &r->request),
                     out);
    }
    /* The parts are equal on all ranks, so all of them take this path. */
    free_request(r);
    int me;
    TRY(MPI_Comm_rank, g->comm, &me);
    int64_t *mine = malloc(2 * (size_t)n * sizeof *mine);
    if (mine == NULL) return no_memory();
    for (int i = 0; i < n; i++) {
        mine[i] = bytes;
        mine[n + i] = data != NULL ? 0 : parts.at[me];
    }
    const lt_status status =
        all_to_all(g, data != NULL ? data : to, (lt_engine_parts){mine, mine + n}, to, parts, out);
    free(mine);
    return status;
}

/* ---- MPI's own reductions -------------------------------------------------------------------- */

static MPI_Datatype mpi_type_of(lt_dtype dtype)
{
    switch (dtype) {
    case LT_UINT8: return MPI_UINT8_T;
    case LT_INT8: return MPI_INT8_T;
    case LT_INT16: return MPI_INT16_T;
    case LT_INT32: return MPI_INT32_T;
    case LT_INT64: return MPI_INT64_T;
    case LT_FLOAT32: return MPI_FLOAT;
    case LT_FLOAT64: return MPI_DOUBLE;
    default: return MPI_DATATYPE_NULL;
    }
}

/* Indexed by lt_comm_reduction; there is no mean. */
static MPI_Op op_of(int reduction)
{
    const MPI_Op ops[] = {MPI_SUM, MPI_OP_NULL, MPI_PROD, MPI_MIN,
                          MPI_MAX, MPI_BAND,    MPI_BOR,  MPI_BXOR};
    return reduction >= 0 && reduction < 8 ? ops[reduction] : MPI_OP_NULL;
}

static bool can_reduce(lt_dtype dtype, int reduction)
{
    return mpi_type_of(dtype) != MPI_DATATYPE_NULL && op_of(reduction) != MPI_OP_NULL;
}

static lt_status all_reduce(lt_engine_group *g, void *data, int64_t count, lt_dtype dtype,
                            int reduction, lt_engine_request **out)
{
    lt_engine_request *r = new_request(0);
    if (r == NULL) return no_memory();
    return begun(r, "MPI_Iallreduce",
                 MPI_Iallreduce(MPI_IN_PLACE, data, (int)count, mpi_type_of(dtype),
                                op_of(reduction), g->comm, &r->request),
                 out);
}

/* ---- messages -------------------------------------------------------------------------------- */

static lt_status send_message(lt_engine_group *g, const void *data, int64_t bytes, int to, int tag,
                              lt_engine_request **out)
{
    lt_engine_request *r = new_request(0);
    if (r == NULL) return no_memory();
    return begun(r, "MPI_Isend",
                 MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, g->comm, &r->request), out);
}

static lt_status receive_message(lt_engine_group *g, void *data, int64_t bytes, int from, int tag,
                                 lt_engine_request **out)
{
    lt_engine_request *r = new_request(0);
    if (r == NULL) return no_memory();
    if (from == LT_ENGINE_ANY) from = MPI_ANY_SOURCE;
    return begun(r, "MPI_Irecv",
                 MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, g->comm, &r->request), out);
}

static void post_message(lt_engine_world *w, int rank, const void *note, int bytes)
{
    outgoing *o = malloc(sizeof *o);
    if (o == NULL) return;
    memcpy(o->note, note, (size_t)bytes);
    if (MPI_Isend(o->note, bytes, MPI_BYTE, rank, 0, w->notes, &o->request) != MPI_SUCCESS) {
        free(o);
        return;
    }
    o->next = w->told;
    w->told = o;
}

/* Frees the control messages that were sent. */
static void look_after_notes(lt_engine_world *w)
{
    for (outgoing **place = &w->told; *place != NULL;) {
        outgoing *o = *place;
        int done = 0;
        if (MPI_Test(&o->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
            place = &o->next;
            continue;
        }
        *place = o->next;
        free(o);
    }
}

static bool poll_message(lt_engine_world *w, void *note, int *bytes, int *from)
{
    int flag = 0;
    MPI_Status arrived;
    look_after_notes(w);
    if (w->hearing == MPI_REQUEST_NULL || MPI_Test(&w->hearing, &flag, &arrived) != MPI_SUCCESS ||
        !flag)
        return false;
    MPI_Get_count(&arrived, MPI_BYTE, bytes);
    *from = arrived.MPI_SOURCE;
    memcpy(note, w->heard, (size_t)*bytes);
    w->hearing = MPI_REQUEST_NULL;
    (void)listen();
    return true;
}

/* ---- the library ----------------------------------------------------------------------------- */

#define SHOWN __attribute__((visibility("default")))

extern const lt_engine_abi lt_engine_abi_of_library;
SHOWN const lt_engine_abi lt_engine_abi_of_library = LT_ENGINE_ABI_HERE;

static const lt_engine engine = {
    .name = LT_MPI_NAME,
    .threaded = true,
    .join = join_world,
    .leave = leave_world,
    .group = make_group,
    .barrier = barrier,
    .broadcast = broadcast,
    .all_gather = all_gather,
    .all_to_all = all_to_all,
    .reduces = can_reduce,
    .all_reduce = all_reduce,
    .send = send_message,
    .receive = receive_message,
    .test = test,
    .tell = post_message,
    .hear = poll_message,
};

SHOWN const lt_engine *lt_engine_open(const lt_engine_services *given);
SHOWN const lt_engine *lt_engine_open(const lt_engine_services *given)
{
    services = given;
    return &engine;
}
