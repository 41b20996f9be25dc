/* python_host.c - a program that has Lua with ltensor and a Python in one process, and passes
 * capsules of DLPack and of Arrow between them: what an application does that shares tensors with
 * NumPy or PyTorch, and columns with pandas or Polars.
 *
 *   python_host SCRIPT     with the Python that LTENSOR_PYTHON names, or else the one it was built
 *                          with
 *
 * Python scripts see a module `ltensor`:
 *   ltensor.lua(chunk, ...)      runs Lua with numbers, strings and capsules as its ..., gives what
 *                                it returns as such;
 *                                a column of Arrow is a tuple of two, as __arrow_c_array__ gives it
 *   ltensor.buffer(versioned)    a capsule of four floats 1, 2, 3, 4 that the program owns, exported
 *                                by lt_tensor_wrap
 *   ltensor.buffer_value(i)      one of them
 *   ltensor.given_back()         the number of releases of that buffer
 *   ltensor.live()               bytes of tensor memory in use */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop/dlpack.h"
#include "ltensor_lua.h"

static lua_State *L;
static float buffer[4] = {1, 2, 3, 4};
static int given_back;

static const char *name_of(bool versioned) { return versioned ? "dltensor_versioned" : "dltensor"; }

/* ---- capsules -------------------------------------------------------------------------------- */

/* Who takes a capsule renames it; one that nobody took is deleted. */
static void capsule_destroy(PyObject *capsule)
{
    for (int versioned = 0; versioned < 2; versioned++)
        if (PyCapsule_IsValid(capsule, name_of(versioned)))
            lt_dlpack_delete(PyCapsule_GetPointer(capsule, name_of(versioned)), versioned);
}

static PyObject *capsule_new(void *managed, bool versioned)
{
    PyObject *capsule = PyCapsule_New(managed, name_of(versioned), capsule_destroy);
    if (capsule == NULL) lt_dlpack_delete(managed, versioned);
    return capsule;
}

/* Moves what a Python capsule holds into one of Lua's, on the stack. False with an exception. */
static bool push_capsule(PyObject *capsule)
{
    for (int versioned = 0; versioned < 2; versioned++) {
        if (!PyCapsule_IsValid(capsule, name_of(versioned))) continue;
        lt_lua_push_dlpack(L, PyCapsule_GetPointer(capsule, name_of(versioned)), versioned);
        return PyCapsule_SetName(capsule,
                                 versioned ? "used_dltensor_versioned" : "used_dltensor") == 0;
    }
    PyErr_SetString(PyExc_ValueError, "the capsule holds no tensor");
    return false;
}

/* ---- columns --------------------------------------------------------------------------------- */

static const char SCHEMA[] = "arrow_schema", ARRAY[] = "arrow_array";

/* Arrow's capsules own the structs as well; who takes a column leaves them empty. */
static void schema_destroy(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, SCHEMA);
    if (schema->release != NULL) schema->release(schema);
    PyMem_Free(schema);
}

static void array_destroy(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, ARRAY);
    if (array->release != NULL) array->release(array);
    PyMem_Free(array);
}

/* The pair of capsules for the column at a stack index, which is moved. */
static PyObject *column_at(int index)
{
    PyObject *result = NULL, *schema_capsule = NULL, *array_capsule = NULL;
    struct ArrowSchema *schema = PyMem_Calloc(1, sizeof *schema);
    struct ArrowArray *array = PyMem_Calloc(1, sizeof *array);
    if (schema != NULL) schema_capsule = PyCapsule_New(schema, SCHEMA, schema_destroy);
    if (array != NULL) array_capsule = PyCapsule_New(array, ARRAY, array_destroy);
    if (schema_capsule != NULL && array_capsule != NULL) {
        if (lt_lua_take_arrow(L, index, schema, array) == LT_OK)
            result = PyTuple_Pack(2, schema_capsule, array_capsule);
        else
            PyErr_SetString(PyExc_TypeError, lt_error_message());
    }
    if (schema_capsule == NULL) PyMem_Free(schema);
    if (array_capsule == NULL) PyMem_Free(array);
    Py_XDECREF(schema_capsule);
    Py_XDECREF(array_capsule);
    return result;
}

/* Moves the column of a pair of capsules into one of Lua's, on the stack. False with an
 * exception. */
