/* options.h - the command line of the program: lua's options and our own. */
#ifndef REPL_OPTIONS_H
#define REPL_OPTIONS_H

#include <stdbool.h>

typedef struct options {
    bool version, help, interactive, ignore_environment;
    bool has_code; /* -e, -l or -W given; main.c executes them in order from argv */
    bool cells, check, write, doctor;
    bool app;       /* a script is inside of the executable: there are no options */
    bool simulates; /* --sim-gpus with more than 0 GPUs */
    bool dap;       /* debug for a client */
    int dap_port;   /* on this port; 0: on stdin and stdout */
    int kernel;     /* index in argv of the arguments of --kernel; 0: none */
    int command;    /* index in argv of the name of a command; 0: none */
    int nproc;      /* ranks to start; 0: run in this process */
    int restarts;   /* maximum number of restarts */
    int script;     /* index in argv of the script or notebook; 0: none */
    int first;      /* index after the last option before the script */
} options;

/* Parses argv, and removes the launcher's options from it (and *argc). Returns NULL, or the error
 * in the argument *bad. Applies options that act through the environment (--sim-gpus,
 * --disable-cuda, --no-copies). */
const char *options_parse(int *argc, char **argv, options *out, const char **bad);

/* The text of --help. */
extern const char options_help[];

#endif
