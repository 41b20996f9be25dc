/* thrust/complex.h - complex numbers for kernels: the toolkit's names for the host's std::complex.
 */
#ifndef LT_SIM_THRUST_COMPLEX_H
#define LT_SIM_THRUST_COMPLEX_H

#include <complex>

namespace thrust {
template <class T> using complex = std::complex<T>;
using std::abs;
using std::acos;
using std::acosh;
using std::arg;
using std::asin;
using std::asinh;
using std::atan;
using std::atanh;
using std::conj;
using std::cos;
using std::cosh;
using std::exp;
using std::log;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
} /* namespace thrust */

#endif
