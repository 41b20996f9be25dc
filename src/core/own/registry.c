/* registry.c - the own operations of each context, by name.
 *
 * A scope is the list of one context; that of the process context is visible in all. Scopes and
 * operations are charged to the process context, because a charged object would keep its context
 * alive. */
#include <stdlib.h>
#include <string.h>

#include "assertion.h"
#include "context/fork.h"
#include "error.h"
#include "lock.h"
#include "memory/alloc.h"
#include "own/own_op.h"

typedef struct own_scope {
    lt_context_ending ending;
    const lt_context *context;
    lt_own_op **ops; /* references, in the order of their registration */
    int n, capacity;
    struct own_scope *next;
} own_scope;

static own_scope process_scope = {.context = &lt_process_context};
static own_scope *scopes = &process_scope;
static _Atomic int64_t generation;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LT_HOLD_ACROSS_FORK(lock)

/* ---- references ------------------------------------------------------------------------------ */

lt_own_op *lt_own_retain(lt_own_op *op)
{
    LT_ASSERT(op->refs >= 0, "%s: refs %d", op->name, op->refs);
    atomic_fetch_add_explicit(&op->refs, 1, memory_order_relaxed);
    return op;
}

void lt_own_release(lt_own_op *op)
{
    if (op == NULL) return;
    LT_ASSERT(op->refs > 0, "%s: refs %d", op->name, op->refs);
    if (atomic_fetch_sub_explicit(&op->refs, 1, memory_order_acq_rel) != 1) return;
    if (op->definition.release != NULL) op->definition.release(op->definition.user);
    lt_mem_free(op->text);
    lt_mem_free(op);
}

/* ---- scopes ---------------------------------------------------------------------------------- */

/* These functions run with the lock held. */

static own_scope *scope_of(const lt_context *context)
{
    own_scope *scope = scopes;
    while (scope != NULL && scope->context != context) scope = scope->next;
    return scope;
}

static void end_scope(lt_context_ending *ending)
{
    own_scope *scope = (own_scope *)ending, **at = &scopes;
    pthread_mutex_lock(&lock);
    while (*at != scope) at = &(*at)->next;
    *at = scope->next;
    lt_unlock(&lock);
    for (int i = 0; i < scope->n; i++) lt_own_release(scope->ops[i]);
    lt_mem_free(scope->ops);
    lt_mem_free(scope);
}

/* The scope of the current context, created if missing. NULL: out of memory. */
static own_scope *scope_here(lt_context *context)
{
    own_scope *scope = scope_of(context);
    if (scope != NULL) return scope;
    scope = lt_mem_zalloc(sizeof *scope);
    if (scope == NULL) return NULL;
    scope->context = context;
    scope->ending.run = end_scope;
    scope->next = scopes;
    scopes = scope;
    lt_context_on_end(context, &scope->ending);
    return scope;
}

static lt_own_op *find_in(const own_scope *scope, const char *name, const void *owner)
{
    for (int i = 0; scope != NULL && i < scope->n; i++) {
        lt_own_op *op = scope->ops[i];
        const bool visible = owner == NULL || op->owner == NULL || op->owner == owner;
        if (visible && strcmp(op->name, name) == 0) return op;
    }
    return NULL;
}

static lt_own_op *find_here(const char *name, const void *owner)
{
    lt_own_op *op = find_in(scope_of(lt_tls.context), name, owner);
    return op != NULL ? op : find_in(&process_scope, name, owner);
}

static lt_status add_op(own_scope *scope, lt_own_op *op)
{
    if (scope == NULL) return LT_ERR_MEMORY;
    if (scope->n == scope->capacity) {
        const int capacity = scope->capacity > 0 ? 2 * scope->capacity : 8;
        lt_own_op **grown = lt_mem_rearray(scope->ops, capacity, sizeof *grown);
        if (grown == NULL) return LT_ERR_MEMORY;
        scope->ops = grown, scope->capacity = capacity;
    }
    scope->ops[scope->n++] = op;
    generation++;
    return LT_OK;
}

