/* unload.c - a host that opens libltensor.so by name, computes with two threads and closes the
 * library, 50 times. The library is the only argument. */
#include <dlfcn.h>
#include <ltensor.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(void *library, const char *name)
{
    void *f = dlsym(library, name);
    if (f != NULL) return f;
    fprintf(stderr, "unload: %s\n", dlerror());
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    for (int round = 0; round < 50; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "unload: %s\n", dlerror());
            return 1;
        }
        __typeof__(&lt_set_num_threads) set_num_threads = find(library, "lt_set_num_threads");
        __typeof__(&lt_tensor_new) tensor_new = find(library, "lt_tensor_new");
        __typeof__(&lt_exp) exponential = find(library, "lt_exp");
        __typeof__(&lt_tensor_release) release = find(library, "lt_tensor_release");
        const int64_t sizes[] = {2000000};
        lt_tensor *x = NULL, *y = NULL;
        set_num_threads(2);
        if (tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 1, sizes, &x) != LT_OK ||
            exponential(x, &y) != LT_OK)
            return 1;
        release(x);
        release(y);
        dlclose(library);
    }
    return 0;
}
