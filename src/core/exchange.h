/* exchange.h - the memory behind a tensor, all its views and what derivatives have saved of it, taken away and given back: parameters that
 * are gathered before they are used and freed after. */
#ifndef LT_EXCHANGE_H
#define LT_EXCHANGE_H

#include "tensor.h"

/* Both storages keep their users and change memory and versions. LT_ERR_RUNTIME where they differ in size or device, or are so small
 * that their memory is part of them (1024 bytes). */
lt_status lt_storage_exchange(lt_tensor *a, lt_tensor *b);

/* A tensor of as many bytes as t's storage that uses no memory: on the host it reads as zeros; on a device nothing may read it. Its
 * version is none that a tensor comes to, so that derivatives refuse what they have saved. */
lt_status lt_storage_hollow(const lt_tensor *t, lt_tensor **out);

#endif
