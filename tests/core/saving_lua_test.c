/* saving_lua_test.c - files that are saved over while writes fail and processes are killed: what is
 * there is the old value or the new one, whole, and nothing else is left once something was saved
 * again. A value is a number that every element has.
 *
 * write, fsync, rename and unlink of the library are this program's, which can make the nth of them
 * fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lualib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ltensor_lua.h"

/* ---- system calls that fail ------------------------------------------------------------------ */

static int until_failure; /* calls; 0: none fails */
static int failed_calls;

static bool fails(void)
{
    if (until_failure == 0 || --until_failure > 0) return false;
    failed_calls++;
    errno = ENOSPC;
    return true;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    return fd > STDERR_FILENO && fails() ? -1 : (ssize_t)syscall(SYS_write, fd, bytes, n);
}
int fsync(int fd) { return fails() ? -1 : (int)syscall(SYS_fsync, fd); }
int rename(const char *from, const char *to)
{
    return fails() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- what saves ------------------------------------------------------------------------------ */

static const char prelude[] =
    "torch = require 'torch'\n"
    "nn = torch.nn\n"
    "function tensors(v) return { a = torch.full({100}, v), b = torch.full({3000}, v), c = "
    "torch.full({50, 7}, v), d = torch.full({1}, v) } end\n"
    "function same(...)\n"
    "  local v\n"
    "  for _, t in ipairs { ... } do\n"
    "    local low, high = t:min():item(), t:max():item()\n"
    "    assert(low == high and (v == nil or v == low), 'values of different saves: ' .. low .. ', "
    "' .. high .. ', ' .. tostring(v))\n"
    "    v = low\n"
    "  end\n"
    "  return v\n"
    "end\n"
    "function same_all(t) assert(t.a and t.b and t.c and t.d, 'a tensor is missing') return "
    "same(t.a, t.b, t.c, t.d) end\n"
    "function content(path) local file = assert(io.open(path, 'rb')) local text = file:read 'a' "
    "file:close() return text end\n"
    "savers = {\n"
    "  { 'safetensors', function(v) torch.save(tensors(v), 'x.safetensors') end, function() return "
    "same_all(torch.load 'x.safetensors') end },\n"
    "  { 'shards', function(v) torch.save(tensors(v), 'x.safetensors', { max_shard_size = 4000 }) "
    "end,\n"
    "    function() return same_all(torch.load 'x.safetensors.index.json') end },\n"
    "  { 'pt', function(v) torch.save(tensors(v), 'x.pt') end, function() return "
    "same_all(torch.load 'x.pt') end },\n"
    "  { 'npy', function(v) torch.save(torch.full({3000}, v), 'x.npy') end, function() return "
    "same(torch.load 'x.npy') end },\n"
    "  { 'npz', function(v) torch.save(tensors(v), 'x.npz') end, function() return "
    "same_all(torch.load 'x.npz') end },\n"
    "  { 'compressed npz', function(v) torch.save(tensors(v), 'x.npz', { compressed = true }) end, "
    "function() return same_all(torch.load 'x.npz') end },\n"
    "  { 'checkpoint', function(v)\n"
    "      if not torch.distributed.is_initialized() then torch.distributed.init_process_group() "
    "end\n"
    "      torch.distributed.checkpoint.save(tensors(v), { checkpoint_id = 'x' })\n"
    "    end, function() return same_all(torch.distributed.checkpoint.load(nil, { checkpoint_id = "
    "'x' })) end },\n"
    "  { 'onnx', function(v)\n"
    "      local net = nn.Linear(30, 20)\n"
    "      torch.no_grad(function() net.weight:fill_(v) net.bias:fill_(v) end)\n"
    "      torch.onnx.export(net, torch.ones(1, 30), 'x.onnx')\n"
    "    end, function() local net = torch.onnx.load 'x.onnx' return "
    "same(table.unpack(net:parameters())) end },\n"
    "  { 'sound', function(v) torch.audio.save('x.wav', torch.full({1, 3000}, v / 1000), 8000, { "
    "encoding = 'PCM_F' }) end,\n"
    "    function() return (same(torch.audio.load 'x.wav' * 1000) + 0.5) // 1 end },\n"
    "  { 'figure', function(v) torch.utils.plot.lines({ v, v }):save 'x.svg' end, function()\n"
    "      local text = content 'x.svg'\n"
    "      assert(text:find '^<svg' and text:find '</svg>%s*$', 'a part of a figure')\n"
    "      return FIGURE\n"
    "    end },\n"
    "  { 'trace', function(v)\n"
    "      local recording = torch.profiler.profile({}, function() for i = 1, 50 do torch.ones(i) "
    "end end)\n"
    "      recording:export_chrome_trace 'x.json'\n"
    "    end, function()\n"
    "      local text = content 'x.json'\n"
    "      assert(text:find '^{' and text:find '%]}\\n$', 'a part of a trace')\n"
    "      return FIGURE\n"
    "    end },\n"
    "}\n"
    "return #savers\n";

static lua_State *L;
static char folder[] = "/tmp/saving_test.XXXXXX";

/* Calls entry `which` of a saver: 2 saves the value, 3 gives it back. The error; NULL: it went
 * well. */
static const char *call(int saver, int which, double *value)
{
    lua_settop(L, 0);
    lua_getglobal(L, "savers");
    lua_rawgeti(L, -1, saver);
    lua_rawgeti(L, -1, which);
    lua_pushnumber(L, *value);
    if (which == 3) { /* a picture does not tell the number back */
        lua_pushvalue(L, -1);
        lua_setglobal(L, "FIGURE");
    }
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) return lua_tostring(L, -1);
    if (which == 3) *value = lua_tonumber(L, -1);
    return NULL;
}

