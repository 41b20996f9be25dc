/* control.c - control messages between ranks after a timeout or a failure, independent of the
 * operations: status request (Q), reply (A), failure report (F), end of the process (B). */
#include <stdio.h>
#include <string.h>

#include "assertion.h"
#include "system/clock.h"
#include "internal.h"
#include "memory/alloc.h"

enum { ASK = 'Q', ANSWER = 'A', FAILURE = 'F', END = 'B' };

static const double PATIENCE =
    2.0; /* seconds to wait for replies, and for data that a rank sent before it ended */

static void send_control(lt_world *world, int rank, char kind, const char *text)
{
    LT_ASSERT(rank >= 0 && rank < world->size && rank != world->rank, "rank %d", rank);
    char note[LT_ENGINE_CONTROL];
    const int n = snprintf(note, sizeof note, "%c%s", kind, text);
    world->engine->tell(world->inner, rank, note, n < (int)sizeof note ? n + 1 : (int)sizeof note);
}

void lt_control_broadcast(lt_world *world, char kind, const char *text)
{
    for (int r = 0; r < world->size; r++)
        if (r != world->rank) send_control(world, r, kind, text);
}

static void keep_answer(lt_peer *peer, const char *text)
{
    lt_mem_free(peer->answer);
    peer->answer = lt_mem_alloc(strlen(text) + 1);
    if (peer->answer != NULL) strcpy(peer->answer, text);
}

bool lt_control_poll(lt_world *world, bool *moved, char *reason)
{
    char note[LT_ENGINE_CONTROL], text[LT_ENGINE_CONTROL];
    int n, from;
    while (world->engine->hear(world->inner, note, &n, &from)) {
        *moved = true;
        LT_ASSERT(from >= 0 && from < world->size, "rank %d of %d", from, world->size);
        LT_ASSERT(n <= LT_ENGINE_CONTROL, "%d bytes", n);
        note[n > 0 ? n - 1 : 0] = '\0';
        switch (note[0]) {
        case ASK:
            lt_world_describe(world, text, sizeof text - 1);
            send_control(world, from, ANSWER, text);
            break;
        case ANSWER: keep_answer(&world->peers[from], note + 1); break;
        case FAILURE:
            snprintf(reason, LT_COMM_TEXT, "rank %d failed: %s", from, note + 1);
            return true;
        case END:
            world->peers[from].left = lt_clock();
            world->peers[from].status = atoi(note + 1);
            break;
        default: break;
        }
    }
    return false;
}

bool lt_control_query_ranks(lt_world *world, lt_work *work, double now)
{
    const lt_ranks *g = work->group;
    if (world->late == NULL) {
        world->late = work;
        world->asked = now;
        for (int i = 0; i < g->n; i++) {
            lt_peer *peer = &world->peers[g->ranks[i]];
            lt_mem_free(peer->answer);
            peer->answer = NULL;
            if (g->ranks[i] != world->rank && peer->left == 0)
                send_control(world, g->ranks[i], ASK, "");
        }
    }
    if (now - world->asked > PATIENCE) return true;
    for (int i = 0; i < g->n; i++) {
        const lt_peer *peer = &world->peers[g->ranks[i]];
        if (g->ranks[i] != world->rank && peer->left == 0 && peer->answer == NULL) return false;
    }
    return true;
}

void lt_control_format_replies(lt_world *world, lt_work *work, char *buffer, size_t n)
{
    const lt_ranks *g = work->group;
    char line[LT_ENGINE_CONTROL + 40];
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < g->n; i++) {
        const int r = g->ranks[i];
        const lt_peer *peer = &world->peers[r];
        if (r == world->rank) continue;
        if (peer->left != 0)
            snprintf(line, sizeof line, "\n  rank %d has left, with exit status %d", r,
                     peer->status);
        else if (peer->answer == NULL)
            snprintf(line, sizeof line,
                     "\n  rank %d does not answer: it has ended, is stopped or cannot be reached",
                     r);
        else
            snprintf(line, sizeof line, "\n  rank %d is %s", r, peer->answer);
        if (used + strlen(line) + 40 > n) {
            snprintf(buffer + used, n - used, "\n  and %d more ranks", g->n - i);
            return;
        }
        used += (size_t)snprintf(buffer + used, n - used, "%s", line);
    }
}

int lt_control_first_exited(const lt_world *world, const lt_work *work, double now)
{
    const lt_ranks *g = work->group;
    for (int i = 0; i < g->n; i++) {
        const double left = world->peers[g->ranks[i]].left;
        const bool concerns =
            (work->call.kind != LT_SEND && work->call.kind != LT_RECV) || work->call.peer == i;
        if (left != 0 && concerns && now - left > PATIENCE / 2 && now - work->begun > PATIENCE / 2)
            return g->ranks[i];
    }
    return -1;
}
