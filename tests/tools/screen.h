/* screen.h - a terminal's screen for pty.c: what the bytes that a program writes make visible.
 *
 * Knows UTF-8 with wide characters, wrapping at the edge, scrolling, and the sequences of ANSI
 * terminals that move the cursor and erase; all others show nothing. screen_take() gets the bytes
 * as they come.
 */
#ifndef LT_TESTS_SCREEN_H
#define LT_TESTS_SCREEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { SCREEN_MOST = 1024, CELL = 8 };

static struct {
    /* UTF-8 of each place; "" behind a wide character */
    char cells[SCREEN_MOST][SCREEN_MOST][CELL];
    int rows, columns, row, column;
    int pending; /* the last column was written: the next character wraps */
    char sequence[64];
    size_t taken; /* bytes of an unfinished sequence or character */
} screen;

static void screen_blank(int row, int from, int to)
{
    for (int column = from; column < to; column++) strcpy(screen.cells[row][column], " ");
}

static void screen_resize(int columns, int rows)
{
    static int begun;
    if (!begun)
        for (int row = 0; row < SCREEN_MOST; row++) screen_blank(row, 0, SCREEN_MOST);
    begun = 1;
    screen.columns = columns < 1 ? 1 : columns < SCREEN_MOST ? columns : SCREEN_MOST;
    screen.rows = rows < 1 ? 1 : rows < SCREEN_MOST ? rows : SCREEN_MOST;
    if (screen.row >= screen.rows) screen.row = screen.rows - 1;
    if (screen.column >= screen.columns) screen.column = screen.columns - 1;
}

static void screen_down(void)
{
    if (screen.row + 1 < screen.rows) {
        screen.row++;
        return;
    }
    memmove(screen.cells[0], screen.cells[1], sizeof screen.cells[0] * (size_t)(screen.rows - 1));
    screen_blank(screen.rows - 1, 0, SCREEN_MOST);
}

static void screen_put(const char *bytes, size_t size)
{
    wchar_t wide = 0;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    size_t used = mbrtowc(&wide, bytes, size, &state);
    int width = used == size ? wcwidth(wide) : 1;
    if (width <= 0) { /* combines with the character before */
        int column = screen.column - !screen.pending;
        char *cell = screen.cells[screen.row][column < 0 ? 0 : column];
        size_t length = strlen(cell);
        if (length + size < CELL) memcpy(cell + length, bytes, size);
        if (length + size < CELL) cell[length + size] = '\0';
        return;
    }
    if (screen.pending || screen.column + width > screen.columns) {
        screen_down();
        screen.column = 0;
    }
    memcpy(screen.cells[screen.row][screen.column], bytes, size);
    screen.cells[screen.row][screen.column][size] = '\0';
    if (width == 2) screen.cells[screen.row][screen.column + 1][0] = '\0';
    screen.column += width;
    screen.pending = screen.column >= screen.columns;
    if (screen.pending) screen.column = screen.columns - 1;
}

static int screen_limit(int value, int count)
{
    return value < 0 ? 0 : value < count ? value : count - 1;
}

/* A whole sequence ESC [ parameters final. */
static void screen_sequence(const char *text, char final)
{
    int first = 0, second = 0;
    sscanf(text, "%d;%d", &first, &second);
    int count = first > 0 ? first : 1;
    if (strchr("ABCDHJK", final)) screen.pending = 0;
    switch (final) {
    case 'A': screen.row = screen_limit(screen.row - count, screen.rows); break;
    case 'B': screen.row = screen_limit(screen.row + count, screen.rows); break;
    case 'C': screen.column = screen_limit(screen.column + count, screen.columns); break;
    case 'D': screen.column = screen_limit(screen.column - count, screen.columns); break;
    case 'H':
        screen.row = screen_limit(count - 1, screen.rows);
        screen.column = screen_limit(second - 1, screen.columns);
        break;
    case 'K': screen_blank(screen.row, screen.column, SCREEN_MOST); break;
    case 'J':
        screen_blank(screen.row, first == 2 ? 0 : screen.column, SCREEN_MOST);
        for (int row = first == 2 ? 0 : screen.row + 1; row < SCREEN_MOST; row++)
            screen_blank(row, 0, SCREEN_MOST);
        break;
    }
}

static void screen_take(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        char *s = screen.sequence;
        if (screen.taken == 0 && (byte < 0x20 || byte == 0x7f)) {
            if (byte == '\r') screen.column = screen.pending = 0;
            if (byte == '\n') screen_down();
            if (byte == '\b' && screen.column > 0) screen.column--;
            if (byte == '\033') s[screen.taken++] = (char)byte;
            continue;
        }
        if (screen.taken + 1 < sizeof screen.sequence) s[screen.taken++] = (char)byte;
        s[screen.taken] = '\0';
        if (s[0] == '\033') {
            if (screen.taken == 2 && byte != '[') screen.taken = 0;
            if (screen.taken > 2 && byte >= 0x40 && byte <= 0x7e) {
                screen_sequence(s + 2, (char)byte);
                screen.taken = 0;
            }
            continue;
        }
        unsigned char head = (unsigned char)s[0];
        size_t size = head >= 0xf0 ? 4 : head >= 0xe0 ? 3 : head >= 0xc0 ? 2 : 1;
        if (screen.taken < size) continue;
        screen_put(s, size);
        screen.taken = 0;
    }
}

/* Prints the rows without blanks at their ends, then the cursor's place, and a zero byte. */
static void screen_print(void)
{
    int last = screen.rows;
    static char text[SCREEN_MOST * CELL + 1];
    for (int row = 0; row < last; row++) {
        size_t length = 0;
        for (int column = 0; column < screen.columns; column++) {
            size_t size = strlen(screen.cells[row][column]);
            memcpy(text + length, screen.cells[row][column], size);
            length += size;
        }
        while (length > 0 && text[length - 1] == ' ') length--;
        fwrite(text, 1, length, stdout);
        putchar('\n');
    }
    printf("cursor %d %d", screen.row, screen.column);
    putchar('\0');
}

#endif
