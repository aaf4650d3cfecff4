/* Looks for many beginnings of words at once: in one pass, by their first two bytes. */

#include "door.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BEGINNINGS 1024

typedef struct {
    const uint8_t *bytes;
    int64_t length;
    int32_t next; /* the next one with the same first two bytes, or -1 */
} Beginning;

typedef struct {
    int32_t first[1 << 16]; /* by two bytes the first that begins with them, or -1 */
    Beginning all[MOST_BEGINNINGS];
    int32_t count;
} Finder;

/* For beginnings of at least two bytes each, ended by a line end; they must outlive it. NULL without memory, or for too many. */
DOOR Finder *recollect_finder_made(const uint8_t *beginnings, int64_t length) {
    Finder *own = malloc(sizeof *own);
    if (!own) return NULL;
    memset(own->first, -1, sizeof own->first);
    own->count = 0;
    for (int64_t start = 0; start < length;) {
        const uint8_t *bytes = beginnings + start, *end = memchr(bytes, '\n', (size_t)(length - start));
        int64_t size = end ? end - bytes : length - start;
        if (own->count == MOST_BEGINNINGS || size < 2) {
            free(own);
            return NULL;
        }
        int32_t *first = own->first + (bytes[0] << 8 | bytes[1]);
        own->all[own->count] = (Beginning){bytes, size, *first};
        *first = own->count++;
        start += size + 1;
    }
    return own;
}

/* Whether the text has one of them. */
DOOR int32_t recollect_finder_found(const Finder *own, const uint8_t *text, int64_t length) {
    for (int64_t i = 0; i + 1 < length; i++)
        for (int32_t which = own->first[text[i] << 8 | text[i + 1]]; which >= 0; which = own->all[which].next)
            if (length - i >= own->all[which].length && !memcmp(text + i, own->all[which].bytes, (size_t)own->all[which].length)) return 1;
    return 0;
}
