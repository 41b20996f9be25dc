/* declaration.c - parses the declaration of an own operation: "myops::axpy(Tensor x, Tensor y, *,
 * Scalar a=1) -> Tensor". The types are in src/ops/README.md; PyTorch's names of types are aliases.
 *
 * Strings of the tables are pieces of one copy of the text, in op->text. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "error.h"
#include "memory/alloc.h"
#include "own/own_op.h"
#include "system/plain_locale.h"

typedef struct own_type {
    const char *name, *alias; /* alias: PyTorch's; NULL: none */
    lt_arg_type type;
    lt_kind kind;
    bool result; /* allowed as a result */
} own_type;

static const own_type types[] = {
    {"Tensor", NULL, LT_ARG_TENSOR, LT_KIND_TENSOR, true},
    {"IndexTensor", NULL, LT_ARG_INDEX_TENSOR, LT_KIND_TENSOR, true},
    {"Tensor|Scalar", NULL, LT_ARG_TENSOR_OR_SCALAR, LT_KIND_TENSOR, false},
    {"Tensor[]", NULL, LT_ARG_TENSORS, LT_KIND_TENSORS, true},
    {"Scalar", NULL, LT_ARG_SCALAR, LT_KIND_DOUBLE, false},
    {"int", "SymInt", LT_ARG_INT, LT_KIND_INT, true},
    {"float", NULL, LT_ARG_FLOAT, LT_KIND_DOUBLE, true},
    {"bool", NULL, LT_ARG_BOOL, LT_KIND_BOOL, true},
    {"string", "str", LT_ARG_STRING, LT_KIND_STRING, false},
    {"Dim", NULL, LT_ARG_DIM, LT_KIND_INT, false},
    {"Dims", NULL, LT_ARG_DIMS, LT_KIND_DIMS, false},
    {"Index", NULL, LT_ARG_INDEX, LT_KIND_INT, false},
    {"Size", "int[]", LT_ARG_SIZE, LT_KIND_DIMS, false},
    {"Size", "SymInt[]", LT_ARG_SIZE, LT_KIND_DIMS, false},
    {"Dtype", "ScalarType", LT_ARG_DTYPE, LT_KIND_DTYPE, false},
    {"Device", NULL, LT_ARG_DEVICE, LT_KIND_DEVICE, false},
    {"Generator", NULL, LT_ARG_GENERATOR, LT_KIND_GENERATOR, false},
};

/* A declaration that is being parsed. */
typedef struct own_parser {
    lt_own_op *op;
    const char *declaration;
    bool named_only;
} own_parser;

static lt_status refuse(const own_parser *p, const char *problem, const char *part)
{
    return lt_error(LT_ERR_TYPE, "invalid declaration '%.200s': %s '%.60s'", p->declaration,
                    problem, part);
}

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1])) text[--n] = '\0';
    return text;
}

static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_') return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == '\0';
}

/* Cuts off the text up to a comma outside of parentheses and quotes; NULL at the end. */
static char *next_part(char **rest)
{
    char *start = *rest, quote = '\0';
    int depth = 0;
    if (start == NULL) return NULL;
    for (char *at = start; *at != '\0'; at++) {
        if (quote != '\0') {
            quote = *at == quote ? '\0' : quote;
            continue;
        }
        if (*at == '\'' || *at == '"') quote = *at;
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (*at != ',' || depth > 0) continue;
        *at = '\0';
        *rest = at + 1;
        return trimmed(start);
    }
    *rest = NULL;
    return trimmed(start);
}

static const own_type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0 ||
            (types[i].alias != NULL && strcmp(types[i].alias, name) == 0))
            return &types[i];
    return NULL;
}

static lt_status refuse_type(const own_parser *p, const char *name, bool result)
{
    char known[400];
    size_t n = 0;
    known[0] = '\0';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((types[i].result || !result) && (i == 0 || types[i].name != types[i - 1].name))
            n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n > 0 ? ", " : "",
                                  types[i].name);
    return lt_error(LT_ERR_TYPE,
                    "invalid declaration '%.200s': unknown type '%.60s' of %s; the "
                    "types are %s",
                    p->declaration, name, result ? "a result" : "an argument", known);
}

/* Reads a number into the fallback. */
static bool read_number(const char *text, lt_arg_type type, lt_scalar *out)
{
    char *end;
    errno = 0;
    const long long whole = strtoll(text, &end, 10);
    if (*end == '\0' && end != text && errno == 0) {
        *out =
            type == LT_ARG_FLOAT ? lt_scalar_from_float((double)whole) : lt_scalar_from_int(whole);
        return true;
    }
    const double number = lt_plain_strtod(text, &end);
    if (*end != '\0' || end == text) return false;
    *out = lt_scalar_from_float(number);
    return type == LT_ARG_FLOAT || type == LT_ARG_SCALAR || type == LT_ARG_TENSOR_OR_SCALAR;
}

static bool read_truth(const char *text, lt_scalar *out)
{
    const bool on = strcmp(text, "true") == 0 || strcmp(text, "True") == 0;
    *out = lt_scalar_from_bool(on);
    return on || strcmp(text, "false") == 0 || strcmp(text, "False") == 0;
}

