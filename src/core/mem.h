/* mem.h - for files that do not include the headers of memory/ one by one yet. */
#ifndef LT_MEM_H
#define LT_MEM_H

#include "checked.h"
#include "memory/alloc.h"
#include "memory/block.h"
#include "memory/limit.h"

#endif
