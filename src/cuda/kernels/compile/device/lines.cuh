/* lines.cuh - generated kernel that reduces the value of a fused expression without materializing
 * it. It accumulates by the loops of the eager kernels (steps.cuh), in the same order. The source
 * defines
 *
 *   lt_fused_row(arguments, first, n, x)   computes n elements of the fusion's value from index
 *                                          `first` on, n at most LT_REDUCE_ROW
 *
 * Generic lambdas are avoided: NVRTC 13.0 treats them as host functions. */
#include "join.cuh"
#include "moments.cuh"
#include "steps.cuh"

/* Calls take(line, share, team) for the chunk of a row that this thread's team reduces. */
template <class C, class A, class Take>
LT_FUSED_FN void lt_take_line(const A &a, uint32_t thread, Take take)
{
    const lt_fused_lines &l = a.taker;
    const uint32_t number = thread / static_cast<uint32_t>(l.team);
    const int lane = static_cast<int>(thread % static_cast<uint32_t>(l.team));
    if (number >= l.lines * l.shares) return;
    const int64_t share = number / l.lines, line = number % l.lines;
#ifdef LT_FUSED_ON_HOST
    if (lane == 0) take(line, share, lt_thread_group<C>{static_cast<int>(l.team)});
#else
    __shared__ C shared[lt_shared_for(LT_FUSED_BLOCK)];
    take(line, share, lt_thread_group<C>{shared, lane, static_cast<int>(l.team)});
#endif
}

/* Stores the result of a row as an S; S = void: as the parameter of the second of two steps. */
template <class Step, class S, class C>
LT_FUSED_FN void lt_end_line(const lt_fused_lines &l, int64_t line, C total, C parameter)
{
    const C divisor = lt_number_in<C>(l.divisor);
    if constexpr (std::is_same_v<S, void>)
        reinterpret_cast<C *>(l.out)[line] = lt_second_parameter(total, divisor, l.logarithm != 0);
    else
        *reinterpret_cast<S *>(l.out + line * l.step) =
            lt_stored<S, C>::of(Step::end(total / divisor, parameter, lt_number_in<C>(l.root)));
}

template <class C> LT_FUSED_FN C lt_parameter_of(const lt_fused_lines &l, int64_t line)
{
    return l.parameters != nullptr ? static_cast<const C *>(l.parameters)[line]
                                   : lt_number_in<C>(l.parameter);
}

/* The end of a share of a row. */
LT_FUSED_FN uint32_t lt_end_of_share(const lt_fused_lines &l, int64_t share)
{
    return static_cast<uint32_t>(share + 1 < l.shares ? (share + 1) * l.share : l.count);
}

/* Variance, in one pass. */
template <class C, class S, class A> LT_FUSED_FN void lt_reduce_moments(const A &a, uint32_t thread)
{
    const lt_fused_lines &l = a.taker;
    lt_take_line<lt_wide_moments>(
        a, thread, [&](int64_t line, int64_t share, const lt_thread_group<lt_wide_moments> &team) {
            const uint32_t begin = static_cast<uint32_t>(line * l.count),
                           from = static_cast<uint32_t>(share * l.share),
                           to = lt_end_of_share(l, share);
            const auto load = [&](uint32_t i, int n, C *x) {
                lt_fused_row(a.fusion, begin + i, n, x);
            };
            const auto finish = [&](int64_t i, lt_wide_moments m) {
                lt_end_line<sum_square_off_step, S>(l, i, static_cast<C>(m.squares),
                                                    static_cast<C>(0));
            };
            const lt_wide_moments total = team.joined(
                [](lt_wide_moments x, lt_wide_moments y) { return lt_join_moments(x, y); },
                [&](int first) {
                    return lt_accumulate_moments<C>(from, to, static_cast<uint32_t>(first),
                                                    static_cast<uint32_t>(l.team), load);
                });
            if (l.shares == 1) {
                if (team.leads()) finish(line, total);
                return;
            }
            lt_wide_moments *const parts = static_cast<lt_wide_moments *>(l.parts);
            if (team.leads()) lt_leave(parts + share * l.lines + line, total);
            if (team.last(l.counter, static_cast<unsigned>(l.lines * l.shares)))
                lt_join_shares<moments_step>(team, parts, l.lines, l.shares, finish);
        });
}

template <class Step, class C, class S, class A>
LT_FUSED_FN void lt_reduce_totals(const A &a, uint32_t thread)
{
    const lt_fused_lines &l = a.taker;
    lt_take_line<C>(a, thread, [&](int64_t line, int64_t share, const lt_thread_group<C> &team) {
        const uint32_t begin = static_cast<uint32_t>(line * l.count),
                       from = static_cast<uint32_t>(share * l.share),
                       to = lt_end_of_share(l, share);
        const C parameter = lt_parameter_of<C>(l, line);
        const auto load = [&](uint32_t i, int n, C *x) { lt_fused_row(a.fusion, begin + i, n, x); };
        const C total = team.joined([](C x, C y) { return Step::join(x, y); },
                                    [&](int first) {
                                        return lt_accumulate_rows<Step, uint32_t>(
                                            from, to, static_cast<uint32_t>(first),
                                            static_cast<uint32_t>(l.team),
                                            lt_number_in<C>(l.identity), parameter, load);
                                    });
        if (l.shares == 1) {
            if (team.leads()) lt_end_line<Step, S>(l, line, total, parameter);
            return;
        }
        C *const parts = static_cast<C *>(l.parts);
        if (team.leads()) lt_leave(parts + share * l.lines + line, total);
        if (!team.last(l.counter, static_cast<unsigned>(l.lines * l.shares))) return;
        lt_join_shares<Step>(team, parts, l.lines, l.shares, [&](int64_t i, C joined) {
            lt_end_line<Step, S>(l, i, joined, lt_parameter_of<C>(l, i));
        });
    });
}

template <class Step, class C, class S, class A>
LT_FUSED_FN void lt_reduce_lines(const A &a, uint32_t thread)
{
    if constexpr (std::is_same_v<Step, moments_step>)
        lt_reduce_moments<C, S>(a, thread);
    else
        lt_reduce_totals<Step, C, S>(a, thread);
}

/* Reduces by two steps at once, for rows that a team's registers hold. */
template <class First, class Second, int RUNS, class C, class S, class A>
LT_FUSED_FN void lt_reduce_held_lines(const A &a, uint32_t thread)
{
    const lt_fused_lines &l = a.taker;
    lt_take_line<C>(a, thread, [&](int64_t line, int64_t, const lt_thread_group<C> &team) {
        const lt_two_steps<C> steps = {lt_number_in<C>(l.first), lt_number_in<C>(l.identity),
                                       lt_number_in<C>(l.first_divisor), l.logarithm != 0};
        const auto load = [&](int64_t i, int n, C *x) {
            lt_fused_row(a.fusion, static_cast<uint32_t>(line * l.count + i), n, x);
        };
        C parameter;
        const C total = lt_reduce_held<First, Second, RUNS>(team, static_cast<int>(l.count), steps,
                                                            &parameter, load);
        if (team.leads()) lt_end_line<Second, S>(l, line, total, parameter);
    });
}
