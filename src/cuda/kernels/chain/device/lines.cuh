/* lines.cuh - a generated kernel that reduces what its chain computes, without writing it: lines of elements, to totals that reduce.cu's kernel joins
 * and stores. Elements are accumulated by the loop of the eager kernel, and a team's totals joined in its order. The source has
 *
 *   lt_chain_row(arguments, first, n, x)   n elements of the chain's result from number `first` on, n at most LT_REDUCE_ROW */
#include "join.cuh"
#include "steps.cuh"

/* What one thread of a team accumulates. */
template <class Step, class C, class A>
LT_CHAIN_FN C lt_accumulated(const A &a, int64_t line, int64_t share, int thread)
{
    const lt_chain_lines &l = a.taker;
    const int64_t from = share * l.share, to = from + l.share < l.count ? from + l.share : l.count;
    const C parameter = l.parameters != nullptr ? static_cast<const C *>(l.parameters)[line] : lt_number_in<C>(l.parameter);
    return lt_accumulate_rows<Step>(from, to, thread, l.team, lt_number_in<C>(l.identity), parameter, [&](int64_t i, int n, C *x) {
        lt_chain_row(a.chain, static_cast<uint32_t>(line * l.count + i), n, x);
    });
}

template <class Step, class C, class A> LT_CHAIN_FN void lt_reduce_lines(const A &a, uint32_t thread)
{
    const lt_chain_lines &l = a.taker;
    const uint32_t team = thread / static_cast<uint32_t>(l.team);
    const int lane = static_cast<int>(thread % static_cast<uint32_t>(l.team));
    if (team >= l.lines * l.shares) return;
    const int64_t share = team / l.lines, line = team % l.lines;
    const auto join = [](C x, C y) { return Step::join(x, y); };
#ifdef LT_CHAIN_ON_HOST
    if (lane != 0) return;
    C totals[LT_CHAIN_BLOCK];
    for (int i = 0; i < l.team; i++) totals[i] = lt_accumulated<Step, C>(a, line, share, i);
    const C total = lt_team_joined(totals, static_cast<int>(l.team), join);
#else
    __shared__ C shared[lt_shared_for(LT_CHAIN_BLOCK)];
    const C total = lt_team_join(lt_accumulated<Step, C>(a, line, share, lane), shared, lane, static_cast<int>(l.team), join);
#endif
    if (lane == 0) static_cast<C *>(l.parts)[share * l.lines + line] = total;
}