static const char *name_of(int saver)
{
    lua_getglobal(L, "savers");
    lua_rawgeti(L, -1, saver);
    lua_rawgeti(L, -1, 1);
    return lua_tostring(L, -1);
}

static void save(int saver, double value)
{
    const char *problem = call(saver, 2, &value);
    if (problem != NULL) fail_msg("%s", problem);
}

/* The value that is there; `otherwise` for a saver whose files tell none. */
static double loaded(int saver, double otherwise)
{
    const char *problem = call(saver, 3, &otherwise);
    if (problem != NULL) {
        char text[500];
        snprintf(text, sizeof text, "%s", problem);
        fail_msg("%s: %s", name_of(saver), text);
    }
    return otherwise;
}

/* Removes all files of the folder, or counts them. */
static int files(bool removes, const char *part)
{
    int n = 0;
    DIR *all = opendir(".");
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strstr(entry->d_name, part) == NULL)
            continue;
        if (removes) unlink(entry->d_name);
        n++;
    }
    closedir(all);
    return n;
}

static int savers;

static int begin(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) return -1;
    L = luaL_newstate();
    luaL_openlibs(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    if (luaL_loadstring(L, prelude) != LUA_OK || lua_pcall(L, 0, 1, 0) != LUA_OK) {
        print_error("%s\n", lua_tostring(L, -1));
        return -1;
    }
    savers = (int)lua_tointeger(L, -1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    lua_close(L);
    files(true, "");
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void every_call_that_fails_leaves_a_whole_value(void **state)
{
    (void)state;
    for (int saver = 1; saver <= savers; saver++) {
        files(true, "");
        save(saver, 1);
        const int usual = files(false, "");
        bool failed = true;
        for (int n = 1; failed; n++) {
            save(saver, 1);
            double value = 2;
            failed_calls = 0;
            until_failure = n;
            const bool well = call(saver, 2, &value) == NULL;
            until_failure = 0;
            failed = failed_calls > 0;
            const double got = loaded(saver, value);
            if (got != 1 && got != 2) fail_msg("%s: the value is %g", name_of(saver), got);
            if (well && got != 2)
                fail_msg("%s: call %d failed, saving succeeded, and the value is the old one",
                         name_of(saver), n);
            if (files(false, ".tmp") != 0)
                fail_msg("%s: call %d failed, and a temporary file is left", name_of(saver), n);
            save(saver, 3);
            assert_true(loaded(saver, 3) == 3);
            if (files(false, "") != usual)
                fail_msg("%s: after call %d failed, %d files are there, not %d", name_of(saver), n,
                         files(false, ""), usual);
            if (n == 1 && !failed) fail_msg("%s: nothing was written", name_of(saver));
        }
    }
}

/* Saves once, says so, and goes on with other values. */
static void save_for_ever(int saver, int ready)
{
    for (double value = 1;; value++) {
        double saved = value;
        const char *problem = call(saver, 2, &saved);
        if (problem != NULL) {
            print_error("%s\n", problem);
            _exit(1);
        }
        if (value == 1) syscall(SYS_write, ready, "", 1);
    }
}

/* A process that saves, some of the time it needs for a few saves after the first one, and then is
 * killed. */
static void kill_a_saving_process(int saver)
{
    int ends[2], status;
    char byte;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) save_for_ever(saver, ends[1]);
    close(ends[1]);
    (void)!read(ends[0], &byte, 1);
    close(ends[0]);
    usleep((useconds_t)(rand() % 12000));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* 200 processes, as far as a minute goes. Ranks belong to a process: this test comes before the
 * parent has one. */
static void every_kill_leaves_a_whole_value(void **state)
{
    (void)state;
    const char *given = getenv("SEED");
    const unsigned seed = given != NULL ? (unsigned)atoi(given) : (unsigned)time(NULL);
    const time_t start = time(NULL);
    int kills = 0;
    print_message("SEED=%u\n", seed);
    srand(seed);
    for (int saver = 1; saver <= savers; saver++) {
        files(true, "");
        for (int round = 0; round < 200 / savers + 1 && (round == 0 || time(NULL) - start < 60);
             round++, kills++) {
            kill_a_saving_process(saver);
            loaded(saver, 1);
        }
        save(saver, 1);
        assert_true(loaded(saver, 1) == 1);
        const int left = files(false, "");
        files(true, "");
        save(saver, 1);
        if (left != files(false, ""))
            fail_msg("%s: %d files are left, not %d", name_of(saver), left, files(false, ""));
    }
    print_message("%d kills\n", kills);
}

static void a_file_that_is_saved_over_keeps_its_owner_and_mode(void **state)
{
    (void)state;
    struct stat info;
    for (int saver = 1; saver <= savers; saver++) {
        /* new names */
        if (strcmp(name_of(saver), "shards") == 0 || strcmp(name_of(saver), "checkpoint") == 0)
            continue;
        files(true, "");
        save(saver, 1);
        DIR *all = opendir(".");
        struct dirent *entry;
        while ((entry = readdir(all)) != NULL && entry->d_name[0] == '.') continue;
        assert_non_null(entry);
        const uid_t owner = geteuid() == 0 ? 12345 : geteuid();
        assert_int_equal(chmod(entry->d_name, 0640), 0);
        assert_int_equal(chown(entry->d_name, owner, (gid_t)-1), 0);
        save(saver, 2);
        assert_int_equal(stat(entry->d_name, &info), 0);
        assert_int_equal(info.st_uid, owner);
        assert_int_equal(info.st_mode & 0777, 0640);
        closedir(all);
    }
}

/* A process that still writes is no leftover. */
static void two_that_save_at_once_do_not_disturb_each_other(void **state)
{
    (void)state;
    const int pt = 3;
    files(true, "");
    save(pt, 1);
    pid_t children[2];
    for (int c = 0; c < 2; c++) {
        children[c] = fork();
        if (children[c] != 0) continue;
        for (double value = 1; value < 100; value++) {
            double saved = value;
            const char *problem = call(pt, 2, &saved);
            if (problem == NULL) continue;
            print_error("%s\n", problem);
            _exit(1);
        }
        _exit(0);
    }
    for (int c = 0; c < 2; c++) {
        int status;
        assert_int_equal(waitpid(children[c], &status, 0), children[c]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_true(loaded(pt, 0) == 99);
    assert_int_equal(files(false, ""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kill_leaves_a_whole_value),
        cmocka_unit_test(every_call_that_fails_leaves_a_whole_value),
        cmocka_unit_test(a_file_that_is_saved_over_keeps_its_owner_and_mode),
        cmocka_unit_test(two_that_save_at_once_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
