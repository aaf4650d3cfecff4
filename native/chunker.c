/* Cuts a file into chunks along its definitions. Equivalent to `scrubjay.code_index.facts.chunker`, rule by rule in the same order; the
   reasons for
   the rules are documented there. */

#include "api.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GOOD_SIZE 1500
#define LARGEST 2250
#define MIN_CHUNK 150
#define MIN_END 500
#define LINES_OF_A_DEFINITION 3
#define WINDOW_LINES 50
#define DECLINED (-1)

typedef struct {
    int32_t start, end;
    int32_t closes; /* whether it is the last piece of a definition that was cut */
} Piece;

typedef struct {
    int32_t place, closes;
} Cut;

typedef struct {
    int32_t start, end, first_line, last_line;
} Span;

typedef struct {
    const uint8_t *content;
    int32_t length;
    int32_t *lines; /* first byte of each line, then the end of the file */
    int32_t line_count;
    const int32_t *starts, *ends, *first_lines, *last_lines, *at; /* of symbols */
    int32_t symbols;
    Span *spans;
    int64_t room;
    int32_t count;
    Piece current; /* may still be joined with the next one */
    int has_current;
} Cutting;

static inline int is_blank(uint8_t sign) { return sign == ' ' || (sign >= '\t' && sign <= '\r'); }

static int is_all_blank(const Cutting *own, int32_t start, int32_t end) {
    while (start < end && is_blank(own->content[start])) start++;
    return start >= end;
}

/* Return the number of lines that start before a position, or at or before it. */
static int32_t lines_before(const Cutting *own, int64_t place) {
    int32_t low = 0, high = own->line_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (own->lines[middle] < place) low = middle + 1;
        else high = middle;
    }
    return low;
}
static int32_t lines_up_to(const Cutting *own, int64_t place) { return lines_before(own, place + 1); }

static inline int32_t least(int32_t one, int32_t other) { return one < other ? one : other; }
static inline int32_t most(int32_t one, int32_t other) { return one > other ? one : other; }

static int is_large(const Cutting *own, int32_t symbol) {
    return (int64_t)own->last_lines[symbol] - own->first_lines[symbol] + 1 >= LINES_OF_A_DEFINITION;
}

/* -- where to cut -------------------------------------------------------------------------------- */

/* Add a piece as a chunk, without blanks around it. */
static int take(Cutting *own, Piece piece) {
    int32_t end = piece.end, inked = piece.start;
    while (end > piece.start && is_blank(own->content[end - 1])) end--;
    while (inked < end && is_blank(own->content[inked])) inked++;
    if (inked >= end) return 1;
    if (own->count >= own->room) return 0;
    int32_t first = lines_up_to(own, inked) - 1, last = lines_before(own, end);
    own->spans[own->count++] = (Span){most(piece.start, own->lines[first]), end, first + 1, most(last, first + 1)};
    return 1;
}

/* Join adjacent pieces that are small enough together. */
static int join(Cutting *own, Piece piece) {
    if (!own->symbols) return take(own, piece);
    if (own->has_current) {
        Piece current = own->current;
        int32_t size = piece.end - current.start, smaller = least(current.end - current.start, piece.end - piece.start);
        int ended = current.closes && current.end - current.start >= MIN_END;
        if ((size <= GOOD_SIZE && !ended) || (size <= LARGEST && smaller < MIN_CHUNK))
            piece = (Piece){current.start, piece.end, piece.closes || ended};
        else if (!take(own, current))
            return 0;
    }
    own->current = piece;
    own->has_current = 1;
    return 1;
}

static int32_t cut_within_line(const Cutting *own, int32_t start) {
    static const char pauses[] = "\n;},  ";
    for (int i = 0; i < 5; i++)
        for (int32_t at = start + GOOD_SIZE - 1; at >= start + GOOD_SIZE / 2; at--)
            if (own->content[at] == (uint8_t)pauses[i]) return at + 1;
    int32_t cut = start + GOOD_SIZE;
    for (int32_t back = 0; back < 4; back++)
        if ((own->content[cut - back] & 0xC0) != 0x80) return cut - back;
    return cut;
}

