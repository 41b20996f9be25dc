/* transfer.h - transfers outside of ops: one element to a number (lt_tensor_item of ltensor.h), a
 * host tensor to page-locked memory. Both are recorded in the ledger of copies; lt_read_device is
 * not, because its callers record it with their own cause. */
#ifndef LT_TRANSFER_H
#define LT_TRANSFER_H

#include "ltensor.h"

/* Copies the first nbytes of a tensor on a GPU to the host, blocking. *waited: seconds for which
 * the host was blocked. */
lt_status lt_read_device(const lt_tensor *t, void *to, size_t nbytes, double *waited);

/* New reference: a copy of a host tensor in page-locked memory; t itself if it is page-locked
 * already. LT_ERR_DEVICE without a GPU. */
lt_status lt_tensor_pin(lt_tensor *t, lt_tensor **out);

#endif
