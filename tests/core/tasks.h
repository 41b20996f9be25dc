/* tasks.h - the threads of this process as the system lists them. */
#ifndef LT_TEST_TASKS_H
#define LT_TEST_TASKS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Stores the ids of at most `room` threads; returns the number of all. */
static inline int list_tasks(pid_t *ids, int room)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL) abort();
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        if (n < room) ids[n] = (pid_t)atoi(entry->d_name);
        n++;
    }
    closedir(folder);
    return n;
}

static inline int count_tasks(void) { return list_tasks(NULL, 0); }

/* Waits until there are at most n: a joined thread is listed until the kernel has removed it. */
static inline int wait_for_tasks(int n)
{
    for (int turn = 0; turn < 2000 && count_tasks() > n; turn++) usleep(1000);
    return count_tasks();
}

/* The blocked signals of a thread as bits, signal s being bit s - 1; 0 if it has ended. */
static inline unsigned long long blocked_signals(pid_t id)
{
    char path[64], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)id);
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "SigBlk: %llx", &mask) == 1) break;
    fclose(file);
    return mask;
}

#endif
