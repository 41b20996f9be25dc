/* docs/guide/embedding.md: Share processors with your threads */
#include <stdio.h>

#include "ltensor.h"
#include "ltensor_threads.h"

int main(void)
{
#include "block.inc"
    /* a machine with fewer processors refuses 2 to 5, and keeps its settings */
    const int cpus = 0;
    config.cpus = &cpus;
    config.n_cpus = 1;
    if (lt_threads_configure(&config) != LT_OK) puts(lt_error_message());
    return lt_threads_count() <= 3 ? 0 : 1;
}
