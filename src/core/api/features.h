/* features.h - what other libraries of ours add to what lt_has answers, from where they are
 * loaded. */
#ifndef LT_FEATURES_H
#define LT_FEATURES_H

/* From now on lt_has(feature) is true. The text is borrowed for good. */
void lt_feature_provide(const char *feature);

#endif
