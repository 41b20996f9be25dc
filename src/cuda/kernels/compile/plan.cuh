/* plan.cuh - plan of a generated kernel for a fused expression (compile/fusion.h): memory layout of
 * each value, scalar arguments, elements per thread. The plan's key covers everything that
 * determines the kernel's source; sizes and addresses are arguments instead. */
#ifndef LT_FUSED_PLAN_CUH
#define LT_FUSED_PLAN_CUH

#include <stdint.h>
#include <string>
#include <vector>

#include "arguments.cuh"
#include "devices/backend.h"

/* Memory layout of a value's elements. */
enum lt_fused_where : uint8_t {
    LT_FUSED_UNREAD,   /* host scalar: steps have it in their numbers */
    LT_FUSED_STEP,     /* the result of a step */
    LT_FUSED_ONE,      /* one element, broadcast */
    LT_FUSED_DENSE,    /* contiguous, in the fusion's order */
    LT_FUSED_REPEATED, /* strided; a thread's elements are one element, */
    LT_FUSED_TOGETHER, /* contiguous, */
    /* or the innermost stride apart: the innermost size is a multiple of a thread's elements */
    LT_FUSED_APART,
    LT_FUSED_ANYWHERE /* strided, outer indices vary within a thread */
};

struct lt_fused_offset {
    lt_fused_where where;
    uint8_t dtype, dims; /* dims: of strided values */
    bool written;        /* a result that is also stored */
    int8_t data, walk;   /* index into the lists of arguments; -1: none */
};

struct lt_fused_action {
    int16_t op; /* LT_FUSED_COPY, or one that has a formula */
    /* n: operands. A power with n = 1 is the cube, so that the kernel contains no call of pow. */
    uint8_t compute, n, n_params;
    int8_t out, in[LT_FUSED_INPUTS];
    int16_t number[LT_FUSED_INPUTS], param; /* indices into numbers; -1: none */
};

/* The consumer of a value, if any: a reduction (device/lines.cuh), or softmax or a norm
 * (device/rows.cuh). */
struct lt_fused_end {
    int value;
    bool wide;   /* consumed as double, else as float */
    int run;     /* elements per call of lt_fused_row */
    int threads; /* max threads per block */
    /* Limit registers so that blocks fill a multiprocessor (LT_RESIDENT). Applied only if one value
     * is in memory: more would need too many registers. */
    bool resident;
    /* The consumer's arguments, which precede the fusion's: lt_fused_rows, else lt_fused_lines. */
    bool rows;
    /* the device function, for example "lt_reduce_lines<sum_step, float, float>"; empty: no
     * consumer */
    std::string taker;

    bool is_there() const { return !taker.empty(); }
    /* size of the consumer's arguments */
    size_t bytes() const
    {
        return !is_there() ? 0 : rows ? sizeof(lt_fused_rows) : sizeof(lt_fused_lines);
    }
};
/* A reduction of rows by a step of reduce/steps.cuh, with results of type `out` (fused.cuh). */
lt_fused_end lt_fused_end_lines(int value, const char *step, bool wide, bool light,
                                const char *out);
/* Two steps of reduce/steps.cuh, of rows that a team holds in registers, `runs` runs of
 * LT_REDUCE_ROW elements per thread. */
struct lt_fused_two_steps {
    const char *first, *second;
    int runs;
};
/* A reduction by two steps. */
lt_fused_end lt_fused_end_held_lines(int value, const lt_fused_two_steps &steps, bool wide,
                                     const char *out);
struct lt_row_team; /* kernels/rows.cuh */
/* A `function` of device/rows.cuh, applied to rows of this dtype. more: a further template
 * argument, or null. */
lt_fused_end lt_fused_end_rows(int value, const char *function, lt_dtype dtype,
                               const lt_row_team &team, const char *more);
/* The C++ element type of a dtype in generated source. */
const char *lt_fused_element(int dtype);

struct lt_fused_plan {
    int run; /* elements per thread; per call of lt_fused_row if there is a consumer */
    uint64_t numel;
    bool aligned;
    std::vector<lt_fused_offset> places;
    std::vector<lt_fused_action> actions;
    std::vector<char *> data;
    /* per entry of data: bytes between elements if dense, else 0 */
    std::vector<int64_t> step;
    std::vector<lt_fused_number> numbers;
    std::vector<lt_fused_walk> walks;

    lt_fused_end end;

    /* Returns false if no kernel can be generated for the fusion. */
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

/* A formula that generated kernels may use: function lt_<name>. selects: its first argument is a
 * condition. */
struct lt_fused_formula {
    int op;
    const char *name;
    bool selects;
};
/* Null if op has no formula for this compute dtype. */
const lt_fused_formula *lt_fused_formula_of(int op, lt_dtype compute);

#endif
