/* draws.h - derivatives of random numbers by the parameters of their distribution, -(d cdf / d
 * parameter) / pdf, with PyTorch's approximations (M. Figurnov, S. Mohamed, A. Mnih: Implicit
 * reparameterization gradients, 2018): a series for small numbers, a saddle point expansion (after
 * Rice) for large parameters, and rational functions fitted by Pyro's authors between them. Always
 * computed in double, since the expansions cancel. Included only by gamma.h, after gamma.inc and
 * stirling.h. */

/* Derivative of x from Gamma(a, 1) by a, for x < 0.8. */
LT_FN double lt_gamma_derivative_small(double a, double x)
{
    double term = 1, sum = 1 / a, squares = 1 / (a * a);
    for (int i = 1; i <= 5; i++) {
        term *= -x / i;
        sum += term / (a + i);
        squares += term / ((a + i) * (a + i));
    }
    const double power = pow(x, a), density = pow(x, a - 1) * exp(-x);
    const double slope =
        (log(x) - LT_FORMULA_NAME(digamma, f64)(a)) * power * sum - power * squares;
    const double result = -slope / density;
    return result != result ? 0 : result;
}

/* The same for a > 8. */
LT_FN double lt_gamma_derivative_large(double a, double x)
{
    if (0.9 * a <= x && x <= 1.1 * a) { /* near the singularity at a: a polynomial */
        const double first = 1 + 24 * a * (1 + 12 * a);
        const double second =
            1440 * a * a + 6 * x * (53 - 120 * x) - 65 * x * x / a + a * (107 + 3600 * x);
        return first * second / (1244160 * a * a * a * a);
    }
    const double root = sqrt(8 * a), logarithm = log(x / a), distance = a - x;
    const double bend = pow(x - a - a * logarithm, -1.5);
    const double inner = root / distance + (x < a ? -bend : bend);
    const double outer = logarithm * inner - sqrt(2 / a) * (a + x) / (distance * distance);
    const double stirling = 1 + 1 / (12 * a) * (1 + 1 / (24 * a));
    return -stirling * x * outer / root;
}

/* The same elsewhere: exp of a rational function of log(x / a) and log(a). */
LT_FN double lt_gamma_derivative_middle(double a, double x)
{
    const double fitted[3][8] = {{0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1,
                                  0.32668115, 0.10406089, 0.0014179084},
                                 {0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465,
                                  0.020070113, -0.0035938915, -0.00058392623},
                                 {0.040121004, -0.0065914022, -0.0026286047, -0.0013441777,
                                  0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07}};
    const double u = log(x / a), v = log(a);
    double p = 0, q = 0;
    for (int i = 3; i >= 0; i--) {
        p = p * v + fitted[0][i] + u * (fitted[1][i] + u * fitted[2][i]);
        q = q * v + fitted[0][i + 4] + u * (fitted[1][i + 4] + u * fitted[2][i + 4]);
    }
    return exp(p / q);
}

LT_FN double lt_gamma_derivative(double a, double x)
{
    if (x < 0.8) return lt_gamma_derivative_small(a, x);
    return a > 8 ? lt_gamma_derivative_large(a, x) : lt_gamma_derivative_middle(a, x);
}

/* Derivative of x from Beta(a, b) by a, for small x; divided by 1 - x, as are the next ones. */
LT_FN double lt_beta_derivative_low(double x, double a, double b)
{
    const double factor =
        LT_FORMULA_NAME(digamma, f64)(a) - LT_FORMULA_NAME(digamma, f64)(a + b) - log(x);
    double term = 1, sum = 1 / a * (factor + 1 / a);
    for (int i = 1; i <= 10; i++) {
        term *= (i - b) * x / i;
        sum += term / (a + i) * (factor + 1 / (a + i));
    }
    const double result = x * pow(1 - x, -b) * sum;
    return result != result ? 0 : result;
}

/* Derivative by b, for small x. */
LT_FN double lt_beta_derivative_low_other(double x, double a, double b)
{
    const double factor = LT_FORMULA_NAME(digamma, f64)(a + b) - LT_FORMULA_NAME(digamma, f64)(b);
    double term = 1, product = 1, slope = 0, sum = factor / a;
    for (int i = 1; i <= 8; i++) {
        term *= -x / i;
        slope = slope * (b - i) + product;
        product *= b - i;
        sum += term / (a + i) * (slope + factor * product);
    }
    const double result = -pow(1 - x, 1 - b) * sum;
    return result != result ? 0 : result;
}

