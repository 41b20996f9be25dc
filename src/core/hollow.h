/* hollow.h - tensors without memory, to exchange with a tensor whose memory is not needed for a while (lt_storage_exchange): parameters
 * that are gathered before they are used and freed after. */
#ifndef LT_HOLLOW_H
#define LT_HOLLOW_H

#include "tensor.h"

/* A tensor of as many bytes as t's storage that uses no memory: on the host it reads as zeros; on a device nothing may read it. Its
 * version is none that a tensor comes to, so that derivatives refuse what they have saved. */
lt_status lt_storage_hollow(const lt_tensor *t, lt_tensor **out);

#endif
