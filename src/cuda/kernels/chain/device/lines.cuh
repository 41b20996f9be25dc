/* lines.cuh - a generated kernel that reduces what its chain computes, without writing it: lines of elements, to totals that reduce.cu's kernel joins
 * and stores. Elements are accumulated by the loops of the eager kernels, and a team's totals joined in their order. The source has
 *
 *   lt_chain_row(arguments, first, n, x)   n elements of the chain's result from number `first` on, n at most LT_REDUCE_ROW
 *
 * No lambda is generic: NVRTC 13.0 takes one for a function of the host. */
#include "join.cuh"
#include "steps.cuh"

/* take(line, share, team) for the share of a line that this thread's team has. */
template <class C, class A, class Take> LT_CHAIN_FN void lt_take_line(const A &a, uint32_t thread, Take take)
{
    const lt_chain_lines &l = a.taker;
    const uint32_t number = thread / static_cast<uint32_t>(l.team);
    const int lane = static_cast<int>(thread % static_cast<uint32_t>(l.team));
    if (number >= l.lines * l.shares) return;
    const int64_t share = number / l.lines, line = number % l.lines;
#ifdef LT_CHAIN_ON_HOST
    if (lane == 0) take(line, share, lt_team<C>{static_cast<int>(l.team)});
#else
    __shared__ C shared[lt_shared_for(LT_CHAIN_BLOCK)];
    take(line, share, lt_team<C>{shared, lane, static_cast<int>(l.team)});
#endif
}

template <class Step, class C, class A> LT_CHAIN_FN void lt_reduce_lines(const A &a, uint32_t thread)
{
    const lt_chain_lines &l = a.taker;
    lt_take_line<C>(a, thread, [&](int64_t line, int64_t share, const lt_team<C> &team) {
        const int64_t from = share * l.share, to = from + l.share < l.count ? from + l.share : l.count;
        const C parameter = l.parameters != nullptr ? static_cast<const C *>(l.parameters)[line] : lt_number_in<C>(l.parameter);
        const auto load = [&](int64_t i, int n, C *x) { lt_chain_row(a.chain, static_cast<uint32_t>(line * l.count + i), n, x); };
        const C total = team.joined([](C x, C y) { return Step::join(x, y); }, [&](int first) {
            return lt_accumulate_rows<Step>(from, to, first, l.team, lt_number_in<C>(l.identity), parameter, load);
        });
        if (team.leads()) static_cast<C *>(l.parts)[share * l.lines + line] = total;
    });
}

/* Two steps, of lines that teams hold: each line's parameter is left in l.parameters. */
template <class First, class Second, int RUNS, class C, class A> LT_CHAIN_FN void lt_reduce_held_lines(const A &a, uint32_t thread)
{
    const lt_chain_lines &l = a.taker;
    lt_take_line<C>(a, thread, [&](int64_t line, int64_t, const lt_team<C> &team) {
        const lt_two_steps<C> steps = {lt_number_in<C>(l.first), lt_number_in<C>(l.identity), lt_number_in<C>(l.divisor), l.logarithm != 0};
        const auto load = [&](int64_t i, int n, C *x) { lt_chain_row(a.chain, static_cast<uint32_t>(line * l.count + i), n, x); };
        C parameter;
        const C total = lt_reduce_held<First, Second, RUNS>(team, static_cast<int>(l.count), steps, &parameter, load);
        if (!team.leads()) return;
        static_cast<C *>(l.parts)[line] = total;
        static_cast<C *>(l.parameters)[line] = parameter;
    });
}
