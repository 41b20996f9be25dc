/* options.c - the command line of the program.
 *
 * Short options are lua's, with lua's rules: they end at the first other argument, at `-` (stdin)
 * or after `--`. If that argument is the name of a command, the rest belongs to it (repl/lm,
 * repl/bundle). Long options are our own and may be mixed with them; in --cells mode they may also
 * follow the notebook. Includes the C library only. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "usage: ltensor [options] [script [args]]\n"
    "Lua with tensors. Without a script, starts the prompt or runs the script on stdin.\n"
    "`ltensor chat MODEL`, `ltensor generate MODEL` and `ltensor embed MODEL` run a language\n"
    "model, `ltensor build` writes C source of a model, or an executable of a script; with\n"
    "--help, they list their options.\n"
    "  -e code          run the string `code`\n"
    "  -l name          require library `name` into global `name`\n"
    "  -l g=name        require library `name` into global `g`\n"
    "  -i               start the prompt after the script\n"
    "  -v, --version    print versions and the features of this build\n"
    "  -E               ignore environment variables\n"
    "  -W               turn warnings on\n"
    "  -                run stdin as a script\n"
    "  --               end the options\n"
    "  --cells FILE     run the cells of a Markdown notebook and print it with the output\n"
    "    --check          compare the output with the stored output; exit 1 if they differ\n"
    "    --write          store the output in FILE\n"
    "  --kernel FILE    run a kernel for Jupyter with the connection file FILE\n"
    "  --kernel install [--user | --prefix DIR | --sys-prefix] [--name NAME]\n"
    "                   register the kernel, with the options before --kernel, in Jupyter\n"
    "  --dap            debug for an editor, by stdin and stdout; --dap=PORT: by a port\n"
    "  --nproc N        run the script or the prompt in N processes (torch.distributed)\n"
    "  --max-restarts N\n"
    "                   restart them at most N times after a failure\n"
    "  --sim-gpus N     simulate N GPUs\n"
    "  --disable-cuda   use no GPU\n"
    "  --no-copies      print no notes on hidden copies\n"
    "  --doctor         list optional libraries and the features that they add\n"
    "  -h, --help       print this text\n"
    "The Lua code in LTENSOR_INIT, or the file that it names as @file, runs first.\n";

static bool is_command(const char *word)
{
    static const char *const commands[] = {"build", "chat", "embed", "generate"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(word, commands[i]) == 0) return true;
    return false;
}

static bool is_digits(const char *text)
{
    return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* The value of the option `option`: the next argument, "" if there is none, or the text after `=`;
 * NULL if argv[*i] is another option. */
static const char *number_of(int argc, char **argv, int *i, const char *option)
{
    const size_t n = strlen(option);
    const char *name = argv[*i];
    if (strncmp(name, option, n) != 0 || (name[n] != '\0' && name[n] != '=')) return NULL;
    if (name[n] == '=') return name + n + 1;
    return *i + 1 < argc ? argv[++*i] : "";
}

/* Parses the long option at argv[*i]; false if the name is unknown. */
static bool parse_long(int argc, char **argv, int *i, options *out, const char **problem)
{
    const char *name = argv[*i], *value;
    if (strcmp(name, "--version") == 0) {
        out->version = true;
    } else if (strcmp(name, "--help") == 0) {
        out->help = true;
    } else if (strcmp(name, "--doctor") == 0) {
        out->doctor = true;
    } else if (strcmp(name, "--cells") == 0) {
        out->cells = true;
    } else if (strcmp(name, "--dap") == 0) {
        out->dap = true;
    } else if (strncmp(name, "--dap=", 6) == 0) {
        out->dap = true;
        out->dap_port = is_digits(name + 6) ? atoi(name + 6) : 0;
        if (out->dap_port < 1 || out->dap_port > 65535) *problem = "needs the number of a port";
    } else if (strcmp(name, "--check") == 0) {
        out->check = true;
    } else if (strcmp(name, "--write") == 0) {
        out->write = true;
    } else if (strcmp(name, "--disable-cuda") == 0) {
        /* the value appears in error messages */
        setenv("LTENSOR_DISABLE_CUDA", "--disable-cuda", 1);
    } else if (strcmp(name, "--no-copies") == 0) {
        setenv("LTENSOR_COPIES", "0", 1);
    } else if ((value = number_of(argc, argv, i, "--sim-gpus")) != NULL) {
        if (!is_digits(value))
            *problem = "needs a number of GPUs";
        else
            setenv("LTENSOR_SIM_GPUS", value, 1), out->simulates = atoi(value) > 0;
    } else if ((value = number_of(argc, argv, i, "--nproc")) != NULL) {
        out->nproc = is_digits(value) ? atoi(value) : 0;
        if (out->nproc < 1 || out->nproc > 65536) *problem = "needs a number of processes";
    } else if ((value = number_of(argc, argv, i, "--max-restarts")) != NULL) {
        out->restarts = is_digits(value) ? atoi(value) : -1;
        if (out->restarts < 0) *problem = "needs a number of restarts";
    } else {
        return false;
    }
    return true;
}

