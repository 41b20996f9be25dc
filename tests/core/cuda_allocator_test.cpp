/* cuda_allocator_test.cpp - parts of the caching allocator that need no device: the lists of free
 * blocks (free_blocks.cuh), and the mutex that one thread takes without atomic exchanges
 * (owned_mutex.cuh). */
#include <atomic>
#include <set>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <thread>
#include <vector>

extern "C" {
#include <cmocka.h>
}

#include "runtime/free_blocks.cuh"
#include "runtime/owned_mutex.cuh"

namespace {

struct sized {
    size_t size;
    unsigned list = 0;
    sized *list_previous = nullptr, *list_next = nullptr;
    explicit sized(size_t size = 0) : size(size) {}
};
using lists = lt_free_blocks<sized>;

constexpr size_t unit = LT_CUDA_UNIT;

void blocks_are_found_by_size(void **)
{
    lists free;
    sized small(3 * unit), large(2000 * unit), larger(2001 * unit), largest(3000 * unit);
    assert_null(free.find(unit));
    for (sized *b : {&large, &small, &larger, &largest}) free.add(b);
    assert_ptr_equal(free.find(unit), &small);
    assert_ptr_equal(free.find(3 * unit), &small);
    /* 2000 and 2001 units are in one list, the next one with a block for 4 units */
    assert_true(free.find(4 * unit) == &large || free.find(4 * unit) == &larger);
    assert_ptr_equal(free.find(2000 * unit), &large);
    assert_ptr_equal(free.find(2001 * unit), &larger);
    assert_ptr_equal(free.find(2002 * unit), &largest);
    assert_null(free.find(3001 * unit));
    free.remove(&large);
    assert_ptr_equal(free.find(1999 * unit), &larger);
    for (sized *b : {&larger, &small, &largest}) free.remove(b);
    assert_null(free.find(unit));
}

/* Any size up to 2^62 bytes has a list, and a block that is found is large enough. */
void random_blocks_are_found(void **)
{
    lists free;
    std::vector<sized> blocks(2000);
    std::multiset<size_t> sizes;
    uint64_t random = 1;
    const auto next = [&] { return random = random * 6364136223846793005u + 1442695040888963407u; };
    for (sized &b : blocks) {
        b.size = ((next() >> 12 >> next() % 44) + 1) * unit;
        free.add(&b);
        sizes.insert(b.size);
    }
    for (int i = 0; !sizes.empty(); i++) {
        const size_t size = ((next() >> 12 >> next() % 52) + 1) * unit;
        sized *const b = free.find(size);
        assert_true((b == nullptr) == (sizes.lower_bound(size) == sizes.end()));
        if (b == nullptr) {
            free.remove(free.find(unit));
            sizes.clear();
            free.each([&](sized *left) { sizes.insert(left->size); });
            continue;
        }
        assert_true(b->size >= size);
        assert_true(b->size - *sizes.lower_bound(size) <= b->size / 64);
        free.remove(b);
        sizes.erase(sizes.find(b->size));
    }
    assert_null(free.find(unit));
}

/* A plain counter loses no increment, whichever thread owns the mutex, and however many follow. */
void threads_exclude_each_other(void **)
{
    for (int round = 0; round < 20; round++) {
        lt_owned_mutex mutex;
        long counter = 0;
        std::atomic<bool> go{false};
        const auto count = [&] {
            for (int i = 0; i < 2000; i++) {
                mutex.lock();
                counter++;
                mutex.unlock();
            }
        };
        std::thread owner([&] {
            count();
            go = true;
            count();
        });
        std::vector<std::thread> others;
        for (int i = 0; i < 3; i++)
            others.emplace_back([&] {
                while (!go) std::this_thread::yield();
                count();
            });
        owner.join();
        for (std::thread &t : others) t.join();
        count();
        assert_int_equal(counter, 2000 * 6);
    }
}

} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_found_by_size),
        cmocka_unit_test(random_blocks_are_found),
        cmocka_unit_test(threads_exclude_each_other),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