/* Reads 'text' or "text" and cuts the quotes off. */
static bool read_quoted(char *text, const char **out)
{
    const size_t n = strlen(text);
    if (n < 2 || (*text != '\'' && *text != '"') || text[n - 1] != *text) return false;
    text[n - 1] = '\0';
    *out = text + 1;
    return true;
}

static lt_status read_default(own_parser *p, lt_call_arg *arg, int i, char *text)
{
    bool valid;
    lt_scalar *fallback = &arg->fallback;
    arg->info.default_text = text;
    if (strcmp(text, "nil") == 0 || strcmp(text, "None") == 0) {
        arg->info.default_text = "nil";
        return arg->info.optional ? LT_OK : refuse(p, "nil needs an optional type, with ?:", text);
    }
    arg->info.optional = false; /* absent means the default */
    switch (arg->type) {
    case LT_ARG_BOOL: valid = read_truth(text, fallback); break;
    case LT_ARG_STRING: valid = read_quoted(text, &arg->fallback_text); break;
    case LT_ARG_SCALAR:
        valid = read_truth(text, fallback) || read_number(text, arg->type, fallback);
        break;
    case LT_ARG_TENSOR_OR_SCALAR:
    case LT_ARG_FLOAT:
    case LT_ARG_INT:
    case LT_ARG_SIZE: valid = read_number(text, arg->type, fallback); break;
    case LT_ARG_DIM:
    case LT_ARG_INDEX:
        valid = read_number(text, arg->type, fallback) && fallback->v.i != 0;
        p->op->first_default[i] = fallback->v.i;
        if (valid && fallback->v.i > 0) /* the text is for C, where indices count from 0 */
            snprintf(text, strlen(text) + 1, "%lld", (long long)--fallback->v.i);
        break;
    default: valid = false;
    }
    return valid ? LT_OK : refuse(p, "invalid default", text);
}

/* "Tensor(a!)" is cut to "Tensor", and "Tensor(a!)?" to "Tensor?". */
static bool cut_annotation(char *type)
{
    char *open = strchr(type, '('), *close = open != NULL ? strchr(open, ')') : NULL;
    if (close == NULL) return false;
    const bool writes = close[-1] == '!';
    memmove(open, close + 1, strlen(close + 1) + 1);
    return writes;
}

static lt_status add_argument(own_parser *p, char *part)
{
    lt_own_op *op = p->op;
    const int i = op->callable.info.n_args;
    if (i == LT_MAX_ARGS) return refuse(p, "more than 16 arguments, at", part);
    lt_call_arg *arg = &op->args[i];
    char *equals = strchr(part, '='), *text = NULL, *space;
    if (equals != NULL) {
        *equals = '\0';
        text = trimmed(equals + 1);
        part = trimmed(part);
    }
    space = strrchr(part, ' ');
    if (space == NULL) return refuse(p, "an argument needs a type and a name, got", part);
    *space = '\0';
    char *type_name = trimmed(part);
    const char *name = space + 1;
    if (!is_name(name)) return refuse(p, "invalid name of an argument", name);
    for (int k = 0; k < i; k++)
        if (strcmp(op->args[k].info.name, name) == 0) return refuse(p, "two arguments named", name);
    op->written[i] = cut_annotation(type_name);
    op->writes = op->writes || op->written[i];
    const size_t n = strlen(type_name);
    arg->info.optional = n > 0 && type_name[n - 1] == '?';
    if (arg->info.optional) type_name[n - 1] = '\0';
    const own_type *type = find_type(type_name);
    if (type == NULL) return refuse_type(p, type_name, false);
    if (op->written[i] && type->kind != LT_KIND_TENSOR)
        return refuse(p, "only a Tensor can be written, not", name);
    if (arg->info.optional) type_name[n - 1] = '?';
    arg->type = type->type;
    arg->info.size = sizeof arg->info;
    arg->info.name = name, arg->info.type = type_name, arg->info.kind = type->kind;
    arg->info.named_only = p->named_only;
    op->batch_args[i] = (lt_batch_arg){name, type->kind == LT_KIND_TENSOR    ? LT_BATCH_TENSOR
                                             : type->kind == LT_KIND_TENSORS ? LT_BATCH_LIST
                                                                             : LT_BATCH_VALUE};
    op->callable.info.n_args++;
    return text != NULL ? read_default(p, arg, i, text) : LT_OK;
}

static lt_status add_result(own_parser *p, char *part)
{
    lt_own_op *op = p->op;
    const int i = op->callable.info.n_results;
    if (i == LT_CALL_MAX_RESULTS) return refuse(p, "more than 8 results, at", part);
    char *space = strrchr(part, ' ');
    const char *name = "";
    if (space != NULL) {
        *space = '\0';
        name = space + 1;
        part = trimmed(part);
    }
    const own_type *type = find_type(part);
    if (type == NULL || !type->result) return refuse_type(p, part, true);
    op->results[i] = (lt_arg_info){sizeof(lt_arg_info), name, part, NULL, type->kind, false, false};
    op->callable.info.n_results++;
    op->batch.tensors =
        op->batch.tensors && (type->kind == LT_KIND_TENSOR || type->kind == LT_KIND_TENSORS);
    op->batch.gives_list = op->batch.gives_list || type->kind == LT_KIND_TENSORS;
    return LT_OK;
}

