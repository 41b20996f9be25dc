/* plan.cuh - a fusion (compile/fusion.h) as a generated kernel sees it: which elements lie where,
 * what numbers there are, and how many elements a thread takes. What the kernel's source depends
 * on, no sizes and no addresses, is the plan's key. */
#ifndef LT_FUSED_PLAN_CUH
#define LT_FUSED_PLAN_CUH

#include <stdint.h>
#include <string>
#include <vector>

#include "arguments.cuh"
#include "devices/backend.h"

/* Where the elements of a value are. */
enum lt_fused_where : uint8_t {
    LT_FUSED_UNREAD,   /* a number of the host: each step has it among its numbers */
    LT_FUSED_STEP,     /* the result of a step, and nowhere else */
    LT_FUSED_ONE,      /* one element for all */
    LT_FUSED_DENSE,    /* one after the other, in the fusion's order */
    LT_FUSED_REPEATED, /* the elements of a thread are one, */
    LT_FUSED_TOGETHER, /* follow each other, */
    /* or follow each other by the innermost stride: the fusion's elements go on along it for as long
     * as a thread's */
    LT_FUSED_APART,
    LT_FUSED_ANYWHERE /* strided, without that */
};

struct lt_fused_offset {
    lt_fused_where where;
    uint8_t dtype, dims; /* dims: of strided ones */
    bool written;        /* a result that has memory */
    int8_t data, walk;   /* which of the arguments' lists; -1: none */
};

struct lt_fused_action {
    int16_t op; /* LT_FUSED_COPY, or one whose formula is known */
    /* n: operands; a power of one is the third: then no library's powers are in the kernel */
    uint8_t compute, n, n_params;
    int8_t out, in[LT_FUSED_INPUTS];
    int16_t number[LT_FUSED_INPUTS], param; /* places among the numbers; -1: none */
};

/* What becomes of a value besides being written, if it is: it is taken by lines (device/lines.cuh)
 * or rows (device/rows.cuh). */
struct lt_fused_end {
    int value;
    bool wide;   /* taken as double, else as float */
    int run;     /* elements that are asked for together */
    int threads; /* the most of a block */
    /* blocks fill a multiprocessor (LT_RESIDENT) where one value is in memory: more have no room in
     * so few registers */
    bool resident;
    /* the taker's arguments, which stand before the fusion's, are an lt_fused_rows, else an
     * lt_fused_slices */
    bool rows;
    /* the function: "lt_reduce_lines<sum_step, float, float>"; empty: there is none */
    std::string taker;

    bool is_there() const { return !taker.empty(); }
    /* of these */
    size_t bytes() const
    {
        return !is_there() ? 0 : rows ? sizeof(lt_fused_rows) : sizeof(lt_fused_slices);
    }
};
/* What reduces lines by a step of reduce/steps.cuh, to `out` (fusion.cuh). */
lt_fused_end lt_fused_end_lines(int value, const char *step, bool wide, const char *out);
/* By two, of lines that teams hold in so many runs of each thread. */
lt_fused_end lt_fused_end_held_lines(int value, const char *first, const char *second, int runs,
                                     bool wide, const char *out);
/* What gives rows of the dtype, each to so many threads, to `function` of device/rows.cuh; more: a
 * further type of its template, or null. */
lt_fused_end lt_fused_end_rows(int value, const char *function, lt_dtype dtype, bool held,
                               int64_t team, const char *more);
/* The type of a dtype's elements in the source. */
const char *lt_fused_element(int dtype);

struct lt_fused_plan {
    int run; /* elements of a thread; of one call of lt_fused_row where they are taken */
    uint64_t numel;
    bool aligned;
    std::vector<lt_fused_offset> places;
    std::vector<lt_fused_action> actions;
    std::vector<char *> data;
    /* of each of data: bytes from an element to the next, where it is dense */
    std::vector<int64_t> step;
    std::vector<lt_fused_number> numbers;
    std::vector<lt_fused_walk> walks;

    lt_fused_end end;

    /* False where the fusion is none that a kernel is generated for. */
    bool make(const lt_fusion *c, const lt_fused_end &end = {});
    std::string key() const;
    std::string source() const;

  private:
    void choose_run(const lt_fusion *c);
    bool add_value(const lt_fusion *c, int v);
    bool add_walk(const lt_iter *it, lt_fused_offset *place);
    bool add_step(const lt_fusion *c, const lt_fused_step *step);
    void add_number(const lt_fused_value *value, const lt_fused_action &action, int input);
    void add_params(const lt_fused_step *step, lt_fused_action *action);
};

/* A formula that generated kernels may use: lt_<name> is the function; selects: its first argument
 * is a condition. */
struct lt_fused_formula {
    int op;
    const char *name;
    bool selects;
};
/* Null where op has none for the dtype computed. */
const lt_fused_formula *lt_fused_formula_of(int op, lt_dtype compute);

#endif
