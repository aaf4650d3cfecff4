/* Finds the rows that match the words of a question best, and measures how they match.
   Equivalent to `scrubjay.features.memory.index` and `scrubjay.search_index.token_segments`, which use numpy, but row by row instead of
   array by
   array. Uses no Python API and keeps no state. */

#include "top_k.h"
#include "api.h"
#include "cpu_dispatch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DECLINED (-1)
#define NONE (-1)
#define PASSAGE_END 0 /* separates two passages of a text */
#define NEXT_TO_MATCHES 2

/* The shares of one word in rows: in these, or in all when `rows` is NULL. */
typedef struct {
    const int64_t *rows;
    const float *shares;
    int64_t count;
} Word;

/* Add the shares of one word to all rows. */
FOR_EACH_PROCESSOR static void add_shares(float *restrict scores, const float *restrict shares, float worth, int64_t rows) {
    for (int64_t row = 0; row < rows; row++) scores[row] += worth * shares[row];
}

#define AT_ONCE 32
/* Return whether any of these rows has a higher score. Most blocks have none and are skipped. */
FOR_EACH_PROCESSOR static int any_higher(const float *scores, float least) {
    int any = 0;
    for (int i = 0; i < AT_ONCE; i++) any |= scores[i] > least;
    return any;
}

/* Score each row by its words and select the best rows, best first. Return their number, or DECLINED. */
SCRUBJAY_API int64_t scrubjay_score_words(const Word *words, int64_t word_count, const float *worth, int64_t rows, const uint8_t *allowed, int64_t limit,
                              float *scores, int64_t *best) {
    memset(scores, 0, (size_t)rows * sizeof *scores);
    for (int64_t which = 0; which < word_count; which++) {
        const Word *word = words + which;
        float own = worth[which];
        if (word->rows)
            for (int64_t i = 0; i < word->count; i++) scores[word->rows[i]] += own * word->shares[i];
        else
            add_shares(scores, word->shares, own, rows);
    }
    if (limit < 1) return 0;
    Best *heap = malloc((size_t)limit * sizeof *heap);
    if (!heap) return DECLINED;
    int64_t filled = 0;
    for (int64_t row = 0; row < rows; row++) {
        while (filled == limit && row + AT_ONCE <= rows && !any_higher(scores + row, (float)heap[0].value)) row += AT_ONCE;
        if (row == rows) break;
        if (scores[row] > 0 && (!allowed || allowed[row])) keep_best(heap, &filled, limit, (double)scores[row], row);
    }
    qsort(heap, (size_t)filled, sizeof *heap, best_first);
    for (int64_t i = 0; i < filled; i++) best[i] = heap[i].row;
    free(heap);
    return filled;
}

/* -- candidates ---------------------------------------------------------------------------------- */

typedef struct {
    int64_t key, row;
} Keyed;

static int by_key(const void *one, const void *other) {
    int64_t a = ((const Keyed *)one)->key, b = ((const Keyed *)other)->key;
    return (a > b) - (a < b);
}

static void mark(uint8_t *marks, const uint8_t *allowed, int64_t row) {
    if (!allowed || allowed[row]) marks[row] = 1;
}

/* Collect the marked rows in the order of their keys and clear their marks. Return their number. */
static int64_t in_order(uint8_t *marks, int64_t rows, const int64_t *keys, int64_t *found) {
    int64_t count = 0;
    int sorted = 1;
    for (int64_t row = 0; row < rows; row++) {
        if (!marks[row]) {
            uint64_t eight;
            while (row + 8 <= rows && (memcpy(&eight, marks + row, sizeof eight), !eight)) row += 8;
            if (row == rows || !marks[row]) continue;
        }
        marks[row] = 0;
        if (keys && count && keys[found[count - 1]] > keys[row]) sorted = 0;
        found[count++] = row;
    }
    if (sorted) return count;
    Keyed *keyed = malloc((size_t)count * sizeof *keyed);
    if (!keyed) return DECLINED;
    for (int64_t i = 0; i < count; i++) keyed[i] = (Keyed){keys[found[i]], found[i]};
    qsort(keyed, (size_t)count, sizeof *keyed, by_key);
    for (int64_t i = 0; i < count; i++) found[i] = keyed[i].row;
    free(keyed);
    return count;
}

/* Collect the candidates in the order of `seqs`, with the positions of their neighbours among all texts.
   Candidates are the allowed ones of `best`, their neighbours, and `others`. `before` and `after` link each row to the next; both are
   NULL when no row
   has a neighbour. `marks` must be zero and `places` have room for each row. `counts` receives the number of candidates, of texts, and
   of texts with
   a score in `having`. Return 0, or DECLINED. */