/* Parses the short option at argv[*i]. Returns NULL or an error. */
static const char *parse_short(int argc, char **argv, int *i, options *out)
{
    const char *option = argv[*i];
    char letter = option[1];
    if (letter == 'e' || letter == 'l') {
        out->has_code = true;
        if (option[2] == '\0' && (++*i >= argc || argv[*i][0] == '-')) return "needs an argument";
        return NULL;
    }
    if (option[2] != '\0') return "unrecognized option";
    switch (letter) {
    case 'i': out->interactive = true; return NULL;
    case 'v': out->version = true; return NULL;
    case 'h': out->help = true; return NULL;
    case 'E': out->ignore_environment = true; return NULL;
    case 'W': out->has_code = true; return NULL;
    default: return "unrecognized option";
    }
}

/* Parses the long options after a notebook's name. */
static const char *parse_behind(int argc, char **argv, int i, options *out, const char **bad)
{
    for (; i < argc; i++) {
        const char *problem = NULL;
        *bad = argv[i];
        if (!parse_long(argc, argv, &i, out, &problem)) return "not expected after the notebook";
        if (problem) return problem;
    }
    return NULL;
}

/* The length of the option's name if it is an option of the launcher; otherwise 0. */
static size_t of_launcher(const char *option)
{
    static const char *const names[] = {"--nproc", "--max-restarts"};
    const size_t length = strcspn(option, "=");
    for (int i = 0; i < 2; i++)
        if (strlen(names[i]) == length && strncmp(option, names[i], length) == 0) return length;
    return 0;
}

/* Removes these options and their values from argv, so that the ranks do not start further ranks.
 */
static void take_launcher_out(int *argc, char **argv, int end)
{
    for (int i = 1; i < end && i < *argc; i++) {
        const size_t length = of_launcher(argv[i]);
        if (length == 0) continue;
        const int words = argv[i][length] == '=' ? 1 : 2;
        memmove(&argv[i], &argv[i + words], (size_t)(*argc - i - words + 1) * sizeof *argv);
        *argc -= words;
        end -= words;
        i--;
    }
}

const char *options_parse(int *argc_place, char **argv, options *out, const char **bad)
{
    int i = 1;
    const int argc = *argc_place;
    memset(out, 0, sizeof *out);
    for (; i < argc; i++) {
        const char *problem = NULL;
        *bad = argv[i];
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            if (!out->cells && is_command(argv[i])) out->command = i;
            break;
        }
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--kernel") == 0) { /* the following arguments belong to it */
            if (i + 1 == argc) return "needs a connection file, or the word install";
            out->kernel = ++i;
            break;
        }
        if (argv[i][1] == '-') {
            if (!parse_long(argc, argv, &i, out, &problem)) problem = "unrecognized option";
        } else {
            problem = parse_short(argc, argv, &i, out);
        }
        if (problem) return problem;
    }
    out->first = i;
    out->script = i < argc && out->command == 0 ? i : 0;
    if (out->cells && out->script) {
        const char *problem = parse_behind(argc, argv, i + 1, out, bad);
        if (problem) return problem;
    }
    *bad = out->check ? "--check" : "--write";
    if ((out->check || out->write) && !out->cells) return "only with --cells";
    if (out->check && out->write) return "--check and --write exclude each other";
    *bad = "--cells";
    if (out->cells && !out->script) return "needs a notebook";
    if (out->nproc > 0) take_launcher_out(argc_place, argv, out->first);
    *bad = out->script ? argv[out->script] : "";
    if (out->dap && out->script) return "not expected after --dap; the client names the script";
    *bad = "--max-restarts";
    if (out->restarts > 0 && out->nproc == 0) return "only with --nproc";
    return NULL;
}