static int32_t best_cut(const Cutting *own, int32_t start) {
    int32_t first = lines_before(own, (int64_t)start + GOOD_SIZE / 2), behind = lines_up_to(own, (int64_t)start + LARGEST);
    int32_t best = 0, best_indented = 0, cut = -1;
    for (int32_t line = first; line < behind; line++) {
        int32_t place = own->lines[line], indented = 0;
        if (line + 1 < own->line_count) {
            int32_t end = own->lines[line + 1] - place < LARGEST ? own->lines[line + 1] : place + LARGEST, at = place;
            while (at < end && is_blank(own->content[at])) at++;
            uint8_t sign = at < end ? own->content[at] : ')';
            indented = sign == ')' || sign == ']' || sign == '}' ? LARGEST : at - place;
        }
        int32_t worth = 2 * is_all_blank(own, most(own->lines[line - 1], place - LARGEST), place) + (place - start <= GOOD_SIZE);
        if (cut < 0 || worth > best || (worth == best && indented <= best_indented)) best = worth, best_indented = indented, cut = place;
    }
    return cut >= 0 ? cut : cut_within_line(own, start);
}

static int cut_unit(Cutting *own, int32_t start, int32_t end, int32_t closes) {
    while (end - start > LARGEST) {
        int32_t cut = best_cut(own, start);
        if (!join(own, (Piece){start, cut, 0})) return 0;
        start = cut;
    }
    return start >= end || join(own, (Piece){start, end, closes});
}

static int by_place(const void *one, const void *other) {
    int32_t a = ((const Cut *)one)->place, b = ((const Cut *)other)->place;
    return (a > b) - (a < b);
}

static int cut_along_definitions(Cutting *own) {
    Cut *cuts = malloc((2 * (size_t)own->symbols + 2) * sizeof *cuts);
    if (!cuts) return 0;
    int32_t count = 0, whole_until = 0;
    cuts[count++] = (Cut){0, 0};
    cuts[count++] = (Cut){own->length, 0};
    for (int32_t i = 0; i < own->symbols; i++) {
        if (!is_large(own, i) || own->starts[i] < whole_until) continue;
        int32_t start = own->lines[lines_up_to(own, own->starts[i]) - 1];
        int32_t end = own->ends[i] < own->length ? own->lines[lines_before(own, own->ends[i])] : own->length;
        int is_small = end - start <= GOOD_SIZE;
        cuts[count++] = (Cut){start, 0};
        cuts[count++] = (Cut){end, !is_small};
        if (is_small) whole_until = end;
    }
    qsort(cuts, (size_t)count, sizeof *cuts, by_place);
    int good = 1;
    int32_t start = 0;
    for (int32_t i = 0; good && i < count;) {
        int32_t place = cuts[i].place, closes = 0;
        for (; i < count && cuts[i].place == place; i++) closes |= cuts[i].closes;
        if (place > start) good = cut_unit(own, start, place, closes);
        start = place;
    }
    free(cuts);
    return good;
}

static int cut_into_windows(Cutting *own) {
    int32_t last = own->line_count - 1;
    for (int32_t first = 0, end; first < last; first = end) {
        end = first + WINDOW_LINES;
        if (end + WINDOW_LINES / 5 >= last) {
            end = last;
        } else {
            int32_t line = end;
            while (line > end - WINDOW_LINES / 5 && !is_all_blank(own, own->lines[line - 1], own->lines[line])) line--;
            if (line > end - WINDOW_LINES / 5) end = line;
        }
        if (!cut_unit(own, own->lines[first], own->lines[end], 0)) return 0;
    }
    return 1;
}

/* -- what each is about -------------------------------------------------------------------------- */

/* Set the chunk in which each symbol is named: the last one that starts at or before the name, or -1. */
static void find_owners(const Cutting *own, int32_t *owners) {
    for (int32_t i = 0; i < own->symbols; i++) {
        int32_t named_at = most(own->lines[least(own->at[i], own->line_count) - 1], own->starts[i]), low = 0, high = own->count;
        while (low < high) {
            int32_t middle = low + (high - low) / 2;
            if (own->spans[middle].start <= named_at) low = middle + 1;
            else high = middle;
        }
        owners[i] = low - 1;
    }
}

static int32_t inside(const Cutting *own, Span span, int32_t symbol) {
    return least(span.end, own->ends[symbol]) - most(span.start, own->starts[symbol]);
}

