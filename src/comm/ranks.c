/* ranks.c - groups: subsets of a world's ranks. */
#include "assertion.h"
#include "internal.h"
#include "memory/alloc.h"

lt_status lt_ranks_fill(lt_ranks *g, lt_world *world, lt_engine_group *group, const int *ranks,
                        int n)
{
    g->world = world;
    g->group = group;
    g->n = n;
    g->me = -1;
    g->ranks = lt_mem_array(n, sizeof *g->ranks);
    if (g->ranks == NULL) return LT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        g->ranks[i] = ranks != NULL ? ranks[i] : i;
        if (g->ranks[i] == world->rank) g->me = i;
    }
    return LT_OK;
}

lt_status lt_ranks_make(lt_world *world, const int *ranks, int n, lt_ranks **out)
{
    lt_engine_group *group = NULL;
    LT_TRY(world->engine->group(world->inner, ranks, n, &group));
    /* incremented on every rank, also by non-members: ids agree */
    const int id = ++world->n_groups;
    *out = NULL;
    if (group == NULL) return LT_OK;
    lt_ranks *g = lt_mem_zalloc(sizeof *g);
    if (g == NULL) return LT_ERR_MEMORY;
    const lt_status status = lt_ranks_fill(g, world, group, ranks, n);
    if (status != LT_OK) {
        lt_mem_free(g);
        return status;
    }
    LT_ASSERT(g->me >= 0, "this rank is not in group %d", id);
    g->id = id;
    g->timeout = world->all.timeout;
    g->next = world->others;
    world->others = g;
    *out = g;
    return LT_OK;
}

int lt_ranks_size(const lt_ranks *g) { return g->n; }
int lt_ranks_me(const lt_ranks *g) { return g->me; }
int lt_ranks_global(const lt_ranks *g, int rank)
{
    LT_ASSERT(rank >= 0 && rank < g->n, "rank %d of %d", rank, g->n);
    return g->ranks[rank];
}
void lt_ranks_set_timeout(lt_ranks *g, double seconds) { g->timeout = seconds; }
