/* engines.c - selects the engine: the MPI whose launcher started this process, detected by its
 * environment variables. Different MPIs cannot communicate; joining with another one would hang. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "libraries/library.h"

typedef struct launcher {
    const char *title, *rank, *size, *local_rank, *local_size; /* environment variables */
    const char *mpi;                                           /* soname of the MPI library */
    const char *install;
    const char *engine; /* our library */
} launcher;

static const launcher launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "libmpi.so.40", "openmpi-bin", "libltensor_openmpi.so"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "libmpich.so.12",
     "mpich", "libltensor_mpich.so"},
    /* srun --mpi=pmix, for Open MPI. srun --mpi=pmi2 sets MPICH's variables. */
    {"Open MPI", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE",
     "libmpi.so.40", "openmpi-bin", "libltensor_openmpi.so"},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

static const launcher *launcher_here(void)
{
    for (int i = 0; i < LAUNCHERS; i++)
        if (getenv(launchers[i].rank) != NULL && getenv(launchers[i].size) != NULL)
            return &launchers[i];
    return NULL;
}

/* The number of tasks that srun sets, also without --mpi. */
static const char *slurm_tasks(void)
{
    return getenv("SLURM_PROCID") != NULL ? getenv("SLURM_STEP_NUM_TASKS") : NULL;
}

lt_status lt_launcher_alone(void)
{
    const char *tasks = slurm_tasks();
    if (tasks == NULL || atoi(tasks) <= 1) return LT_OK;
    return lt_error(LT_ERR_DEVICE,
                    "srun started %s processes without an interface that connects them: use srun "
                    "--mpi=pmix for Open MPI or srun --mpi=pmi2 for MPICH (srun --mpi=list shows "
                    "the interfaces that Slurm was built with)",
                    tasks);
}

bool lt_launcher_rank(int *rank, int *size)
{
    const launcher *l = launcher_here();
    if (l == NULL) return false;
    *rank = atoi(getenv(l->rank));
    *size = atoi(getenv(l->size));
    return *size > 0 && *rank >= 0 && *rank < *size;
}

/* Sets the variable to value, or to otherwise if value is NULL. Of "4(x2)", 4 tasks on each of two
 * nodes, only the number is used. */
static void set(const char *name, const char *value, const char *otherwise)
{
    char number[24];
    if (value == NULL) value = otherwise;
    if (value == NULL) return;
    const size_t digits = strspn(value, "0123456789");
    if (value[digits] == '(' && digits < sizeof number) {
        memcpy(number, value, digits);
        number[digits] = '\0';
        value = number;
    }
    setenv(name, value, 0);
}

void lt_comm_environment(void)
{
    static const launcher srun = {.rank = "SLURM_PROCID",
                                  .size = "SLURM_STEP_NUM_TASKS",
                                  .local_rank = "SLURM_LOCALID",
                                  .local_size = "SLURM_STEP_TASKS_PER_NODE"};
    const launcher *l = launcher_here();
    if (l == NULL && slurm_tasks() != NULL) l = &srun;
    if (l == NULL) return;
    set("RANK", getenv(l->rank), NULL);
    set("WORLD_SIZE", getenv(l->size), NULL);
    set("LOCAL_RANK", getenv(l->local_rank), getenv(srun.local_rank));
    set("LOCAL_WORLD_SIZE", getenv(l->local_size), getenv(srun.local_size));
    set("MASTER_ADDR", getenv("SLURM_LAUNCH_NODE_IPADDR"), "127.0.0.1");
    set("MASTER_PORT", NULL, "29500");
}

static const lt_engine_services services = {.error = lt_error_set};

/* ---- opening --------------------------------------------------------------------------------- */

/* Compares the library's ABI record with this program's; the error names the version of the
 * library. */
static lt_status check_made_for_us(void *library, const char *name)
{
    static const lt_engine_abi ours = LT_ENGINE_ABI_HERE;
    const lt_engine_abi *theirs = dlsym(library, LT_ENGINE_ABI);
    if (theirs != NULL && theirs->size == ours.size && memcmp(theirs, &ours, sizeof ours) == 0)
        return LT_OK;
    char made_for[80] = "an unknown version";
    if (theirs != NULL && theirs->size == ours.size)
        snprintf(made_for, sizeof made_for, "ltensor %.19s (interface %u)", theirs->version,
                 theirs->interface);
    return lt_error(
        LT_ERR_DEVICE,
        "%s was built for %s, this is ltensor %s (interface %u): build or install both together",
        name, made_for, ours.version, ours.interface);
}

static lt_status open_engine(const launcher *l, const lt_engine **out)
{
    LT_TRY(lt_authorize(LT_ACCESS_LIBRARY, l->mpi));
    if (dlopen(l->mpi, RTLD_NOW | RTLD_GLOBAL) == NULL)
        return lt_error(LT_ERR_DEVICE,
                        "this process was started by %s's mpirun, and its library could not be "
                        "loaded (%s); on Debian and Ubuntu: apt-get install %s",
                        l->title, dlerror(), l->install);
    void *library = lt_library_open_ours(l->engine);
    if (library == NULL) {
        const char *why = dlerror();
        return lt_error(LT_ERR_DEVICE,
                        "ltensor was built without %s, or its %s could not be loaded (%s); on "
                        "Debian and Ubuntu: apt-get install lib%s-dev, then make",
                        l->title, l->engine, why != NULL ? why : "not found",
                        strcmp(l->title, "MPICH") == 0 ? "mpich" : "openmpi");
    }
    LT_TRY(check_made_for_us(library, l->engine));
    lt_engine_open_fn open = (lt_engine_open_fn)(uintptr_t)dlsym(library, LT_ENGINE_OPEN);
    if (open == NULL) return lt_error(LT_ERR_DEVICE, "%s exports no %s", l->engine, LT_ENGINE_OPEN);
    *out = open(&services);
    return LT_OK;
}

lt_status lt_engine_of_launcher(const lt_engine **out)
{
    const launcher *l = launcher_here();
    if (l == NULL) return lt_error(LT_ERR_DEVICE, "no mpirun has started this process");
    return open_engine(l, out);
}
