/* cxsparse.c - see cxsparse.h. Declares the part of CXSparse's interface with 64-bit indices that
 * is used; it is the same in versions 3 and 4. */
#include "cxsparse.h"

#include "dtypes/dtype.h"
#include "error.h"
#include "library.h"
#include "system/shared_library.h"

/* cs_dl and cs_cl; nz = -1: the matrix is in CSC. */
typedef struct cs_matrix {
    int64_t nzmax, m, n, *p, *i;
    void *x;
    int64_t nz;
} cs_matrix;

enum {
    BY_COLUMNS = 2,  /* amd(S' * S), where S is A without dense rows: for LU of general matrices */
    AS_THEY_ARE = -1 /* transposes without conjugation */
};

typedef struct cs_routines {
    cs_matrix *(*transpose)(const cs_matrix *a, int64_t values);
    int64_t (*lusol)(int64_t order, const cs_matrix *a, void *b, double tol);
    cs_matrix *(*spfree)(cs_matrix *a);
} cs_routines;

static struct {
    cs_routines of_doubles, of_pairs;
    bool ready;
} lib;

static bool find_routines(void *library, const char *transpose, const char *lusol,
                          const char *spfree, cs_routines *r)
{
    *(void **)&r->transpose = lt_shared_symbol(library, transpose);
    *(void **)&r->lusol = lt_shared_symbol(library, lusol);
    *(void **)&r->spfree = lt_shared_symbol(library, spfree);
    return r->transpose != NULL && r->lusol != NULL && r->spfree != NULL;
}

static void load_cxsparse(const lt_library *self)
{
    (void)self;
    void *library = lt_shared_open(LT_SHARED_NAME("cxsparse", "4"));
    if (library == NULL) library = lt_shared_open(LT_SHARED_NAME("cxsparse", "3"));
    if (library == NULL) return;
    lib.ready =
        find_routines(library, "cs_dl_transpose", "cs_dl_lusol", "cs_dl_spfree", &lib.of_doubles) &&
        find_routines(library, "cs_cl_transpose", "cs_cl_lusol", "cs_cl_spfree", &lib.of_pairs);
}

static lt_library cxsparse = LT_LIBRARY("libcxsparse.so", load_cxsparse);

lt_status lt_cxsparse_solve(lt_dtype dtype, const lt_csc *a, bool transposed, void *b)
{
    LT_TRY(lt_library_need(&cxsparse));
    if (!lib.ready)
        return lt_error(LT_ERR_RUNTIME,
                        "spsolve: sparse systems are solved by CXSparse (libcxsparse.so.4 or .3), "
                        "which was not found; Debian's package is libcxsparse3, or libcxsparse4");
    const cs_routines *r = lt_dtype_is_complex(dtype) ? &lib.of_pairs : &lib.of_doubles;
    /* CXSparse does not modify its inputs. */
    const cs_matrix given = {a->count,
                             a->n,
                             a->n,
                             (int64_t *)(uintptr_t)a->begins,
                             (int64_t *)(uintptr_t)a->rows,
                             (void *)(uintptr_t)a->values,
                             -1};
    cs_matrix *turned = transposed ? r->transpose(&given, AS_THEY_ARE) : NULL;
    if (transposed && turned == NULL) return LT_ERR_MEMORY;
    const bool solved = r->lusol(BY_COLUMNS, transposed ? turned : &given, b, 1) != 0;
    if (turned != NULL) r->spfree(turned);
    if (solved) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "spsolve: the matrix is singular, or its factors do not fit into the memory");
}
