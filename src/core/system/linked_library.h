/* linked_library.h - libraries inside of a static program, which open by their file names. For builds with
 * SYSTEM=static. */
#ifndef LT_SYSTEM_LINKED_LIBRARY_H
#define LT_SYSTEM_LINKED_LIBRARY_H

typedef struct lt_linked_symbol {
    const char *name;
    void *address;
} lt_linked_symbol;

typedef struct lt_linked_library {
    const char *name;
    const lt_linked_symbol *symbols; /* the last name is NULL */
    struct lt_linked_library *next;
} lt_linked_library;

/* Adds a library, which stays allocated. Called by constructors. */
void lt_shared_link(lt_linked_library *library);

#endif
