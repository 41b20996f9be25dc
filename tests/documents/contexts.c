/* docs/guide/embedding.md: Use contexts */
#include <stdio.h>

#include "ltensor.h"

static bool stay_inside(void *user, int access, const char *name)
{
    (void)user, (void)access, (void)name;
    return false;
}

int main(void)
{
    lt_context *context = NULL, *before = NULL;
    lt_archive *archive = NULL;
#include "block.inc"
    const bool denied = lt_load("/etc/passwd", &archive) == LT_ERR_PERMISSION;
    puts(lt_error_message());
    lt_context_enter(before);
    lt_context_release(context);
    return denied ? 0 : 1;
}
