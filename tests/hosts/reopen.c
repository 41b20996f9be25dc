/* reopen.c - a host that opens a Lua state, computes with two threads and closes the state, 200
 * times: the process keeps no memory of the states that it closed, no threads beyond those of the
 * first rounds, and ends with 0. The folder of torch.so is the only argument. */
#include <lauxlib.h>
#include <lualib.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 200
#define WARM   60 /* rounds until caches and arenas have their size */

static const char script[] =
    "local torch = require 'torch'\n"
    "local nn, F = torch.nn, torch.nn.functional\n"
    "torch.set_num_threads(2)\n"
    "local x = torch.rand(2000000):exp()\n"
    "assert(x:mean():item() > 1)\n"
    "local a = torch.rand(300, 300)\n"
    "assert(#a:mm(a) == 300)\n"
    "local net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))\n"
    "local optimizer = torch.optim.Adam(net:parameters(), {lr = 0.01})\n"
    "local handle = net:register_forward_hook(function(_, _, output) return output * 2 end)\n"
    "local chain = torch.compile(function(y) return (y * 2):tanh() + 1 end)\n"
    "for _ = 1, 3 do\n"
    "  optimizer:zero_grad()\n"
    "  local y = net(chain(torch.rand(16, 4)))\n"
    "  y:register_hook(function(grad) return grad + y:detach() * 0 end)\n"
    "  F.mse_loss(y, torch.ones(16, 1)):backward()\n"
    "  optimizer:step()\n"
    "end\n"
    "kept = {x, net, optimizer, handle, torch.autocast('cpu'), torch.Generator(), "
    "coroutine.wrap(function() coroutine.yield(torch.ones(3)) end)}\n"
    "kept.self = kept\n";

/* A number of /proc/self/status, in its unit. */
static long status(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long value = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name) + 1);
    if (file != NULL) fclose(file);
    return value;
}

static int fail(const char *what, long before, long after)
{
    fprintf(stderr, "reopen: %s: %ld after %d rounds, %ld after %d\n", what, before, WARM, after,
            ROUNDS);
    return 1;
}

int main(int argc, char **argv)
{
    long allocated = 0, resident = 0, threads = 0;
    if (argc != 2) return 2;
    for (int round = 1; round <= ROUNDS; round++) {
        lua_State *L = luaL_newstate();
        luaL_openlibs(L);
        lua_pushfstring(L, "%s/?.so", argv[1]);
        lua_getglobal(L, "package");
        lua_insert(L, -2);
        lua_setfield(L, -2, "cpath");
        lua_settop(L, 0);
        if (luaL_dostring(L, script)) {
            fprintf(stderr, "reopen: round %d: %s\n", round, lua_tostring(L, -1));
            return 1;
        }
        lua_close(L);
        if (round == WARM)
            allocated = (long)mallinfo2().uordblks, resident = status("VmRSS"),
            threads = status("Threads");
    }
    const long allocated_now = (long)mallinfo2().uordblks, resident_now = status("VmRSS"),
               threads_now = status("Threads");
    if (allocated_now > allocated + 16384) return fail("bytes allocated", allocated, allocated_now);
    if (resident_now > resident + 4096) return fail("kB resident", resident, resident_now);
    if (threads_now > threads) return fail("threads", threads, threads_now);
    return 0;
}
