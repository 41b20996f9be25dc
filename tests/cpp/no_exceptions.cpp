// no_exceptions.cpp - ltensor.hpp with -fno-exceptions: a failure returns an empty value, and the
// first error remains until take_error().
#include <cstdio>

#include "ltensor.hpp"

int main()
{
    const lt::Tensor x = lt::ones({2, 3});
    const lt::Tensor product = lt::mm(x, x), sum = lt::sum(product + 1);
    const std::optional<lt::Error> error = lt::take_error();
    const bool reported = error && error->status() == LT_ERR_RUNTIME &&
                          std::string(error->what()).find("2x3 and 2x3") != std::string::npos;
    const bool empty = !product.defined() && !sum.defined();
    const bool cleared = !lt::take_error().has_value() && lt::sum(x).item<int>() == 6;
    const bool quiet = lt::load("/nonexistent").empty() && x.index({5}).get() == nullptr &&
                       x.to_vector<int>().size() == 6 && lt::take_error()->status() == LT_ERR_IO;
    if (reported && empty && cleared && quiet) return 0;
    std::printf("reported %d, empty %d, cleared %d, quiet %d\n", reported, empty, cleared, quiet);
    return 1;
}
