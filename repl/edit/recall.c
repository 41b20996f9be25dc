/* recall.c - history cells in the edited line: moving to them, and keeping their changes.
 *
 * Readline shares the undo list of the line with the shown history entry and with the saved line.
 * When searches and steps alternate, it frees the list twice or reads it afterwards (8.2, most
 * easily in vi mode). Therefore no list is shared here: moving to another entry drops the undo
 * list, and the changed texts are kept in our table until the line is accepted. A kept text returns
 * as one change, which can be undone. Includes readline; does not include Lua. */
#include "recall.h"

#ifndef LT_LIBEDIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

typedef struct draft {
    struct draft *next;
    int entry; /* index of the shown history entry; history_length: the line itself */
    char text[];
} draft;

static draft *drafts;

void recall_begin(void)
{
    while (drafts) {
        draft *next = drafts->next;
        free(drafts);
        drafts = next;
    }
}

static const char *entry_text(int entry)
{
    return entry < history_length ? history_list()[entry]->line : "";
}

static void forget_draft(int entry)
{
    for (draft **at = &drafts; *at; at = &(*at)->next) {
        draft *found = *at;
        if (found->entry != entry) continue;
        *at = found->next;
        free(found);
        return;
    }
}

static const draft *find_draft(int entry)
{
    const draft *at = drafts;
    while (at && at->entry != entry) at = at->next;
    return at;
}

/* Called before another entry is shown: keeps its changed text and drops its undo list. */
static void leave_entry(void)
{
    int entry = where_history();
    rl_free_undo_list();
    forget_draft(entry);
    if (strcmp(entry_text(entry), rl_line_buffer) == 0) return;
    draft *kept = malloc(sizeof *kept + (size_t)rl_end + 1);
    if (!kept) return;
    kept->entry = entry;
    memcpy(kept->text, rl_line_buffer, (size_t)rl_end + 1);
    kept->next = drafts;
    drafts = kept;
}

static void show_entry(int entry)
{
    const draft *changed = find_draft(entry);
    history_set_pos(entry);
    rl_replace_line(entry_text(entry), 1);
    if (changed) {
        rl_begin_undo_group();
        rl_delete_text(0, rl_end);
        rl_point = 0;
        rl_insert_text(changed->text);
        rl_end_undo_group();
    }
    rl_point = rl_end;
}

/* The next entry from `entry` in the direction `step` that begins with `prefix` and differs from
 * the shown one; -1 if there is none. */
static int find_entry(int entry, int step, const char *prefix)
{
    for (entry += step; entry >= 0 && entry < history_length; entry += step) {
        const char *text = entry_text(entry);
        if (!prefix ||
            (strncmp(text, prefix, strlen(prefix)) == 0 && strcmp(text, rl_line_buffer) != 0))
            return entry;
    }
    return entry == history_length ? entry : -1;
}

bool recall_move(int count, const char *prefix)
{
    int from = where_history(), step = count < 0 ? 1 : -1;
    bool moved = false;
    for (; count != 0; count += step) {
        int to = from == history_length && step > 0 ? -1 : find_entry(from, step, prefix);
        if (to < 0) break;
        leave_entry();
        show_entry(to);
        from = to;
        moved = true;
    }
    return moved;
}

int recall_by(int (*command)(int count, int key), int count, int key)
{
    leave_entry();
    int result = command(count, key);
    rl_free_undo_list();
    const HIST_ENTRY *shown = current_history();
    if (shown && strcmp(shown->line, rl_line_buffer) != 0) using_history();
    return result;
}

#endif