/* Derivative by a, for large a and b. */
LT_FN double lt_beta_derivative_large(double x, double a, double b)
{
    const double total = a + b, mean = a / total, deviation = sqrt(a * b / (total + 1)) / total;
    if (mean - 0.1 * deviation <= x &&
        x <= mean + 0.1 * deviation) { /* near the singularity at the mean: a polynomial */
        const double fourth = 8 * (1 - x) * (135 * b - 11);
        const double third = (453 + 1620 * b * (1 - x) - 455 * x) * b + a * fourth;
        const double second = 3 * (59 + 180 * b - 90 * x) * (b * b) + a * third;
        const double first = (43 + 20 * (16 + 27 * b) * x) * (b * b) * b + a * second;
        const double polynomial = 47 * x * (b * b) * (b * b) + a * first;
        return (1 + 12 * a) * (1 + 12 * b) / (total * total) / (1 - x) * polynomial /
               (12960 * a * a * a * b * b * (1 + 12 * total));
    }
    const double stirling = (1 + 1 / (12 * a) + 1 / (288 * a * a)) *
                            (1 + 1 / (12 * b) + 1 / (288 * b * b)) /
                            (1 + 1 / (12 * total) + 1 / (288 * total * total));
    const double distance = a * (x - 1) + b * x;
    const double term1 = (2 * a * a * (x - 1) + a * b * (x - 1) - x * b * b) /
                         (sqrt(2 * a / b) * pow(total, 1.5) * distance * distance);
    const double term2 = 0.5 * log(a / (total * x)), term3 = sqrt(8 * a * b / total) / distance;
    const double bend = pow(b * log(b / (total * (1 - x))) + a * log(a / (total * x)), -1.5);
    const double sum = term1 + term2 * (term3 + (x < mean ? bend : -bend));
    return stirling * (-x / sqrt(2 * a * b / total)) * sum;
}

/* Derivative by a, elsewhere: a fitted correction of x (digamma(total) - digamma(a)) / b. */
LT_FN double lt_beta_derivative_middle(double x, double a, double total)
{
    const double fitted[2][3][3][4] = {
        {{{1.003668233, -0.01061107488, -0.0657888334, 0.01201642863},
          {0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033},
          {-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013}},
         {{0.221950385, -0.3187676331, 0.01799915743, 0.01074823814},
          {-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057},
          {0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05}},
         {{-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565},
          {0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181},
          {0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05}}},
        {{{1, -0.02924021934, -0.04438342661, 0.007285809825},
          {0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521},
          {-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149}},
         {{0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273},
          {0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956},
          {-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05}},
         {{0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05},
          {0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05},
          {-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06}}}};
    const double u = log(x), s = log(a) - u, t = log(total) - s;
    double p = 0, q = 0;
    for (int i = 2; i >= 0; i--) {
        double row_p = 0, row_q = 0;
        for (int j = 2; j >= 0; j--) {
            const double *above = fitted[0][i][j], *below = fitted[1][i][j];
            row_p = row_p * s + above[0] + t * (above[1] + t * (above[2] + t * above[3]));
            row_q = row_q * s + below[0] + t * (below[1] + t * (below[2] + t * below[3]));
        }
        p = p * u + row_p;
        q = q * u + row_q;
    }
    return p / q * x * (LT_FORMULA_NAME(digamma, f64)(total) - LT_FORMULA_NAME(digamma, f64)(a)) /
           (total - a);
}

LT_FN double lt_beta_derivative(double x, double a, double total)
{
    const double b = total - a, boundary = total * x * (1 - x);
    if (x <= 0.5 && boundary < 2.5) return lt_beta_derivative_low(x, a, b);
    if (x >= 0.5 && boundary < 0.75) return -lt_beta_derivative_low_other(1 - x, b, a);
    if (a > 6 && b > 6) return lt_beta_derivative_large(x, a, b);
    return lt_beta_derivative_middle(x, a, total);
}

LT_FN float LT_FORMULA_NAME(standard_gamma_grad, f32)(float a, float x)
{
    return (float)lt_gamma_derivative(a, x);
}
LT_FN double LT_FORMULA_NAME(standard_gamma_grad, f64)(double a, double x)
{
    return lt_gamma_derivative(a, x);
}
LT_FN float LT_FORMULA_NAME(dirichlet_grad, f32)(float x, float a, float total)
{
    return (float)lt_beta_derivative(x, a, total);
}
LT_FN double LT_FORMULA_NAME(dirichlet_grad, f64)(double x, double a, double total)
{
    return lt_beta_derivative(x, a, total);
}
