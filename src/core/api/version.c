/* version.c - the library's version, build options and available features: lt_version, lt_has,
 * lt_build_options of ltensor.h. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "devices/backend.h"
#include "devices/device_type.h"
#include "build_config.h" /* generated */
#include "api/features.h"
#include "libraries/lapack.h"
#include "libraries/library.h"
#include "system/shared_library.h"

#define TEXT_OF(x) #x
#define DIGITS(x)  TEXT_OF(x)
#if defined(__clang__)
#define COMPILER "clang " DIGITS(__clang_major__) "." DIGITS(__clang_minor__)
#elif defined(__GNUC__)
#define COMPILER "gcc " DIGITS(__GNUC__) "." DIGITS(__GNUC_MINOR__)
#else
#define COMPILER "another compiler"
#endif

int lt_version_number(void) { return LT_VERSION_NUMBER; }
const char *lt_version(void) { return LT_VERSION; }

const char *lt_build_options(void)
{
    return "ltensor " LT_VERSION "; " COMPILER "; " LT_BUILD_CUDA;
}

static bool has_gpus(bool simulated)
{
    const lt_backend *backend = lt_backend_probe(lt_accelerator());
    return backend != NULL && backend->simulated == simulated && backend->device_count() > 0;
}

static bool has_cuda(void) { return has_gpus(false); }
static bool has_simulator(void) { return has_gpus(true); }
static bool has_lapack(void) { return strcmp(lt_lapack_config(), "none") != 0; }

/* Whether an engine of the build is installed. */
static bool has_mpi(void)
{
    const char *name = LT_BUILD_MPI; /* "openmpi mpich" */
    while (*name != '\0') {
        char engine[64];
        const size_t n = strcspn(name, " ");
        snprintf(engine, sizeof engine, LT_PLUGIN_NAME("%.*s"), (int)n, name);
        if (lt_library_has_ours(engine)) return true;
        name += n + strspn(name + n, " ");
    }
    return false;
}

#define MAX_PROVIDED 8
static const char *_Atomic provided[MAX_PROVIDED];

void lt_feature_provide(const char *feature)
{
    for (int i = 0; i < MAX_PROVIDED; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&provided[i], &none, feature)) return;
    }
}

static bool is_provided(const char *feature)
{
    for (int i = 0; i < MAX_PROVIDED; i++) {
        const char *other = atomic_load(&provided[i]);
        if (other != NULL && strcmp(feature, other) == 0) return true;
    }
    return false;
}

bool lt_has(const char *feature)
{
    static const struct {
        const char *name;
        bool (*found)(void);
    } features[] = {
        {"cuda", has_cuda},
        {"simulator", has_simulator},
        {"mpi", has_mpi},
        {"lapack", has_lapack},
    };
    for (size_t i = 0; feature != NULL && i < sizeof features / sizeof *features; i++)
        if (strcmp(feature, features[i].name) == 0) return features[i].found();
    return feature != NULL && (lt_backends[LT_CPU]->has(feature) || is_provided(feature));
}
