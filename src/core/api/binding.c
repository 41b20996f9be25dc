/* binding.c - the functions of ltensor_binding.h: names of statuses, and operations by handle. The
 * call itself is in call.c. */
#include "ltensor_binding.h"

#include <stdlib.h>
#include <string.h>

#include "api/callables.h"
#include "context/fork.h"
#include "error.h"
#include "lock.h"
#include "memory/alloc.h"
#include "own/own_op.h"
#include "system/threads.h"

const char *lt_status_name(lt_status status)
{
    static const char *const names[] = {
        [LT_OK] = "LT_OK",
        [LT_ERR_RUNTIME] = "LT_ERR_RUNTIME",
        [LT_ERR_INDEX] = "LT_ERR_INDEX",
        [LT_ERR_TYPE] = "LT_ERR_TYPE",
        [LT_ERR_MEMORY] = "LT_ERR_MEMORY",
        [LT_ERR_DEVICE] = "LT_ERR_DEVICE",
        [LT_ERR_INTERRUPTED] = "LT_ERR_INTERRUPTED",
        [LT_ERR_IO] = "LT_ERR_IO",
        [LT_ERR_DEADLINE] = "LT_ERR_DEADLINE",
        [LT_ERR_PERMISSION] = "LT_ERR_PERMISSION",
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : NULL;
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const lt_op *)entry)->name);
}

const lt_op *lt_op_builtin(const char *name)
{
    return bsearch(name, lt_call_names, (size_t)lt_call_names_n, sizeof *lt_call_names,
                   compare_name);
}

/* ---- handles --------------------------------------------------------------------------------- */

/* Handles of registered operations, one for each name. They stay for the process: the operation may
 * be removed, and registered again by each context. */
typedef struct registered_handle {
    lt_op op;
    struct registered_handle *next;
} registered_handle;

static struct {
    pthread_mutex_t lock;
    registered_handle *first;
} handles = {.lock = PTHREAD_MUTEX_INITIALIZER};
LT_HOLD_ACROSS_FORK(handles.lock)

/* name: of the operation, never freed. */
static const lt_op *registered_handle_of(const char *name)
{
    pthread_mutex_lock(&handles.lock);
    registered_handle *handle = handles.first;
    while (handle != NULL && strcmp(handle->op.name, name) != 0) handle = handle->next;
    if (handle == NULL && (handle = lt_mem_alloc(sizeof *handle)) != NULL) {
        *handle = (registered_handle){.op.name = name, .next = handles.first};
        handles.first = handle;
    }
    lt_unlock(&handles.lock);
    return handle != NULL ? &handle->op : NULL;
}

const lt_op *lt_op_find(const char *name)
{
    if (name == NULL) {
        lt_null_argument(__func__, "name");
        return NULL;
    }
    const lt_op *op = lt_op_builtin(name);
    if (op != NULL) return op;
    lt_own_op *own = lt_own_find(name, NULL);
    if (own == NULL) {
        lt_error_set(LT_ERR_TYPE, "%s(): unknown operation '%.100s'", __func__, name);
        return NULL;
    }
    op = registered_handle_of(own->name);
    lt_own_release(own);
    return op;
}

static const lt_op_info *own_info(const lt_op *op)
{
    lt_own_op *own = lt_own_find(op->name, NULL);
    const lt_op_info *info = own != NULL ? &own->callable.info : NULL;
    lt_own_release(own);
    return info;
}

int lt_op_overloads(const lt_op *op)
{
    if (op == NULL || op->n > 0) return op != NULL ? op->n : 0;
    return own_info(op) != NULL;
}

const lt_op_info *lt_op_overload(const lt_op *op, int i)
{
    if (op == NULL || i < 0) return NULL;
    if (op->n == 0) return i == 0 ? own_info(op) : NULL;
    return i < op->n ? &lt_callables[op->first + i]->info : NULL;
}
