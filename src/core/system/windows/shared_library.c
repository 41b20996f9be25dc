/* shared_library.c - see system/shared_library.h. Windows resolves all functions when it opens a
 * library. */
#include "system/shared_library.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

static _Thread_local DWORD failure;

void *lt_shared_open(const char *path)
{
    void *library = LoadLibraryA(path);
    failure = library == NULL ? GetLastError() : 0;
    return library;
}

void *lt_shared_open_bound(const char *path) { return lt_shared_open(path); }

void *lt_shared_open_global(const char *path) { return lt_shared_open(path); }

void lt_shared_close(void *library) { FreeLibrary(library); }

void *lt_shared_symbol(void *library, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress(library, name);
}

const char *lt_shared_error(void)
{
    static _Thread_local char text[300];
    const DWORD n = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                                   failure, 0, text, sizeof text, NULL);
    if (failure == 0 || n == 0) return "not found";
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static HMODULE own_module(DWORD flags)
{
    HMODULE module = NULL;
    return GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | flags,
                              (LPCSTR)(uintptr_t)&own_module, &module)
               ? module
               : NULL;
}

/* With slashes, as in other paths of the library. */
bool lt_shared_own_path(char *path, size_t n)
{
    const HMODULE module = own_module(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT);
    const DWORD length = module != NULL ? GetModuleFileNameA(module, path, (DWORD)n) : 0;
    for (char *p = path; length > 0 && *p != '\0'; p++)
        if (*p == '\\') *p = '/';
    return length > 0 && length < n;
}

bool lt_shared_object_of(const void *address, lt_shared_object *object)
{
    (void)address, (void)object;
    return false;
}

void lt_shared_keep_own(void) { own_module(GET_MODULE_HANDLE_EX_FLAG_PIN); }
