/* recurrent.h - shared by the files of recurrent layers. */
#ifndef LT_OPS_RECURRENT_H
#define LT_OPS_RECURRENT_H

#include "devices/cell.h"

/* The cell with this name: tanh, relu, gru, lstm. */
lt_status lt_cell_named(const char *name, lt_cell *cell);

#endif