SCRUBJAY_API int64_t scrubjay_collect_candidates(int64_t rows, const uint8_t *allowed, const int32_t *before, const int32_t *after, const int64_t *best,
                                  int64_t best_count, const int64_t *others, int64_t other_count, const int64_t *seqs, const float *scores,
                                  int64_t reach, uint8_t *marks, int64_t *places, int64_t *chosen, int64_t *around, int64_t *texts,
                                  int64_t *having, int64_t *having_rows, int64_t *counts) {
    for (int64_t i = 0; i < best_count; i++) {
        mark(marks, allowed, best[i]);
        if (!before) continue;
        int64_t earlier = best[i], later = best[i];
        for (int step = 0; step < NEXT_TO_MATCHES; step++) {
            if (earlier != NONE && (earlier = before[earlier]) != NONE) mark(marks, allowed, earlier);
            if (later != NONE && (later = after[later]) != NONE) mark(marks, allowed, later);
        }
    }
    for (int64_t i = 0; i < other_count; i++) mark(marks, allowed, others[i]);
    int64_t count = in_order(marks, rows, seqs, chosen), width = 2 * reach + 1;
    if (count < 0) return DECLINED;
    for (int64_t i = 0; i < count; i++) {
        int64_t *own = around + i * width + reach;
        own[0] = chosen[i];
        marks[chosen[i]] = 1;
        for (int64_t step = 1; step <= reach; step++) {
            own[-step] = before && own[1 - step] != NONE ? before[own[1 - step]] : NONE;
            own[step] = after && own[step - 1] != NONE ? after[own[step - 1]] : NONE;
            if (own[-step] != NONE) marks[own[-step]] = 1;
            if (own[step] != NONE) marks[own[step]] = 1;
        }
    }
    int64_t text_count = in_order(marks, rows, NULL, texts), matching = 0;
    for (int64_t i = 0; i < text_count; i++) {
        places[texts[i]] = i;
        if (scores[texts[i]] != 0) {
            having[matching] = i;
            having_rows[matching++] = texts[i];
        }
    }
    for (int64_t i = 0; i < count * width; i++)
        if (around[i] != NONE) around[i] = places[around[i]];
    counts[0] = count;
    counts[1] = text_count;
    counts[2] = matching;
    return 0;
}

/* -- how they match ------------------------------------------------------------------------------ */

/* The tokens of adjacent rows; `starts` has one entry more than there are rows. */
typedef struct {
    const uint64_t *tokens;
    const int64_t *starts;
    int64_t rows;
} Part;

/* Match rows (ascending) against the terms: the count of each term, the score of the best passage, and the number of adjacent pairs of
   terms.
   `places` are the indexes for the results. `k1`, `base` and `of_each` define the length normalization, as `length_norms` does. Return
   0, or
   DECLINED. */
SCRUBJAY_API int64_t scrubjay_match_tokens(const Part *parts, int64_t part_count, const int64_t *rows, const int64_t *places, int64_t row_count,
                             const uint64_t *terms, int64_t term_count, const float *worth, float k1, float base, float of_each, float *occurrences,
                             float *bm25, float *pairs) {
    const float most = k1 + 1;
    float *counts = malloc((size_t)(term_count ? term_count : 1) * sizeof *counts);
    uint8_t *has_pair = malloc((size_t)(term_count ? term_count : 1));
    if (!counts || !has_pair) {
        free(counts);
        free(has_pair);
        return DECLINED;
    }
    uint64_t known = 0; /* a Bloom filter: most tokens are not terms */
    for (int64_t term = 0; term < term_count; term++) known |= (uint64_t)1 << (terms[term] & 63);
    int64_t part = 0, first = 0;
    for (int64_t i = 0; i < row_count; i++) {
        while (part < part_count && rows[i] - first >= parts[part].rows) first += parts[part++].rows;
        if (part == part_count) break;
        const int64_t *starts = parts[part].starts + (rows[i] - first);
        const uint64_t *token = parts[part].tokens + starts[0], *end = parts[part].tokens + starts[1];
        float *own = occurrences + places[i] * term_count, best = 0, length = 0;
        int64_t side_by_side = 0;
        memset(counts, 0, (size_t)term_count * sizeof *counts);
        memset(has_pair, 0, (size_t)term_count);
        for (;; token++) {
            if (token == end || *token == PASSAGE_END) {
                float norm = k1 * (base + of_each * length), score = 0;
                for (int64_t term = 0; term < term_count; term++)
                    if (counts[term] > 0) {
                        score += worth[term] * (counts[term] * most / (counts[term] + norm));
                        own[term] += counts[term];
                        counts[term] = 0;
                    }
                if (score > best) best = score;
                length = 0;
                if (token == end) break;
                continue;
            }
            length++;
            if (!(known >> (*token & 63) & 1)) continue;
            for (int64_t term = 0; term < term_count; term++) {
                if (*token != terms[term]) continue;
                counts[term]++;
                if (term + 1 < term_count && token + 1 < end && token[1] == terms[term + 1] && !has_pair[term]) {
                    has_pair[term] = 1;
                    side_by_side++;
                }
            }
        }
        bm25[places[i]] = best;
        pairs[places[i]] = (float)side_by_side;
    }
    free(counts);
    free(has_pair);
    return 0;
}
