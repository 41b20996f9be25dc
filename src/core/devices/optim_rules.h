/* optim_rules.h - the update rules of optimizers: the one list from which core, the CPU loops and
 * the CUDA kernels are generated. A rule updates one element of its arrays (parameter, gradient,
 * state ...) from a few numbers; formulas are in formulas/optim.inc. Includes nothing. */
#ifndef LT_OPTIM_RULES_H
#define LT_OPTIM_RULES_H

/* RULE(name, NAME, arrays). arrays: number of arrays, with the parameter and the gradient. */
#define LT_OPTIM_RULES(RULE)                                                                       \
    RULE(sgd, SGD, 2)                                                                              \
    RULE(sgd_momentum, SGD_MOMENTUM, 3)                                                            \
    RULE(adam, ADAM, 4)                                                                            \
    RULE(adam_amsgrad, ADAM_AMSGRAD, 5)                                                            \
    RULE(nadam, NADAM, 4)                                                                          \
    RULE(radam, RADAM, 4)                                                                          \
    RULE(adagrad, ADAGRAD, 3)                                                                      \
    RULE(adadelta, ADADELTA, 4)                                                                    \
    RULE(adamax, ADAMAX, 4)                                                                        \
    RULE(rmsprop, RMSPROP, 3)                                                                      \
    RULE(rmsprop_momentum, RMSPROP_MOMENTUM, 4)                                                    \
    RULE(rmsprop_centered, RMSPROP_CENTERED, 4)                                                    \
    RULE(rmsprop_centered_momentum, RMSPROP_CENTERED_MOMENTUM, 5)                                  \
    RULE(asgd, ASGD, 3)                                                                            \
    RULE(rprop, RPROP, 4)

enum { LT_OPTIM_ARRAYS = 5, LT_OPTIM_NUMBERS = 12 };

#define LT_OPTIM_NAME(name, NAME, arrays) LT_OPTIM_##NAME,
typedef enum lt_optim_rule { LT_OPTIM_RULES(LT_OPTIM_NAME) LT_OPTIM_COUNT } lt_optim_rule;
#undef LT_OPTIM_NAME

#endif
