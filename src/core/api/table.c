/* table.c - lt_table, the container that scripts and hosts exchange: a list, and named values
 * sorted by the bytes of their names; also copying and freeing the data that values own.
 * Independent of Lua. */
#include "values.h"

#include <stdatomic.h>
#include <string.h>

#include "assertion.h"
#include "error.h"
#include "memory/alloc.h"

typedef struct named {
    char *name;
    lt_value value;
} named;

struct lt_table {
    _Atomic int32_t refs;
    lt_value *list;
    named *names;
    int64_t n_list, room_list, n_names, room_names;
};

static lt_status copy_value(const char *function, const lt_value *value, lt_value *out)
{
    if (value == NULL) return lt_null_argument(function, "value");
    LT_TRY(lt_host_value_check(function, "value", 0, value, value->size));
    lt_value copy = lt_value_of((lt_kind)value->kind);
    memcpy(&copy, value, value->size < sizeof copy ? value->size : sizeof copy);
    copy.size = (uint32_t)sizeof copy;
    switch (copy.kind) {
    case LT_KIND_BOOL:
    case LT_KIND_INT:
    case LT_KIND_DOUBLE:
    case LT_KIND_DTYPE:
    case LT_KIND_DEVICE: break;
    case LT_KIND_STRING:
        if (copy.v.s == NULL) return lt_null_argument(function, "value");
        return lt_value_own_text(copy.v.s, lt_value_text_size(&copy), out);
    case LT_KIND_TENSOR:
        if (copy.v.tensor == NULL) return lt_null_argument(function, "value");
        lt_tensor_retain(copy.v.tensor);
        break;
    case LT_KIND_TABLE:
        if (copy.v.table == NULL) return lt_null_argument(function, "value");
        lt_table_retain(copy.v.table);
        break;
    default:
        return lt_error(LT_ERR_TYPE, "%s(): a table cannot hold a value of kind %d", function,
                        (int)copy.kind);
    }
    *out = copy;
    return LT_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

lt_status lt_table_new(lt_table **out)
{
    LT_REQUIRE(out);
    lt_table *table = lt_mem_zalloc(sizeof *table);
    if (table == NULL) return LT_ERR_MEMORY;
    atomic_init(&table->refs, 1);
    *out = table;
    return LT_OK;
}

lt_table *lt_table_retain(lt_table *table)
{
    if (table == NULL) return NULL;
    LT_ASSERT(table->refs > 0, "refs %d", table->refs);
    atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
    return table;
}

void lt_value_release(lt_value *value)
{
    if (value == NULL) return;
    if (value->kind == LT_KIND_TENSOR) lt_tensor_release(value->v.tensor);
    if (value->kind == LT_KIND_TENSORS) lt_tensor_list_release(&value->v.tensors);
    if (value->kind == LT_KIND_STRING) lt_mem_free((char *)value->v.text.s);
    if (value->kind == LT_KIND_TABLE) lt_table_release(value->v.table);
    uint32_t size = value->size;
    memset(value, 0, size < sizeof *value ? size : sizeof *value);
    value->size = size;
}

void lt_table_release(lt_table *table)
{
    if (table == NULL) return;
    LT_ASSERT(table->refs > 0, "refs %d", table->refs);
    if (atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) != 1) return;
    LT_ASSERT(table->n_list <= table->room_list && table->n_names <= table->room_names);
    for (int64_t i = 0; i < table->n_list; i++) lt_value_release(&table->list[i]);
    for (int64_t i = 0; i < table->n_names; i++) {
        lt_mem_free(table->names[i].name);
        lt_value_release(&table->names[i].value);
    }
    lt_mem_free(table->list);
    lt_mem_free(table->names);
    lt_mem_free(table);
}

/* Ensures capacity for one more entry in an array of n. */
static lt_status grow_array(void **array, int64_t n, int64_t *room, size_t size)
{
    if (n < *room) return LT_OK;
    const int64_t more = *room > 0 ? 2 * *room : 8;
    void *larger = lt_mem_rearray(*array, more, size);
    if (larger == NULL) return LT_ERR_MEMORY;
    *array = larger;
    *room = more;
    return LT_OK;
}

lt_status lt_table_append(lt_table *table, const lt_value *value)
{
    LT_REQUIRE(table);
    lt_value copy;
    void *list = table->list;
    LT_TRY(grow_array(&list, table->n_list, &table->room_list, sizeof *table->list));
    table->list = list;
    LT_TRY(copy_value(__func__, value, &copy));
    table->list[table->n_list++] = copy;
    return LT_OK;
}

/* Binary search: the index of the name, or the index at which to insert it. */
static int64_t name_index(const lt_table *table, const char *name, bool *found)
{
    int64_t low = 0, high = table->n_names;
    *found = false;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int order = strcmp(table->names[middle].name, name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_away(lt_table *table, int64_t i)
{
    lt_mem_free(table->names[i].name);
    lt_value_release(&table->names[i].value);
    table->n_names--;
    memmove(&table->names[i], &table->names[i + 1],
            (size_t)(table->n_names - i) * sizeof *table->names);
}

lt_status lt_table_set(lt_table *table, const char *name, const lt_value *value)
{
    LT_REQUIRE(table);
    LT_REQUIRE(name);
    LT_REQUIRE(value);
    bool found;
    const int64_t i = name_index(table, name, &found);
    if (value->kind == LT_KIND_NONE) {
        if (found) take_away(table, i);
        return LT_OK;
    }
    lt_value copy, text;
    if (found) {
        LT_TRY(copy_value(__func__, value, &copy));
        lt_value_release(&table->names[i].value);
        table->names[i].value = copy;
        return LT_OK;
    }
    void *names = table->names;
    LT_TRY(grow_array(&names, table->n_names, &table->room_names, sizeof *table->names));
    table->names = names;
    LT_TRY(lt_value_own_text(name, strlen(name), &text));
    const lt_status status = copy_value(__func__, value, &copy);
    if (status != LT_OK) {
        lt_value_release(&text);
        return status;
    }
    memmove(&table->names[i + 1], &table->names[i],
            (size_t)(table->n_names - i) * sizeof *table->names);
    table->names[i] = (named){(char *)text.v.text.s, copy};
    table->n_names++;
    return LT_OK;
}

const lt_value *lt_table_get(const lt_table *table, const char *name)
{
    if (table == NULL || name == NULL) return NULL;
    bool found;
    const int64_t i = name_index(table, name, &found);
    return found ? &table->names[i].value : NULL;
}

const lt_value *lt_table_at(const lt_table *table, int64_t i)
{
    return table != NULL && i >= 0 && i < table->n_list ? &table->list[i] : NULL;
}

int64_t lt_table_length(const lt_table *table) { return table != NULL ? table->n_list : 0; }
int64_t lt_table_names(const lt_table *table) { return table != NULL ? table->n_names : 0; }

const char *lt_table_name(const lt_table *table, int64_t i)
{
    return table != NULL && i >= 0 && i < table->n_names ? table->names[i].name : NULL;
}
