/* Entry points of the Python reader: parse a file once, run both walks over the tree, and keep the results until they are fetched. */

#include <limits.h>
#include <stdlib.h>

#include "api.h"
#include "output.h"
#include "python_flow.h"
#include "python_symbols.h"
#include "python_tree.h"

enum { OUTLINE, USES, FLOW, PARTS };

typedef struct {
    Output parts[PARTS];
} PythonReading;

SCRUBJAY_API void scrubjay_python_free(PythonReading *reading) {
    if (!reading) return;
    for (int32_t i = 0; i < PARTS; i++) end_output(reading->parts + i);
    free(reading);
}

/* Read a file. Return NULL if it is declined; the caller must then read it by other means. */
SCRUBJAY_API PythonReading *scrubjay_python_read(const uint8_t *content, int64_t length) {
    if (length < 0 || length > INT_MAX / 64) return NULL; /* keeps all positions and counts far from overflow */
    Tree *tree = read_tree(content, (int32_t)length);
    PythonReading *reading = tree ? calloc(1, sizeof *reading) : NULL;
    int is_read = reading && write_symbols(tree, reading->parts + OUTLINE, reading->parts + USES) && write_flow(tree, reading->parts + FLOW);
    if (tree) end_tree(tree);
    if (is_read) return reading;
    scrubjay_python_free(reading);
    return NULL;
}

/* Return one of the results, which is valid until the reading is freed. */
SCRUBJAY_API const uint8_t *scrubjay_python_part(const PythonReading *reading, int32_t which, int64_t *length) {
    *length = reading->parts[which].used;
    return reading->parts[which].bytes;
}