/* ---- registering ----------------------------------------------------------------------------- */

static lt_status refuse_name(const char *name)
{
    return lt_error(LT_ERR_RUNTIME,
                    "an operation '%s' is already registered; choose another name or unregister "
                    "that one first",
                    name);
}

/* Sets the flags of the names in definition->saves. */
static lt_status parse_saves(lt_own_op *op, const char *saves)
{
    const lt_op_info *info = &op->callable.info;
    for (int i = 0; i < LT_MAX_ARGS; i++) op->keeps[i] = saves == NULL;
    for (int i = 0; i < LT_CALL_MAX_RESULTS; i++) op->keeps_result[i] = saves == NULL;
    for (const char *at = saves; at != NULL && *at != '\0';) {
        const size_t n = strcspn(at, " ");
        bool found = n == 0;
        for (int i = 0; i < info->n_args && n > 0; i++)
            if (strlen(op->args[i].info.name) == n && strncmp(op->args[i].info.name, at, n) == 0)
                found = op->keeps[i] = true;
        for (int i = 0; i < info->n_results && n > 0; i++)
            if (strlen(op->results[i].name) == n && strncmp(op->results[i].name, at, n) == 0)
                found = op->keeps_result[i] = true;
        if (!found && info->n_results == 1 && n == 6 && strncmp(at, "result", n) == 0)
            found = op->keeps_result[0] = true;
        if (!found)
            return lt_error(LT_ERR_TYPE,
                            "%s: saves has '%.*s', which is not the name of an argument or a "
                            "result; the only result may be called 'result'",
                            op->name, (int)n, at);
        at += n + (at[n] == ' ');
    }
    return LT_OK;
}

/* A definition of the size that this version knows; fields that the caller lacks are zero. */
static lt_status read_definition(const lt_op_definition *given, lt_op_definition *out)
{
    const size_t least = offsetof(lt_op_definition, derivative);
    memset(out, 0, sizeof *out);
    if (given->size < least)
        return lt_error(LT_ERR_TYPE,
                        "lt_op_register(): the size of the definition is %zu, at least %zu is "
                        "expected; initialize it by lt_op_definition_of()",
                        given->size, least);
    memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
    if (out->declaration == NULL) return lt_null_argument("lt_op_register", "declaration");
    return out->run != NULL ? LT_OK : lt_null_argument("lt_op_register", "run");
}

static lt_status prepare(lt_own_op *op, const lt_op_definition *given)
{
    LT_TRY(read_definition(given, &op->definition));
    LT_TRY(lt_own_parse(op, op->definition.declaration, op->definition.doc));
    LT_TRY(parse_saves(op, op->definition.saves));
    op->definition.declaration = op->callable.info.signature;
    if (op->writes && op->definition.derivative != NULL)
        return lt_error(LT_ERR_TYPE,
                        "%s: an operation that writes to an argument cannot have a derivative; "
                        "return a new tensor instead",
                        op->name);
    return LT_OK;
}

lt_status lt_own_register(const lt_op_definition *definition, const void *owner, lt_own_op **out)
{
    lt_context *context = lt_tls.context;
    const lt_context_outer outer = lt_context_visit(&lt_process_context);
    lt_own_op *op = lt_mem_zalloc(sizeof *op);
    lt_status status = op != NULL ? prepare(op, definition) : LT_ERR_MEMORY;
    if (status == LT_OK) {
        op->owner = owner;
        op->refs = out != NULL ? 2 : 1;
        pthread_mutex_lock(&lock);
        if (find_in(scope_of(context), op->name, owner) != NULL ||
            find_in(&process_scope, op->name, owner) != NULL)
            status = refuse_name(op->name);
        else
            status = add_op(scope_here(context), op);
        lt_unlock(&lock);
    }
    lt_context_return(outer);
    if (status != LT_OK) {
        if (op != NULL) lt_mem_free(op->text);
        lt_mem_free(op);
        return status;
    }
    if (out != NULL) *out = op;
    return LT_OK;
}