/* Return the largest definition that starts in a chunk. A definition that started before counts only if none starts within it here. */
static int32_t main_symbol(const Cutting *own, Span span, const int32_t *begun, int32_t count, int32_t around) {
    int32_t best = -1;
    int has_large = 0, has_within = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!is_large(own, begun[i])) continue;
        has_large = 1;
        if (around >= 0 && own->ends[begun[i]] <= own->ends[around]) has_within = 1;
        if (best < 0 || inside(own, span, begun[i]) > inside(own, span, best)) best = begun[i];
    }
    if (around >= 0 && !has_within) return best >= 0 && inside(own, span, around) <= inside(own, span, best) ? best : around;
    if (has_large) return best;
    for (int32_t i = 0; i < count; i++)
        if (best < 0 || inside(own, span, begun[i]) > inside(own, span, best)) best = begun[i];
    return best;
}

static int tell_abouts(const Cutting *own, const int32_t *owners, int32_t *abouts) {
    /* For each chunk: the first of its symbols in the list sorted by chunk, the list, and the definitions that are open at its start. */
    int32_t *firsts = calloc((size_t)own->count + 2, sizeof *firsts);
    int32_t *begun = malloc(((size_t)own->symbols + 1) * sizeof *begun), *open = malloc(((size_t)own->symbols + 1) * sizeof *open);
    int good = firsts && begun && open;
    if (good) {
        for (int32_t i = 0; i < own->symbols; i++)
            if (owners[i] >= 0) firsts[owners[i] + 2]++;
        for (int32_t i = 2; i < own->count + 2; i++) firsts[i] += firsts[i - 1];
        for (int32_t i = 0; i < own->symbols; i++)
            if (owners[i] >= 0) begun[firsts[owners[i] + 1]++] = i;
        int32_t opened = 0, following = 0;
        for (int32_t i = 0; i < own->count; i++) {
            Span span = own->spans[i];
            for (; following < own->symbols && own->starts[following] < span.start; following++) {
                while (opened && own->ends[open[opened - 1]] <= own->starts[following]) opened--;
                open[opened++] = following;
            }
            while (opened && own->ends[open[opened - 1]] <= span.start) opened--;
            abouts[i] = main_symbol(own, span, begun + firsts[i], firsts[i + 1] - firsts[i], opened ? open[opened - 1] : -1);
        }
    }
    free(firsts);
    free(begun);
    free(open);
    return good;
}

static int find_lines(Cutting *own) {
    size_t room = 2;
    const uint8_t *content = own->content, *end = content + own->length;
    for (const uint8_t *at = content; (at = memchr(at, '\n', (size_t)(end - at))); at++) room++;
    own->lines = malloc(room * sizeof *own->lines);
    if (!own->lines) return 0;
    own->lines[own->line_count++] = 0;
    for (const uint8_t *at = content; (at = memchr(at, '\n', (size_t)(end - at)));) own->lines[own->line_count++] = (int32_t)(++at - content);
    if (own->lines[own->line_count - 1] != own->length) own->lines[own->line_count++] = own->length;
    return 1;
}

/* Cut a file with `count` symbols. `symbols` holds five columns: starts, ends, first lines, last lines and lines of the names. For each
   chunk, its
   span is stored in `spans` and its main symbol, or -1, in `abouts`, each with `room` entries; for each symbol, the chunk that names it,
   or -1, in
   `owners`. Return the number of chunks, or -1 if the file is declined. */
SCRUBJAY_API int64_t scrubjay_chunk(const uint8_t *content, int64_t length, const int32_t *symbols, int64_t count, int32_t *spans, int32_t *abouts,
                           int64_t room, int32_t *owners) {
    if (length < 0 || length > INT_MAX / 4 || count < 0 || count > INT_MAX / 16) return DECLINED;
    Cutting own = {.content = content, .length = (int32_t)length, .symbols = (int32_t)count, .spans = (Span *)spans, .room = room};
    own.starts = symbols, own.ends = symbols + count, own.first_lines = symbols + 2 * count, own.last_lines = symbols + 3 * count;
    own.at = symbols + 4 * count;
    for (int64_t i = 0; i < count; i++)
        if (own.starts[i] < 0 || own.starts[i] > own.ends[i] || own.ends[i] > length || own.at[i] < 1) return DECLINED;
    int good = find_lines(&own) && (count ? cut_along_definitions(&own) : cut_into_windows(&own));
    if (good && own.has_current) good = take(&own, own.current);
    if (good) {
        find_owners(&own, owners);
        good = tell_abouts(&own, owners, abouts);
    }
    free(own.lines);
    return good ? own.count : DECLINED;
}