static bool push_column(PyObject *pair)
{
    PyObject *schema = PyTuple_GET_SIZE(pair) == 2 ? PyTuple_GET_ITEM(pair, 0) : NULL;
    PyObject *array = PyTuple_GET_SIZE(pair) == 2 ? PyTuple_GET_ITEM(pair, 1) : NULL;
    if (schema == NULL || !PyCapsule_IsValid(schema, SCHEMA) || !PyCapsule_IsValid(array, ARRAY)) {
        PyErr_SetString(PyExc_TypeError,
                        "a tuple must be a capsule of a schema and one of an array");
        return false;
    }
    lt_lua_push_arrow(L, PyCapsule_GetPointer(schema, SCHEMA), PyCapsule_GetPointer(array, ARRAY));
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool push_value(PyObject *value)
{
    if (PyCapsule_CheckExact(value)) return push_capsule(value);
    if (PyTuple_CheckExact(value)) return push_column(value);
    if (PyBool_Check(value))
        lua_pushboolean(L, value == Py_True);
    else if (PyLong_Check(value))
        lua_pushinteger(L, PyLong_AsLongLong(value));
    else if (PyFloat_Check(value))
        lua_pushnumber(L, PyFloat_AsDouble(value));
    else if (PyUnicode_Check(value))
        lua_pushstring(L, PyUnicode_AsUTF8(value));
    else
        PyErr_SetString(PyExc_TypeError,
                        "ltensor.lua takes numbers, strings, capsules and columns");
    return PyErr_Occurred() == NULL;
}

static PyObject *value_at(int index)
{
    void *managed;
    bool versioned;
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: return PyBool_FromLong(lua_toboolean(L, index));
    case LUA_TSTRING: return PyUnicode_FromString(lua_tostring(L, index));
    case LUA_TNUMBER:
        return lua_isinteger(L, index) ? PyLong_FromLongLong(lua_tointeger(L, index))
                                       : PyFloat_FromDouble(lua_tonumber(L, index));
    case LUA_TUSERDATA:
        if (lt_lua_take_dlpack(L, index, &managed, &versioned) == LT_OK)
            return capsule_new(managed, versioned);
        return column_at(index);
    default: Py_RETURN_NONE;
    }
}

/* ---- the module ------------------------------------------------------------------------------ */

static PyObject *run_lua(PyObject *self, PyObject *args)
{
    (void)self;
    const Py_ssize_t n = PyTuple_GET_SIZE(args);
    const char *chunk = n > 0 ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0)) : NULL;
    PyObject *result = NULL;
    if (chunk == NULL) return PyErr_Format(PyExc_TypeError, "ltensor.lua needs a chunk");
    lua_settop(L, 0);
    bool ok = luaL_loadbufferx(L, chunk, strlen(chunk), "=chunk", "t") == LUA_OK;
    for (Py_ssize_t i = 1; ok && i < n; i++)
        if (!push_value(PyTuple_GET_ITEM(args, i))) return NULL;
    ok = ok && lua_pcall(L, (int)n - 1, 1, 0) == LUA_OK;
    if (ok)
        result = value_at(-1);
    else
        PyErr_SetString(PyExc_RuntimeError, lua_tostring(L, -1));
    lua_settop(L, 0);
    return result;
}

static void count_given_back(void *ctx) { ++*(int *)ctx; }

static PyObject *lend_buffer(PyObject *self, PyObject *args)
{
    (void)self;
    const int64_t size = 4;
    int versioned;
    lt_tensor *t = NULL;
    void *managed = NULL;
    if (!PyArg_ParseTuple(args, "p", &versioned)) return NULL;
    if (lt_tensor_wrap(buffer, LT_FLOAT32, 1, &size, count_given_back, &given_back, &t) == LT_OK)
        (void)lt_tensor_to_dlpack(t, versioned, &managed);
    lt_tensor_release(t); /* what is lent lives on */
    if (managed == NULL) return PyErr_Format(PyExc_RuntimeError, "%s", lt_error_message());
    return capsule_new(managed, versioned);
}

static PyObject *buffer_value(PyObject *self, PyObject *args)
{
    (void)self;
    int i;
    if (!PyArg_ParseTuple(args, "i", &i)) return NULL;
    return PyFloat_FromDouble((double)buffer[i & 3]);
}

static PyObject *count(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    return PyLong_FromLong(given_back);
}

static PyObject *live(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    int64_t bytes = 0;
    lt_context_memory(lt_lua_context(L), (lt_device){LT_CPU, 0}, &bytes, NULL);
    return PyLong_FromLongLong(bytes);
}

static PyMethodDef functions[] = {{"lua", run_lua, METH_VARARGS, NULL},
                                  {"buffer", lend_buffer, METH_VARARGS, NULL},
                                  {"buffer_value", buffer_value, METH_VARARGS, NULL},
                                  {"given_back", count, METH_NOARGS, NULL},
                                  {"live", live, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "ltensor", NULL, -1, functions, NULL, NULL, NULL, NULL};
static PyObject *make_module(void) { return PyModule_Create(&module); }

/* ---- the two interpreters -------------------------------------------------------------------- */

static bool open_python(void)
{
    PyConfig config;
    const char *program = getenv("LTENSOR_PYTHON");
    PyImport_AppendInittab("ltensor", make_module);
    PyConfig_InitPythonConfig(&config);
    PyStatus status;
    /* Its modules are found from the name of the program, those of a virtual environment too. */
    if (program == NULL) program = PYTHON_PROGRAM;
    status = PyConfig_SetBytesString(&config, &config.program_name, program);
    if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) fprintf(stderr, "python_host: %s\n", status.err_msg);
    return !PyStatus_Exception(status);
}

static bool open_lua(void)
{
    L = luaL_newstate();
    if (L == NULL) return false;
    luaL_openlibs(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_pop(L, 1);
    return true;
}

int main(int argc, char **argv)
{
    FILE *script = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (script == NULL) {
        fprintf(stderr, "usage: python_host SCRIPT\n");
        return 2;
    }
    if (!open_lua() || !open_python()) return 1;
    const int failed = PyRun_SimpleFile(script, argv[1]);
    fclose(script);
    lua_close(L); /* Lua's tensors give Python's memory back: Python must still be there */
    const int ended = Py_FinalizeEx();
    return failed != 0 || ended != 0;
}
