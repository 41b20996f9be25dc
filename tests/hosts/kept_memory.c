/* kept_memory.c - a host gets memory back: by lt_memory_trim, by itself after some seconds, and
 * within a context's limit, which released memory that the library keeps counts against. */
#include <ltensor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TENSORS 60
#define MB      (1 << 20)

static long resident_mb(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kilobytes = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0) kilobytes = atol(line + 6);
    if (file != NULL) fclose(file);
    return kilobytes / 1024;
}

static void expect(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "kept_memory: %s; %ld MB are resident; last error: %s\n", what, resident_mb(),
            lt_error_message());
    exit(1);
}

/* So many tensors of so many megabytes, written to and released. */
static void use(int n, int64_t megabytes)
{
    lt_tensor *t[TENSORS];
    const int64_t sizes[] = {megabytes * MB / 4};
    for (int i = 0; i < n; i++) {
        expect(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 1, sizes, &t[i]) == LT_OK,
               "no tensor could be made");
        memset(lt_tensor_data(t[i]), 1, (size_t)(megabytes * MB));
    }
    for (int i = 0; i < n; i++) lt_tensor_release(t[i]);
}

/* Thousands of tensors of 8 to 320 KB, most of which malloc provides. */
static void use_small(void)
{
    enum { SMALL_TENSORS = 4000 };
    static lt_tensor *t[SMALL_TENSORS];
    for (int i = 0; i < SMALL_TENSORS; i++) {
        const int64_t sizes[] = {(i % 40 + 1) * 2000};
        expect(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 1, sizes, &t[i]) == LT_OK,
               "no small tensor could be made");
        memset(lt_tensor_data(t[i]), 1, (size_t)sizes[0] * sizeof(float));
    }
    for (int i = 0; i < SMALL_TENSORS; i++) lt_tensor_release(t[i]);
}

/* Waits until the unused memory has returned to the system. */
static void expect_idle_returns(long before, const char *what)
{
    for (int tenths = 0; tenths < 200 && resident_mb() > before + 20; tenths++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    expect(resident_mb() < before + 20, what);
}

int main(void)
{
    const long before = resident_mb();
    use(TENSORS, 4);
    expect(resident_mb() > before + 200, "released blocks are not kept");
    expect(lt_memory_trim() >= 240 * MB,
           "lt_memory_trim() returned less than the 60 blocks of 4 MB");
    expect(resident_mb() < before + 20, "lt_memory_trim() left memory resident");

    lt_context_config config = lt_context_defaults();
    lt_context *context = NULL;
    config.memory_limit = 100 * MB;
    expect(lt_context_new(&config, &context) == LT_OK, "no context");
    lt_context *outer = lt_context_enter(context);
    use(20, 4);
    use(15, 6); /* no block of 4 MB is large enough */
    expect(resident_mb() < before + 110, "kept blocks and those in use pass the limit together");
    lt_context_enter(outer);
    lt_context_release(context);

    use(TENSORS, 4);
    expect_idle_returns(before, "memory that was not used for 20 seconds is resident");
    use_small();
    expect_idle_returns(before, "small blocks that were not used for 20 seconds are resident");
    return 0;
}
