/* library.c - see library.h. */
#include "library.h"

#include "error.h"

lt_status lt_library_need(lt_library *library)
{
    if (atomic_load_explicit(&library->tried, memory_order_acquire)) return LT_OK;
    LT_TRY(lt_authorize(LT_ACCESS_LIBRARY, library->name));
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&library->tried, memory_order_relaxed)) library->load(library);
    atomic_store_explicit(&library->tried, true, memory_order_release);
    pthread_mutex_unlock(&lock);
    return LT_OK;
}
