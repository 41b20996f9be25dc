/* cJSON.h - the functions of cJSON that files/safetensors.c calls, for the amalgamation
 * (make single-file), which links no library: libcjson.so.1 is opened on first use. The struct and the
 * type bits are those of cJSON 1.7. Includes the context's authorizer through libraries/library.h. */
#ifndef LT_OPENED_CJSON_H
#define LT_OPENED_CJSON_H

#include <stddef.h>
#include <string.h>

#include "error.h"
#include "libraries/library.h"
#include "system/shared_library.h"

typedef struct cJSON {
    struct cJSON *next, *prev, *child;
    int type;
    char *valuestring;
    int valueint;
    double valuedouble;
    char *string;
} cJSON;

#define cJSON_ArrayForEach(item, array)                                                            \
    for (item = (array) != NULL ? (array)->child : NULL; item != NULL; item = item->next)

static inline bool cJSON_IsNumber(const cJSON *item) { return item != NULL && (item->type & 8); }
static inline bool cJSON_IsString(const cJSON *item) { return item != NULL && (item->type & 16); }
static inline bool cJSON_IsArray(const cJSON *item) { return item != NULL && (item->type & 32); }
static inline bool cJSON_IsObject(const cJSON *item) { return item != NULL && (item->type & 64); }

static struct {
    cJSON *(*parse)(const char *text, size_t n, const char **end, int terminated);
    cJSON *(*array)(void);
    cJSON *(*object)(void);
    cJSON *(*string)(const char *text);
    cJSON *(*raw)(const char *text);
    int (*size)(const cJSON *item);
    int (*append)(cJSON *array, cJSON *item);
    int (*add)(cJSON *object, const char *name, cJSON *item);
    char *(*print)(const cJSON *item);
    void (*release)(cJSON *item);
    void (*release_text)(void *text);
} opened_json;

static void open_json(const lt_library *self)
{
    static const char *const names[] = {"cJSON_ParseWithLengthOpts",
                                        "cJSON_CreateArray",
                                        "cJSON_CreateObject",
                                        "cJSON_CreateString",
                                        "cJSON_CreateRaw",
                                        "cJSON_GetArraySize",
                                        "cJSON_AddItemToArray",
                                        "cJSON_AddItemToObject",
                                        "cJSON_PrintUnformatted",
                                        "cJSON_Delete",
                                        "cJSON_free"};
    void *functions[sizeof names / sizeof *names];
    void *library = lt_shared_open_bound(self->name);
    _Static_assert(sizeof functions == sizeof opened_json, "a name for each function");
    if (library == NULL) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((functions[i] = lt_shared_symbol(library, names[i])) == NULL) return;
    memcpy(&opened_json, functions, sizeof functions);
}

/* Opens cJSON. LT_ERR_IO: it is not installed. */
static lt_status lt_json_open(void)
{
    static lt_library json = LT_LIBRARY(LT_SHARED_NAME("cjson", "1"), open_json);
    LT_TRY(lt_library_need(&json));
    if (opened_json.parse == NULL)
        return lt_error(LT_ERR_IO,
                        "safetensors files need the library cJSON: %s was not found; install it",
                        LT_SHARED_NAME("cjson", "1"));
    return LT_OK;
}

static inline cJSON *cJSON_ParseWithLengthOpts(const char *text, size_t n, const char **end,
                                               int terminated)
{
    return opened_json.parse(text, n, end, terminated);
}
static inline cJSON *cJSON_CreateArray(void) { return opened_json.array(); }
static inline cJSON *cJSON_CreateObject(void) { return opened_json.object(); }
static inline cJSON *cJSON_CreateString(const char *text) { return opened_json.string(text); }
static inline cJSON *cJSON_CreateRaw(const char *text) { return opened_json.raw(text); }
static inline int cJSON_GetArraySize(const cJSON *item) { return opened_json.size(item); }
static inline int cJSON_AddItemToArray(cJSON *array, cJSON *item)
{
    return opened_json.append(array, item);
}
static inline int cJSON_AddItemToObject(cJSON *object, const char *name, cJSON *item)
{
    return opened_json.add(object, name, item);
}
static inline char *cJSON_PrintUnformatted(const cJSON *item) { return opened_json.print(item); }
/* May be called for NULL without the library. */
static inline void cJSON_Delete(cJSON *item)
{
    if (item != NULL) opened_json.release(item);
}
static inline void cJSON_free(void *text)
{
    if (text != NULL) opened_json.release_text(text);
}

#endif
