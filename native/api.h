/* Marks the functions that Python calls through ctypes. All other symbols are hidden, so they cannot clash with other libraries. */

#ifndef SCRUBJAY_API_H
#define SCRUBJAY_API_H

#define SCRUBJAY_API __attribute__((visibility("default")))

#endif
