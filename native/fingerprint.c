/* The digest of the sources this library was compiled from; Python refuses to load a library made from other sources. */

#include "api.h"

#ifndef SOURCE_FINGERPRINT
#define SOURCE_FINGERPRINT ""
#endif

SCRUBJAY_API const char *scrubjay_fingerprint(void) { return SOURCE_FINGERPRINT; }