lt_own_op *lt_own_find(const char *name, const void *owner)
{
    pthread_mutex_lock(&lock);
    lt_own_op *op = find_here(name, owner);
    if (op != NULL) lt_own_retain(op);
    lt_unlock(&lock);
    return op;
}

/* Takes the first operation that matches out of the scope; the caller owns the reference. */
static lt_own_op *take_out(own_scope *scope, const char *name, const void *owner)
{
    for (int i = 0; scope != NULL && i < scope->n; i++) {
        lt_own_op *op = scope->ops[i];
        if (op->owner != owner || (name != NULL && strcmp(op->name, name) != 0)) continue;
        memmove(&scope->ops[i], &scope->ops[i + 1], (size_t)(scope->n - i - 1) * sizeof op);
        scope->n--;
        generation++;
        return op;
    }
    return NULL;
}

bool lt_own_remove(const char *name, const void *owner)
{
    bool found = false;
    LT_ASSERT(name != NULL || owner != NULL);
    for (;;) {
        lt_own_op *op = NULL;
        pthread_mutex_lock(&lock);
        if (name != NULL) op = take_out(scope_of(lt_tls.context), name, owner);
        for (own_scope *scope = scopes; name == NULL && scope != NULL && op == NULL;
             scope = scope->next)
            op = take_out(scope, NULL, owner);
        lt_unlock(&lock);
        if (op == NULL) return found;
        lt_own_release(op); /* calls the release function of the host */
        found = true;
    }
}

int64_t lt_own_generation(void) { return generation; }

const lt_own_op *lt_own_of_info(const lt_op_info *info)
{
    const lt_own_op *found = NULL;
    pthread_mutex_lock(&lock);
    for (const own_scope *scope = scopes; scope != NULL && found == NULL; scope = scope->next)
        for (int i = 0; i < scope->n; i++)
            if (&scope->ops[i]->callable.info == info) found = scope->ops[i];
    lt_unlock(&lock);
    return found;
}

/* ---- ltensor_register.h ---------------------------------------------------------------------- */

lt_status lt_op_register(const lt_op_definition *definition)
{
    LT_REQUIRE(definition);
    return lt_own_register(definition, NULL, NULL);
}

lt_status lt_op_unregister(const char *name)
{
    LT_REQUIRE(name);
    if (lt_own_remove(name, NULL)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "lt_op_unregister(): no operation '%.100s' is registered in this context",
                    name);
}

int lt_op_registered_count(void)
{
    pthread_mutex_lock(&lock);
    const own_scope *scope = scope_of(lt_tls.context);
    const int n = process_scope.n + (scope != NULL && scope != &process_scope ? scope->n : 0);
    lt_unlock(&lock);
    return n;
}

const lt_op_info *lt_op_registered_at(int i)
{
    const lt_op_info *info = NULL;
    pthread_mutex_lock(&lock);
    const own_scope *scope = scope_of(lt_tls.context);
    if (i >= 0 && i < process_scope.n)
        info = &process_scope.ops[i]->callable.info;
    else if (scope != NULL && scope != &process_scope && i >= process_scope.n &&
             i - process_scope.n < scope->n)
        info = &scope->ops[i - process_scope.n]->callable.info;
    lt_unlock(&lock);
    return info;
}

lt_status lt_op_error(lt_status status, const char *message)
{
    if (status <= LT_OK || status > LT_ERR_PERMISSION) status = LT_ERR_RUNTIME;
    return lt_error(status, "%s", message != NULL ? message : "an operation failed");
}

lt_tensor **lt_op_allocate(int64_t n)
{
    if (n >= 0) return lt_mem_zarray(n > 0 ? n : 1, sizeof(lt_tensor *));
    (void)lt_error(LT_ERR_TYPE, "lt_op_allocate(): %lld is negative", (long long)n);
    return NULL;
}
