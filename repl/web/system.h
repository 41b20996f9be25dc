/* system.h - functions of Linux that Emscripten does not declare; system.c defines them. The compiler includes this file
 * before the sources that call them. */
#ifndef REPL_WEB_SYSTEM_H
#define REPL_WEB_SYSTEM_H

#ifdef __cplusplus
extern "C" {
#endif

int on_exit(void (*function)(int status, void *argument), void *argument);

#define RTLD_DL_LINKMAP 2
struct link_map;
int dladdr1(const void *address, void *info, void **extra, int flags);

#ifdef __cplusplus
}
#endif

#endif
