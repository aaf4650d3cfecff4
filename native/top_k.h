/* Selects the rows with the greatest values; of equal values, the earlier row. */

#ifndef SCRUBJAY_TOP_K_H
#define SCRUBJAY_TOP_K_H

#include <stdint.h>

typedef struct {
    double value;
    int64_t row;
} Best;

static inline int is_worse(const Best *one, const Best *other) {
    return one->value < other->value || (one->value == other->value && one->row > other->row);
}

static inline int best_first(const void *one, const void *other) {
    const Best *a = one, *b = other;
    return is_worse(a, b) ? 1 : is_worse(b, a) ? -1 : 0;
}

/* Keep a row if it is among the best `limit` so far. Rows must come in ascending order; `heap` is a min-heap with the worst kept row
   first. */
static inline void keep_best(Best *heap, int64_t *filled, int64_t limit, double value, int64_t row) {
    if (*filled == limit && !(value > heap[0].value)) return;
    Best added = {value, row};
    int64_t place;
    if (*filled < limit) {
        for (place = (*filled)++; place && is_worse(&added, heap + (place - 1) / 2); place = (place - 1) / 2) heap[place] = heap[(place - 1) / 2];
    } else {
        for (place = 0;;) {
            int64_t below = 2 * place + 1;
            if (below >= limit) break;
            if (below + 1 < limit && is_worse(heap + below + 1, heap + below)) below++;
            if (!is_worse(heap + below, &added)) break;
            heap[place] = heap[below];
            place = below;
        }
    }
    heap[place] = added;
}

#endif
