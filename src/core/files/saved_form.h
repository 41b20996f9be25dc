/* saved_form.h - a tensor as files hold it: on the host, its elements in order without gaps. */
#ifndef LT_SAVED_FORM_H
#define LT_SAVED_FORM_H

#include "ltensor.h"

/* New reference: t itself when it is in that form. A copy from a device is entered with the cause
 * "save". */
lt_status lt_saved_form(lt_tensor *t, lt_tensor **out);

#endif
