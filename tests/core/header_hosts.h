/* header_hosts.h - a part of header_test.c: the functions of ltensor.h that are not of tensors.
 * Which library it is, dtypes, contexts; operations by name, values and tables. */
#ifndef LT_TEST_HEADER_HOSTS_H
#define LT_TEST_HEADER_HOSTS_H

/* ---- the library, dtypes --------------------------------------------------------------------- */

static lt_status error_message(void) { return lt_error_message() != NULL ? LT_OK : LT_ERR_RUNTIME; }
static lt_status version_number(void)
{
    return lt_version_number() == LT_VERSION_NUMBER ? LT_OK : LT_ERR_RUNTIME;
}
static lt_status version(void)
{
    return strcmp(lt_version(), LT_VERSION) == 0 ? LT_OK : LT_ERR_RUNTIME;
}
static lt_status build_options(void) { return lt_build_options() != NULL ? LT_OK : LT_ERR_RUNTIME; }

static lt_status has(void)
{
    const char *const features[] = {"cuda",   "simulator", "lua",    "onednn",
                                    "lapack", "avx2",      "avx512", "others"};
    bool found = false;
    for (int i = 0; i < COUNT(features); i++) found = lt_has(features[i]) || found;
    return found ? LT_OK : LT_ERR_MEMORY;
}
static void has_null(void) { assert_false(lt_has(NULL)); }

static lt_status dtype_size(void)
{
    return lt_dtype_size(LT_FLOAT64) == 8 ? LT_OK : LT_ERR_RUNTIME;
}
static lt_status dtype_name(void)
{
    return strcmp(lt_dtype_name(LT_INT8), "int8") == 0 ? LT_OK : LT_ERR_RUNTIME;
}

static lt_status set_allocator(void)
{
    const lt_allocator late = {sizeof late, NULL, counted_resize, counted_take_block,
                               counted_give_block};
    return lt_set_allocator(&late) == LT_ERR_RUNTIME ? LT_OK : LT_ERR_TYPE; /* memory is in use */
}
static void set_allocator_null(void)
{
    const lt_allocator none = {sizeof none, NULL, NULL, NULL, NULL};
    const lt_allocator half = {sizeof half, NULL, counted_resize, NULL, NULL};
    const lt_allocator most = {sizeof most, NULL, counted_resize, counted_take_block, NULL};
    assert_no_null(lt_set_allocator(NULL), "'allocator'");
    assert_no_null(lt_set_allocator(&none), "resize");
    assert_no_null(lt_set_allocator(&half), "take_block");
    assert_no_null(lt_set_allocator(&most), "give_block");
}

/* ---- contexts -------------------------------------------------------------------------------- */

static bool go_on(void *user) { return user == NULL; }

static lt_status context_new(void)
{
    lt_context_config config = lt_context_defaults();
    lt_context *made = NULL;
    config.deadline = 1000;
    config.memory_limit = 1 << 20;
    config.progress = go_on;
    const lt_status status = lt_context_new(&config, &made);
    assert_int_equal(status == LT_OK, made != NULL);
    lt_context_release(made);
    return status;
}
static void context_new_null(void)
{
    lt_context *made = NULL;
    assert_no_null(lt_context_new(NULL, NULL), "'out'");
    assert_ok(lt_context_new(NULL, &made)); /* the defaults */
    lt_context_release(made);
}

static lt_status context_retain(void)
{
    lt_context_release(lt_context_retain(context));
    return LT_OK;
}
static void context_retain_null(void) { assert_null(lt_context_retain(NULL)); }
static void context_release_null(void) { lt_context_release(NULL); }

static lt_status context_enter(void)
{
    lt_context *before = lt_context_enter(context);
    assert_ptr_equal(lt_context_current(), context);
    assert_ptr_equal(lt_context_enter(before), context);
    return LT_OK;
}
static void context_enter_null(void)
{
    lt_context_enter(context);
    assert_ptr_equal(lt_context_enter(NULL), context);
    assert_ptr_equal(lt_context_current(), lt_context_process());
}

static lt_status context_set_memory_limit(void)
{
    const lt_status status = lt_context_set_memory_limit(context, cpu, 1 << 20);
    return status == LT_OK ? lt_context_set_memory_limit(context, gpu, INT64_MAX) : status;
}
static void context_set_memory_limit_null(void)
{
    assert_no_null(lt_context_set_memory_limit(NULL, cpu, 1), "'context'");
}

static lt_status context_memory(void)
{
    int64_t used, limit;
    return lt_context_memory(context, cpu, &used, &limit);
}
static void context_memory_null(void)
{
    assert_no_null(lt_context_memory(NULL, cpu, NULL, NULL), "'context'");
    assert_ok(lt_context_memory(context, cpu, NULL, NULL));
}

static lt_status context_set_deadline(void)
{
    lt_context *made = NULL;
    lt_status status = lt_context_new(NULL, &made);
    if (status == LT_OK) status = lt_context_set_deadline(made, 1000);
    if (status == LT_OK) status = lt_context_set_deadline(made, INFINITY);
    lt_context_release(made);
    return status;
}
static void context_set_deadline_null(void)
{
    assert_no_null(lt_context_set_deadline(NULL, 1), "'context'");
}

static lt_status context_interrupt(void)
{
    lt_context_interrupt(context);
    lt_context_interrupt_clear(context);
    return LT_OK;
}
static void context_interrupt_null(void)
{
    lt_context_interrupt(NULL);
    lt_context_interrupt_clear(NULL);
}

static lt_status interrupt(void)
{
    lt_interrupt();
    lt_interrupt_clear();
    return LT_OK;
}

