/* Of which sources all this was compiled: what was made of others is not used. */

#ifndef SOURCES
#define SOURCES ""
#endif

const char *recollect_sources(void) { return SOURCES; }
