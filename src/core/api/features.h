/* features.h - lets the project's other libraries register features that lt_has reports once they
 * are loaded. */
#ifndef LT_FEATURES_H
#define LT_FEATURES_H

/* Makes lt_has(feature) true from now on. The text must live as long as the process. */
void lt_feature_provide(const char *feature);

#endif
