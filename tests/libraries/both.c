/* both.c - opens the two libraries by name, as a plug-in host or a binding of another language
 * does, in the order of its arguments: they are one ltensor, with one error message. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *function(void *library, const char *name)
{
    void *f = dlsym(library, name);
    if (f != NULL) return f;
    fprintf(stderr, "both: %s\n", dlerror());
    exit(1);
}

int main(int argc, char **argv)
{
    void *library[2] = {NULL, NULL};
    for (int i = 1; i < argc && i <= 2; i++) {
        library[i - 1] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (library[i - 1] == NULL) {
            fprintf(stderr, "both: %s\n", dlerror());
            return 1;
        }
    }
    /* A library that was opened is looked through with what it needs: either of the two finds the
     * core. */
    const char *(*message[2])(void);
    for (int i = 0; i < 2; i++) *(void **)&message[i] = function(library[i], "lt_error_message");
    int (*call)(const char *, const void *, int, const void *, int, void *, int *);
    bool (*has)(const char *);
    *(void **)&call = function(library[0], "lt_call");
    *(void **)&has = function(library[1], "lt_has");
    if (call("no such operation", NULL, 0, NULL, 0, NULL, NULL) == 0) return 1;
    if (message[0] != message[1] || strstr(message[1](), "no such operation") == NULL) {
        fprintf(stderr, "both: two messages: '%s' and '%s'\n", message[0](), message[1]());
        return 1;
    }
    if (!has("lua")) {
        fprintf(stderr, "both: lt_has(\"lua\") is false\n");
        return 1;
    }
    return 0;
}
