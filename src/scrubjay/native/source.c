/* Of which sources all this was compiled: what was made of others is not used. */

#include "door.h"

#ifndef SOURCES
#define SOURCES ""
#endif

DOOR const char *scrubjay_sources(void) { return SOURCES; }
