/* What is called from Python; all else is nobody's business, and cannot be mistaken for what another library calls the same. */

#ifndef RECOLLECT_DOOR_H
#define RECOLLECT_DOOR_H

#define DOOR __attribute__((visibility("default")))

#endif
