/* deprecated.c - the old names of public functions. Programs that were linked with 0.2 call them. */
#include "ltensor.h"

lt_dtype lt_default_dtype(void) { return lt_get_default_dtype(); }

void lt_tensor_list_free(lt_tensor_list *list) { lt_tensor_list_release(list); }

void lt_archive_free(lt_archive *archive) { lt_archive_release(archive); }

void lt_generator_free(lt_generator *generator) { lt_generator_release(generator); }

void lt_value_free(lt_value *value) { lt_value_release(value); }