static lt_status default_dtype(void) { return lt_set_default_dtype(lt_get_default_dtype()); }
static lt_status num_threads(void) { return lt_set_num_threads(lt_get_num_threads()); }

static lt_status thread_pool(void) { return lt_set_thread_pool(NULL); }

static void thread_pool_null(void)
{
    const lt_thread_pool without_run = {.threads = 2};
    assert_fails(lt_set_thread_pool(&without_run), LT_ERR_TYPE, "run");
}

static lt_status memory_trim(void) { return lt_memory_trim() >= 0 ? LT_OK : LT_ERR_RUNTIME; }

/* ---- operations by name, tables -------------------------------------------------------------- */

static lt_status call(void)
{
    const lt_value args[] = {lt_value_tensor(x), lt_value_double(2)};
    const lt_named_value named[] = {{"alpha", lt_value_int(3)}};
    lt_value result = lt_value_none();
    int n = 1;
    const lt_status status = lt_call("add", args, 2, named, 1, &result, &n);
    assert_int_equal(result.kind, status == LT_OK ? LT_KIND_TENSOR : LT_KIND_NONE);
    lt_value_release(&result);
    return status;
}
static void call_null(void)
{
    const lt_value args[] = {lt_value_tensor(x)}, none[] = {lt_value_tensor(NULL)};
    const lt_named_value named[] = {{NULL, lt_value_int(3)}};
    lt_value result = lt_value_none();
    int n = 1;
    assert_no_null(lt_call(NULL, args, 1, NULL, 0, &result, &n), "'name'");
    assert_no_null(lt_call("neg", NULL, 1, NULL, 0, &result, &n), "'args'");
    assert_no_null(lt_call("neg", args, 1, NULL, 1, &result, &n), "'named'");
    assert_no_null(lt_call("neg", args, 1, NULL, 0, &result, NULL), "'nresults'");
    assert_fails(lt_call("neg", args, 1, named, 1, &result, &n), LT_ERR_TYPE,
                 "neg(): named argument 0 has no name");
    assert_fails(lt_call("neg", none, 1, NULL, 0, &result, &n), LT_ERR_TYPE,
                 "neg(): 'self' (argument 0) must be Tensor, not NULL");
    assert_int_equal(result.kind, LT_KIND_NONE);
    assert_ok(lt_call("neg", args, 1, NULL, 0, NULL, NULL)); /* the result is dropped */
}
static void value_free_null(void)
{
    lt_value none = lt_value_none();
    lt_value_release(NULL);
    lt_value_release(&none);
}

static lt_status use_table(void)
{
    const lt_value text = lt_value_string("text"), tensor = lt_value_tensor(x),
                   inner = lt_value_table(table), none = lt_value_none();
    lt_table *own = NULL;
    lt_status status = lt_table_new(&own);
    for (int i = 0; i < 20 && status == LT_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        status = lt_table_set(own, name, i % 2 == 0 ? &text : &tensor);
        if (status == LT_OK) status = lt_table_append(own, i % 2 == 0 ? &text : &inner);
        assert_int_equal(lt_table_names(own),
                         status == LT_OK || lt_table_get(own, name) != NULL ? i + 1 : i);
    }
    if (status == LT_OK) status = lt_table_set(own, "n3", &text);
    if (status == LT_OK) status = lt_table_set(own, "n4", &none);
    if (status == LT_OK)
        assert_true(lt_table_names(own) == 19 && lt_table_length(own) == 20 &&
                    lt_table_at(own, 19) != NULL);
    if (status == LT_OK) assert_string_equal(lt_table_name(own, 0), "n0");
    lt_table_release(lt_table_retain(own));
    lt_table_release(own);
    return status;
}
static void table_new_null(void) { assert_no_null(lt_table_new(NULL), "'out'"); }
static void table_retain_null(void)
{
    assert_null(lt_table_retain(NULL));
    lt_table_release(NULL);
}
static void table_set_null(void)
{
    const lt_value one = lt_value_int(1), text = lt_value_string(NULL),
                   tensor = lt_value_tensor(NULL), inner = lt_value_table(NULL);
    assert_no_null(lt_table_set(NULL, "a", &one), "'table'");
    assert_no_null(lt_table_set(table, NULL, &one), "'name'");
    assert_no_null(lt_table_set(table, "a", NULL), "'value'");
    assert_no_null(lt_table_set(table, "a", &text), "'value'");
    assert_no_null(lt_table_set(table, "a", &tensor), "'value'");
    assert_no_null(lt_table_set(table, "a", &inner), "'value'");
}
static void table_append_null(void)
{
    const lt_value one = lt_value_int(1), tensor = lt_value_tensor(NULL);
    assert_no_null(lt_table_append(NULL, &one), "'table'");
    assert_no_null(lt_table_append(table, NULL), "'value'");
    assert_no_null(lt_table_append(table, &tensor), "'value'");
}
static void table_look_null(void)
{
    assert_true(lt_table_length(NULL) == 0 && lt_table_names(NULL) == 0);
    NONE_OF(lt_table_get(NULL, "two"), lt_table_get(table, NULL), lt_table_at(NULL, 0),
            lt_table_name(NULL, 0), lt_table_name(table, 1));
}

static lt_status op_look(void)
{
    assert_true(lt_op_count() > 500 && lt_op_arg(lt_op_at(0), 0) != NULL &&
                lt_op_result(lt_op_at(0), 0) != NULL);
    return LT_OK;
}
static void op_look_null(void) { NONE_OF(lt_op_arg(NULL, 0), lt_op_result(NULL, 0), lt_op_at(-1)); }

#endif
