/* saved_form.h - the form of a tensor in files: on the host and contiguous. */
#ifndef LT_SAVED_FORM_H
#define LT_SAVED_FORM_H

#include "ltensor.h"

/* New reference: t itself if it has this form, else a copy. A copy from a device is recorded with
 * the cause "save". */
lt_status lt_saved_form(lt_tensor *t, lt_tensor **out);

#endif