/* Splits "ns::name(args) -> results" into its three parts. */
static lt_status split(own_parser *p, char *text, char **name, char **args, char **results)
{
    char *open = strchr(text, '('), *arrow = NULL;
    for (char *at = text; (at = strstr(at, "->")) != NULL; at += 2) arrow = at;
    if (open == NULL || arrow == NULL || open > arrow)
        return refuse(p, "expected 'namespace::name(arguments) -> results', got", text);
    *open = *arrow = '\0';
    *name = trimmed(text), *results = trimmed(arrow + 2), *args = trimmed(open + 1);
    const size_t n = strlen(*args);
    if (n == 0 || (*args)[n - 1] != ')') return refuse(p, "no ) after the arguments, at", *args);
    (*args)[n - 1] = '\0';
    *args = trimmed(*args);
    char *colon = strstr(*name, "::");
    if (colon == NULL)
        return refuse(p, "the name needs a namespace, as in myops::axpy, got", *name);
    *colon = '\0';
    const bool valid = is_name(*name) && is_name(colon + 2);
    const bool reserved = strcmp(*name, "aten") == 0 || strcmp(*name, "prim") == 0;
    *colon = ':';
    if (!valid) return refuse(p, "invalid name", *name);
    return reserved ? refuse(p, "the namespace is reserved, in", *name) : LT_OK;
}

static lt_status parse_parts(own_parser *p, char *args, char *results)
{
    lt_own_op *op = p->op;
    char *rest = *args != '\0' ? args : NULL, *part;
    while ((part = next_part(&rest)) != NULL) {
        if (strcmp(part, "*") == 0)
            p->named_only = true;
        else
            LT_TRY(add_argument(p, part));
    }
    const size_t n = strlen(results);
    if (*results == '(' && results[n - 1] == ')') {
        results[n - 1] = '\0';
        results = trimmed(results + 1);
    }
    op->batch.tensors = true;
    rest = *results != '\0' ? results : NULL;
    while ((part = next_part(&rest)) != NULL) LT_TRY(add_result(p, part));
    return LT_OK;
}

/* Names that nodes and warnings keep longer than the operation. */
static lt_status keep_names(lt_own_op *op, const char *name)
{
    char node[LT_OWN_TEXT + 48], flat[LT_OWN_TEXT];
    if (strlen(name) >= LT_OWN_TEXT)
        return lt_error(LT_ERR_TYPE,
                        "the name '%.40s...' of an operation has %zu bytes, at most "
                        "%d are possible",
                        name, strlen(name), LT_OWN_TEXT - 1);
    size_t n = 0;
    for (const char *at = name; *at != '\0'; at++)
        if (*at != ':')
            flat[n++] = *at;
        else if (at[1] == ':')
            flat[n++] = '_';
    flat[n] = '\0';
    snprintf(node, sizeof node, "GeneratedBackwardFor_%s_defaultBackward", flat);
    op->name = lt_node_name_kept(name);
    op->node_name = lt_node_name_kept(node);
    return op->name != NULL && op->node_name != NULL ? LT_OK : LT_ERR_MEMORY;
}

lt_status lt_own_parse(lt_own_op *op, const char *declaration, const char *doc)
{
    const size_t n = strlen(declaration) + 1, n_doc = doc != NULL ? strlen(doc) + 1 : 1;
    char *name = NULL, *args = NULL, *results = NULL;
    op->text = lt_mem_zalloc(3 * n + n_doc);
    if (op->text == NULL) return LT_ERR_MEMORY;
    char *whole = op->text, *lua = whole + n, *cut = lua + n;
    memcpy(whole, declaration, n);
    memcpy(lua, declaration, n);
    memcpy(cut, declaration, n);
    if (doc != NULL) memcpy(cut + n, doc, n_doc);
    whole = trimmed(whole);
    own_parser p = {op, whole, false};
    LT_TRY(split(&p, cut, &name, &args, &results));
    LT_TRY(parse_parts(&p, args, results));
    LT_TRY(keep_names(op, name));
    char *arrow = NULL;
    for (char *at = lua; (at = strstr(at, "->")) != NULL; at += 2) arrow = at;
    *arrow = '\0';
    op->lua_text = trimmed(lua);
    lt_op_info *info = &op->callable.info;
    info->size = sizeof *info;
    info->name = op->name, info->signature = whole, info->doc = op->text + 3 * n;
    info->group = "own";
    op->callable.args = op->args, op->callable.results = op->results;
    op->callable.out = -1;
    op->batch.name = op->name, op->batch.form = LT_BATCH_NEW;
    op->batch.n_args = info->n_args, op->batch.n_results = info->n_results;
    op->batch.args = op->batch_args;
    return LT_OK;
}
