/* What is called from Python; all else is nobody's business, and cannot be mistaken for what another library calls the same. */

#ifndef SCRUBJAY_DOOR_H
#define SCRUBJAY_DOOR_H

#define DOOR __attribute__((visibility("default")))

#endif
