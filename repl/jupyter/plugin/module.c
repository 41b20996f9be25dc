/* module.c - the Lua module of the plugin: sockets.h for an interpreter, and a stdin that requests
 * input from the front end.
 *
 * The Lua API functions are the program's, which loads the plugin (repl/program/plugin.c).
 * Includes the Lua API and this folder's headers. */
#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

#include "sockets.h"

static const char *const channel_names[] = {"control", "shell", "stdin", "iopub", NULL};

/* The identities and the header of the current request, for input requests. */
static jupyter_message *current;
static bool takes_input;

static jupyter_text text_at(lua_State *L, int index)
{
    jupyter_text t;
    t.bytes = luaL_checklstring(L, index, &t.size);
    return t;
}

static int raise_no_memory(lua_State *L)
{
    return luaL_error(L, "not enough memory for a message");
}

/* open(key, {control, shell, stdin, iopub, heartbeat: addresses}): opens the sockets; messages are
 * signed with the key. Raises errors. */
static int open_sockets(lua_State *L)
{
    static const char *const names[CHANNELS] = {"control", "shell", "stdin", "iopub", "heartbeat"};
    const char *addresses[CHANNELS];
    jupyter_text key = text_at(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    for (int i = 0; i < CHANNELS; i++) { /* the strings stay on the stack */
        lua_getfield(L, 2, names[i]);
        addresses[i] = luaL_checkstring(L, -1);
    }
    message_begin(key.bytes, key.size);
    const char *problem = sockets_open(addresses);
    if (problem) return luaL_error(L, "%s", problem);
    return 0;
}

/* close(): sends all queued messages. */
static int close_sockets(lua_State *L)
{
    (void)L;
    message_free(current);
    current = NULL;
    sockets_close();
    return 0;
}

/* Adds the frames from the list or string at index; false: out of memory. */
static bool add_identities(lua_State *L, jupyter_message *m, int index)
{
    bool good = true;
    if (lua_type(L, index) == LUA_TSTRING) {
        jupyter_text t = text_at(L, index);
        return message_add(m, t.bytes, t.size);
    }
    for (lua_Integer i = 1, n = luaL_len(L, index); i <= n && good; i++) {
        size_t size;
        lua_geti(L, index, i);
        const char *bytes = lua_tolstring(L, -1, &size);
        good = bytes != NULL && message_add(m, bytes, size);
        lua_pop(L, 1);
    }
    return good;
}

/* send(channel, identities, type, parent, content [, metadata]): the identities are a list of
 * strings or one string; the last three arguments are JSON. */
static int send(lua_State *L)
{
    int channel = luaL_checkoption(L, 1, NULL, channel_names);
    const char *type = luaL_checkstring(L, 3);
    jupyter_text parent = text_at(L, 4), content = text_at(L, 5), metadata = {"{}", 2};
    if (!lua_isnoneornil(L, 6)) metadata = text_at(L, 6);
    jupyter_message *m = message_new();
    if (m == NULL) return raise_no_memory(L);
    if (!add_identities(L, m, 2) || !message_finish(m, type, parent, metadata, content)) {
        message_free(m);
        return raise_no_memory(L);
    }
    m->channel = channel;
    sockets_send(m);
    return 0;
}

/* receive([milliseconds [, only_control]]) -> {channel, identities, header, parent, metadata,
 * content}, the last four as JSON, from the control or shell channel; nil after the timeout or a
 * signal. */
static int receive(lua_State *L)
{
    static const char *const names[MESSAGE_PARTS] = {"header", "parent", "metadata", "content"};
    bool interrupted;
    jupyter_message *m =
        sockets_receive(CHANNEL_CONTROL, lua_toboolean(L, 2) ? CHANNEL_CONTROL : CHANNEL_SHELL,
                        (int)luaL_optinteger(L, 1, -1), &interrupted);
    if (m == NULL) return 0;
    lua_newtable(L);
    lua_pushstring(L, channel_names[m->channel]);
    lua_setfield(L, -2, "channel");
    lua_newtable(L);
    for (size_t i = 0; i < m->identities; i++) {
        jupyter_text identity = message_frame(m, i);
        lua_pushlstring(L, identity.bytes, identity.size);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "identities");
    for (int i = 0; i < MESSAGE_PARTS; i++) {
        jupyter_text part = message_part(m, i);
        lua_pushlstring(L, part.bytes, part.size);
        lua_setfield(L, -2, names[i]);
    }
    message_free(m);
    return 1;
}

/* begin_request(identities, header, takes_input): output and input requests now belong to this
 * request. */
static int begin_request(lua_State *L)
{
    jupyter_text header = text_at(L, 2);
    jupyter_message *m = message_new();
    if (m == NULL) return raise_no_memory(L);
    if (!add_identities(L, m, 1) || !message_add(m, header.bytes, header.size) ||
        !sockets_begin_request(header)) {
        message_free(m);
        return raise_no_memory(L);
    }
    message_free(current);
    current = m;
    takes_input = lua_toboolean(L, 3);
    return 0;
}

/* settle(): returns when all output was sent and all arrived messages can be received. */
static int settle(lua_State *L)
{
    (void)L;
    sockets_settle();
    return 0;
}

/* ---- input ----------------------------------------------------------------------------------- */

/* The current line of input, partly read. */
static jupyter_message *answer;
static size_t answer_read;

static bool request_input(void)
{
    static const char content[] = "{\"prompt\": \"\", \"password\": false}";
    jupyter_message *m = message_new();
    bool good = m != NULL && current != NULL;
    for (size_t i = 0; good && i + 1 < current->count; i++) {
        jupyter_text identity = message_frame(current, i);
        good = message_add(m, identity.bytes, identity.size);
    }
    if (good &&
        message_finish(m, "input_request", message_frame(current, current->count - 1),
                       (jupyter_text){"{}", 2}, (jupyter_text){content, sizeof content - 1})) {
        m->channel = CHANNEL_STDIN;
        sockets_forget_answers();
        sockets_send(m);
        return true;
    }
    message_free(m);
    return false;
}

/* The read function of stdin: requests a line from the front end. A signal ends the wait, as with a
 * terminal; Ctrl-D ends the input. */
static ssize_t read_answer(void *cookie, char *bytes, size_t size)
{
    (void)cookie;
    if (answer == NULL) {
        bool interrupted;
        if (!takes_input) {
            fputs("this front end does not accept input while a cell runs (allow_stdin)\n", stderr);
            errno = ENOTSUP;
            return -1;
        }
        if (!request_input()) {
            errno = ENOMEM;
            return -1;
        }
        jupyter_message *m = sockets_receive(CHANNEL_STDIN, CHANNEL_STDIN, -1, &interrupted);
        if (m == NULL) {
            errno = EINTR;
            return -1;
        }
        answer = message_answer(m);
        message_free(m);
        answer_read = 0;
        if (answer == NULL) return 0;
    }
    jupyter_text line = message_frame(answer, 0);
    size_t n = line.size - answer_read < size ? line.size - answer_read : size;
    memcpy(bytes, line.bytes + answer_read, n);
    answer_read += n;
    if (answer_read == line.size) {
        message_free(answer);
        answer = NULL;
    }
    return (ssize_t)n;
}

/* take_stdin(): makes io.read and C's stdin request input from the front end. */
static int take_stdin(lua_State *L)
{
    FILE *asking = fopencookie(NULL, "r", (cookie_io_functions_t){.read = read_answer});
    if (asking == NULL) return luaL_error(L, "cannot read input: %s", strerror(errno));
    lua_getglobal(L, LUA_IOLIBNAME);
    lua_getfield(L, -1, "stdin");
    luaL_Stream *file = luaL_testudata(L, -1, LUA_FILEHANDLE);
    if (file != NULL && file->f == stdin) file->f = asking;
    stdin = asking;
    return 0;
}

__attribute__((visibility("default"))) int luaopen_ltensor_jupyter(lua_State *L);
int luaopen_ltensor_jupyter(lua_State *L)
{
    static const luaL_Reg functions[] = {{"open", open_sockets},
                                         {"close", close_sockets},
                                         {"send", send},
                                         {"receive", receive},
                                         {"begin_request", begin_request},
                                         {"settle", settle},
                                         {"take_stdin", take_stdin},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
