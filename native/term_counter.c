/* Counts the identifiers in plain text: their words, and the embedding of all together.
   Equivalent to `scrubjay.code_index.term_counts`, which uses numpy, for ASCII only and several times as fast. Uses no Python API: texts
   and numbers
   are passed as arrays, and the caller supplies the stems of words. A counter must be used by one thread at a time. A function that runs
   out of
   memory reports it; the counter can then only be freed. */

#include "api.h"
#include "cpu_dispatch.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IDENTIFIER 128 /* longer ones are encoded data and have no words */
#define MAX_PIECE 100      /* the model has no longer ones */
#define MAX_COUNTED 255
#define FAILED (-1)
#define STEMS_MISSING (-2)

/* -- arrays that grow ---------------------------------------------------------------------------- */

typedef struct {
    void *items;
    int64_t used, room;
} List;

/* Return room for `count` more items, or NULL. */
static void *more(List *list, int64_t count, size_t size) {
    if (!list->items || list->room - list->used < count) {
        int64_t room = list->room * 2 > list->used + count ? list->room * 2 : list->used + count + 16;
        void *items = realloc(list->items, (size_t)room * size);
        if (!items) return NULL;
        list->items = items;
        list->room = room;
    }
    void *place = (char *)list->items + (size_t)list->used * size;
    list->used += count;
    return place;
}

static int append(List *list, int32_t number) {
    int32_t *place = more(list, 1, sizeof number);
    if (!place) return 0;
    *place = number;
    return 1;
}

/* -- names and their numbers --------------------------------------------------------------------- */

typedef struct {
    List bytes, entries; /* each entry is one name */
    int32_t *slots;      /* number of a name plus one, at the first free slot after its hash */
    int64_t room;
} Names;

#define HEAD 12
typedef struct {
    int64_t start;
    uint64_t hash;
    int32_t length;
    uint8_t head[HEAD]; /* its first bytes, which decide most comparisons */
} Entry;

#define NO_BYTES 14695981039346656037u
static inline uint64_t hash_on(uint64_t hash, uint8_t byte) { return (hash ^ byte) * 1099511628211u; }

static uint64_t hash_of(const uint8_t *bytes, int64_t length) {
    uint64_t hash = NO_BYTES;
    for (int64_t i = 0; i < length; i++) hash = hash_on(hash, bytes[i]);
    return hash;
}

/* The low bits of such a hash depend only on the last letters, so higher bits are mixed in. */
static inline int64_t slot_of(const Names *names, uint64_t hash) { return (int64_t)((hash ^ hash >> 29) & (uint64_t)(names->room - 1)); }

static inline int is_same(const uint8_t *one, const uint8_t *other, int64_t length) {
    while (length >= 8) {
        uint64_t a, b;
        memcpy(&a, one, sizeof a);
        memcpy(&b, other, sizeof b);
        if (a != b) return 0;
        one += 8, other += 8, length -= 8;
    }
    while (length-- > 0)
        if (*one++ != *other++) return 0;
    return 1;
}

static int32_t found(const Names *names, const uint8_t *bytes, int64_t length, uint64_t hash) {
    if (!names->room) return -1;
    const Entry *entries = names->entries.items;
    for (int64_t slot = slot_of(names, hash);; slot = (slot + 1) & (names->room - 1)) {
        int32_t number = names->slots[slot] - 1;
        if (number < 0) return -1;
        const Entry *entry = entries + number;
        if (entry->hash != hash || entry->length != length) continue;
        if (is_same(length > HEAD ? (uint8_t *)names->bytes.items + entry->start : entry->head, bytes, length)) return number;
    }
}

static int enlarge(Names *names) {
    int64_t room = names->room ? names->room * 2 : 1024;
    int32_t *slots = calloc((size_t)room, sizeof *slots);
    if (!slots) return 0;
    free(names->slots);
    names->slots = slots;
    names->room = room;
    const Entry *entries = names->entries.items;
    for (int64_t number = 0; number < names->entries.used; number++) {
        int64_t slot = slot_of(names, entries[number].hash);
        while (slots[slot]) slot = (slot + 1) & (room - 1);
        slots[slot] = (int32_t)number + 1;
    }
    return 1;
}

/* Add a new name and return its number; -1 when out of memory. */
static int32_t added(Names *names, const uint8_t *bytes, int64_t length, uint64_t hash) {
    if (names->entries.used >= INT32_MAX - 1) return -1;
    if (names->entries.used * 2 >= names->room && !enlarge(names)) return -1;
    int64_t start = names->bytes.used;
    uint8_t *place = more(&names->bytes, length, 1);
    Entry *entry = place ? more(&names->entries, 1, sizeof *entry) : NULL;
    if (!entry) return -1;
    memcpy(place, bytes, (size_t)length);
    *entry = (Entry){.start = start, .hash = hash, .length = (int32_t)length};
    memcpy(entry->head, bytes, (size_t)(length < HEAD ? length : HEAD));
    int64_t slot = slot_of(names, hash);
    while (names->slots[slot]) slot = (slot + 1) & (names->room - 1);
    names->slots[slot] = (int32_t)names->entries.used;
    return (int32_t)names->entries.used - 1;
}

static int32_t found_or_added(Names *names, const uint8_t *bytes, int64_t length, uint64_t hash) {
    int32_t number = found(names, bytes, length, hash);
    return number >= 0 ? number : added(names, bytes, length, hash);
}

static void forget(Names *names) {
    free(names->bytes.items);
    free(names->entries.items);
    free(names->slots);
}

/* -- the number that stands for a word: BLAKE2b of eight bytes (RFC 7693) -------------------------- */

static const uint64_t BLAKE_START[8] = {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
                                        0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};
static const uint8_t BLAKE_ORDER[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline uint64_t rotated(uint64_t value, int bits) { return value >> bits | value << (64 - bits); }

static uint64_t little_endian(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static inline void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x;
    v[d] = rotated(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotated(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 63);
}

static void compress(uint64_t *state, const uint8_t *block, uint64_t so_far, int is_last) {
    uint64_t v[16], m[16];
    for (int i = 0; i < 8; i++) v[i] = state[i], v[i + 8] = BLAKE_START[i];
    for (int i = 0; i < 16; i++) m[i] = little_endian(block + 8 * i);
    v[12] ^= so_far;
    if (is_last) v[14] = ~v[14];
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = BLAKE_ORDER[round % 10];
        for (int i = 0; i < 4; i++) mix(v, i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
        for (int i = 0; i < 4; i++) mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
    for (int i = 0; i < 8; i++) state[i] ^= v[i] ^ v[i + 8];
}

static uint64_t token_of(const uint8_t *word, int64_t length) {
    uint64_t state[8];
    memcpy(state, BLAKE_START, sizeof state);
    state[0] ^= 0x01010000u ^ 8u;
    int64_t done = 0;
    for (; length - done > 128; done += 128) compress(state, word + done, (uint64_t)done + 128, 0);
    uint8_t last[128] = {0};
    memcpy(last, word + done, (size_t)(length - done));
    compress(state, last, (uint64_t)length, 1);
    return state[0] ? state[0] : 1;
}

/* -- the counter --------------------------------------------------------------------------------- */

typedef struct {
    List list;   /* the numbers of all items, one after the other */
    List starts; /* where those of each item start; one entry more than items */
} Lists;

typedef struct {
    List sums, touched; /* how often each was counted, and which ones were */
} Tally;

typedef struct {
    Names vocabulary, identifiers, parts, pieces, words;
    Lists words_of, pieces_of; /* of each identifier */
    Lists parts_of;            /* of each piece, in the vocabulary */
    List stems, stem_ends;     /* of each part; shorter while stems are missing */
    List word_of_part, tokens, joined;
    List read, stops; /* the identifiers and characters read last, and where those of each text, then of each name, end */
    int64_t texts, names;
    List named, named_starts, seen; /* the names of each text */
    Tally of_identifiers, of_words, of_pieces;
    List found_tokens, found_counts, sorted;
    const int8_t *rows;
    const float *scales;
    int32_t dimensions, unknown, longest;
    int32_t signs[128]; /* vocabulary number of each character; -1 for those without meaning */
    uint8_t kinds[256];
} Counter;

enum { OTHER, UPPER, LOWER, DIGIT, UNDERSCORE };

static int tally(Tally *to, int32_t which, int32_t count) {
    int32_t *sums = to->sums.items;
    if (!sums[which] && !append(&to->touched, which)) return 0;
    sums[which] += count;
    return 1;
}

static int widen(Tally *to, int64_t count) {
    int64_t lacking = count - to->sums.used;
    if (lacking <= 0) return 1;
    int32_t *place = more(&to->sums, lacking, sizeof *place);
    if (!place) return 0;
    memset(place, 0, (size_t)lacking * sizeof *place);
    return 1;
}

static void clear(Tally *one) {
    int32_t *sums = one->sums.items, *touched = one->touched.items;
    for (int64_t i = 0; i < one->touched.used; i++) sums[touched[i]] = 0;
    one->touched.used = 0;
}

static int end_list(Lists *lists) { return append(&lists->starts, (int32_t)lists->list.used); }

static inline uint8_t lower(uint8_t letter) { return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter; }

/* Return the end of the part of an identifier that starts here: Http|Server, HTTP|Server, sha|256. */
static int64_t part_end(const Counter *own, const uint8_t *text, int64_t at, int64_t end, int with_digits) {
    const uint8_t *kinds = own->kinds;
    int64_t to = at;
    if (kinds[text[at]] == UPPER) {
        while (to < end && kinds[text[to]] == UPPER) to++;
        if (to < end && kinds[text[to]] == LOWER && to - at > 1) return to - 1;
        if (to == end || !(kinds[text[to]] == LOWER || (with_digits && kinds[text[to]] == DIGIT))) return to;
    }
    uint8_t kind = kinds[text[to]];
    while (to < end && (kinds[text[to]] == kind || (with_digits && (kinds[text[to]] == LOWER || kinds[text[to]] == DIGIT)))) to++;
    return to;
}

static uint64_t lowered(uint8_t *to, const uint8_t *text, int64_t length) {
    uint64_t hash = NO_BYTES;
    for (int64_t i = 0; i < length; i++) hash = hash_on(hash, to[i] = lower(text[i]));
    return hash;
}

/* Add the longest parts of a piece in the vocabulary; a piece that cannot be composed of parts is unknown. */
static int add_parts(Counter *own, List *list, const uint8_t *piece, int64_t length) {
    int64_t before = list->used;
    uint64_t hashes[MAX_PIECE];
    for (int64_t start = 0; start < length;) {
        uint8_t inside[2 + MAX_PIECE] = "##";
        int64_t prefix = start ? 2 : 0, most = length - start < own->longest ? length - start : own->longest;
        memcpy(inside + prefix, piece + start, (size_t)most);
        uint64_t hash = hash_of(inside, prefix);
        for (int64_t i = 0; i < most; i++) hashes[i] = hash = hash_on(hash, inside[prefix + i]);
        int32_t number = -1;
        for (; most > 0 && number < 0; most--) number = found(&own->vocabulary, inside, prefix + most, hashes[most - 1]);
        if (number < 0) {
            list->used = before;
            return append(list, own->unknown);
        }
        if (!append(list, number)) return 0;
        start += most + 1;
    }
    return 1;
}

/* Add the parts of a piece, computed only once per piece: identifiers share few pieces. */
static int add_piece(Counter *own, const uint8_t *text, int64_t length) {
    uint8_t piece[MAX_PIECE];
    if (length > MAX_PIECE) return append(&own->pieces_of.list, own->unknown);
    uint64_t hash = lowered(piece, text, length);
    int32_t number = found(&own->pieces, piece, length, hash);
    if (number < 0) {
        if (own->parts_of.list.used > INT32_MAX / 2 || !add_parts(own, &own->parts_of.list, piece, length) || !end_list(&own->parts_of)) return 0;
        number = added(&own->pieces, piece, length, hash);
        if (number < 0) return 0;
    }
    const int32_t *starts = own->parts_of.starts.items, *parts = own->parts_of.list.items;
    int64_t count = starts[number + 1] - starts[number];
    int32_t *place = more(&own->pieces_of.list, count, sizeof *place);
    if (place) memcpy(place, parts + starts[number], (size_t)count * sizeof *place);
    return place != NULL;
}

static int32_t word_number(Counter *own, uint64_t token) {
    int32_t number = found(&own->words, (uint8_t *)&token, sizeof token, token);
    if (number >= 0) return number;
    uint64_t *place = more(&own->tokens, 1, sizeof *place);
    if (!place) return -1;
    *place = token;
    return added(&own->words, (uint8_t *)&token, sizeof token, token);
}

/* Find the next part of an identifier at or after a position, in lower case; return its end, or -1. */
static int64_t next_part(const Counter *own, const uint8_t *text, int64_t at, int64_t length, uint8_t *part, int64_t *size, uint64_t *hash) {
    while (at < length && own->kinds[text[at]] == UNDERSCORE) at++;
    if (at == length) return -1;
    int64_t end = part_end(own, text, at, length, 0);
    *size = end - at;
    *hash = lowered(part, text + at, *size);
    return end;
}

/* Add the words of an identifier: the stems of its parts and, if there are several, all of them joined. */
static int add_words(Counter *own, const uint8_t *text, int64_t length) {
    uint8_t part[MAX_IDENTIFIER];
    int64_t size, parts = 0;
    uint64_t hash;
    const int32_t *ends = own->stem_ends.items, *words = own->word_of_part.items;
    List *joined = &own->joined;
    joined->used = 0;
    uint8_t *place = more(joined, 1, 1);
    if (!place) return 0;
    *place = '=';
    for (int64_t at = 0; (at = next_part(own, text, at, length, part, &size, &hash)) >= 0; parts++) {
        int32_t number = found(&own->parts, part, size, hash);
        int32_t from = number ? ends[number - 1] : 0, stem = ends[number] - from;
        place = more(joined, stem, 1);
        if (!place || !append(&own->words_of.list, words[number])) return 0;
        memcpy(place, (uint8_t *)own->stems.items + from, (size_t)stem);
    }
    if (parts < 2) return 1;
    int32_t whole = word_number(own, token_of(joined->items, joined->used));
    return whole >= 0 && append(&own->words_of.list, whole);
}

/* Return the number of a new identifier, or -1. Its words are added when the stems of its parts are known. */
static int32_t add_identifier(Counter *own, const uint8_t *text, int64_t length, uint64_t hash) {
    uint8_t part[MAX_IDENTIFIER];
    int64_t size;
    uint64_t part_hash;
    if (own->words_of.list.used > INT32_MAX / 2 || own->pieces_of.list.used > INT32_MAX / 2) return FAILED;
    if (length <= MAX_IDENTIFIER)
        for (int64_t at = 0; (at = next_part(own, text, at, length, part, &size, &part_hash)) >= 0;)
            if (found_or_added(&own->parts, part, size, part_hash) < 0) return FAILED;
    for (int64_t at = 0, end; at < length; at = end) {
        end = own->kinds[text[at]] == UNDERSCORE ? at + 1 : part_end(own, text, at, length, 1);
        if (!add_piece(own, text + at, end - at)) return FAILED;
    }
    return end_list(&own->pieces_of) ? added(&own->identifiers, text, length, hash) : FAILED;
}

/* Return the end of the identifier that starts here, and set its hash. */
static inline int64_t identifier_end(const Counter *own, const uint8_t *text, int64_t at, int64_t end, uint64_t *hash) {
    for (*hash = NO_BYTES; at < end && own->kinds[text[at]] != OTHER; at++) *hash = hash_on(*hash, text[at]);
    return at;
}

/* Record the identifiers of a text, and its other characters as negative numbers, each followed by its count. */
static int read_text(Counter *own, const uint8_t *text, int64_t length) {
    int32_t signs[128] = {0};
    uint64_t hash;
    for (int64_t at = 0, end; at < length; at = end) {
        end = identifier_end(own, text, at, length, &hash);
        if (end == at) {
            signs[text[end++] & 127]++;
            continue;
        }
        int32_t number = found(&own->identifiers, text + at, end - at, hash);
        if (number < 0) number = add_identifier(own, text + at, end - at, hash);
        if (number < 0 || !append(&own->read, number)) return 0;
    }
    for (int sign = 0; sign < 128; sign++)
        if (signs[sign] && own->signs[sign] >= 0 && !(append(&own->read, ~own->signs[sign]) && append(&own->read, signs[sign]))) return 0;
    int64_t *stop = more(&own->stops, 1, sizeof *stop);
    if (!stop) return 0;
    *stop = own->read.used;
    return 1;
}

/* Return where the record of a text or name starts. */
static inline int64_t record_start(const Counter *own, int64_t which) { return which ? ((const int64_t *)own->stops.items)[which - 1] : 0; }
static inline int64_t noted_to(const Counter *own, int64_t which) { return ((const int64_t *)own->stops.items)[which]; }

/* Add the record of a text to the counts. */
static int tally_text(Counter *own, int64_t from, int64_t to, int with_signs) {
    const int32_t *read = own->read.items;
    for (int64_t i = from; i < to; i++) {
        if (read[i] >= 0) {
            if (!tally(&own->of_identifiers, read[i], 1)) return 0;
        } else {
            int32_t sign = ~read[i++];
            if (with_signs && !tally(&own->of_pieces, sign, read[i])) return 0;
        }
    }
    return 1;
}

/* Convert counts of identifiers to counts of their words or pieces, each multiplied by `worth`. */
static int expand(Counter *own, const Lists *lists, Tally *to, int32_t worth) {
    const int32_t *starts = lists->starts.items, *numbers = lists->list.items;
    const int32_t *counts = own->of_identifiers.sums.items, *touched = own->of_identifiers.touched.items;
    for (int64_t i = 0; i < own->of_identifiers.touched.used; i++)
        for (int32_t k = starts[touched[i]]; k < starts[touched[i] + 1]; k++)
            if (!tally(to, numbers[k], worth * counts[touched[i]])) return 0;
    return 1;
}

typedef struct {
    uint64_t token;
    int32_t count;
} Counted;

static void sort(Counted *all, int64_t count) {
    while (count > 24) {
        uint64_t a = all[0].token, b = all[count / 2].token, c = all[count - 1].token;
        uint64_t middle = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t low = 0, high = count - 1;
        while (low <= high) {
            while (all[low].token < middle) low++;
            while (all[high].token > middle) high--;
            if (low <= high) {
                Counted other = all[low];
                all[low++] = all[high];
                all[high--] = other;
            }
        }
        if (high + 1 < count - low) {
            sort(all, high + 1);
            all += low;
            count -= low;
        } else {
            sort(all + low, count - low);
            count = high + 1;
        }
    }
    for (int64_t i = 1; i < count; i++) {
        Counted one = all[i];
        int64_t k = i;
        for (; k > 0 && all[k - 1].token > one.token; k--) all[k] = all[k - 1];
        all[k] = one;
    }
}

/* Write the words of one text, sorted by token. */
static int write_words(Counter *own) {
    int64_t count = own->of_words.touched.used;
    own->sorted.used = 0;
    Counted *all = more(&own->sorted, count, sizeof *all);
    uint64_t *tokens = more(&own->found_tokens, count, sizeof *tokens);
    uint8_t *counts = more(&own->found_counts, count, sizeof *counts);
    if (!all || !tokens || !counts) return 0;
    const uint64_t *token_at = own->tokens.items;
    const int32_t *sums = own->of_words.sums.items, *touched = own->of_words.touched.items;
    for (int64_t i = 0; i < count; i++) all[i] = (Counted){token_at[touched[i]], sums[touched[i]]};
    sort(all, count);
    for (int64_t i = 0; i < count; i++) {
        tokens[i] = all[i].token;
        counts[i] = (uint8_t)(all[i].count < MAX_COUNTED ? all[i].count : MAX_COUNTED);
    }
    return 1;
}

FOR_EACH_PROCESSOR
static void add_row(float *restrict total, const int8_t *row, float weight, int32_t dimensions) {
    for (int32_t i = 0; i < dimensions; i++) total[i] += weight * (float)row[i];
}

/* Add four values at a time, in order. */
FOR_EACH_PROCESSOR
static void add_rows(float *restrict total, const int8_t *const rows[4], const float weights[4], int32_t dimensions) {
    const int8_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    float of_a = weights[0], of_b = weights[1], of_c = weights[2], of_d = weights[3];
    for (int32_t i = 0; i < dimensions; i++)
        total[i] = (((total[i] + of_a * (float)a[i]) + of_b * (float)b[i]) + of_c * (float)c[i]) + of_d * (float)d[i];
}

/* Square-root pooling: a token that occurs n times counts sqrt(n). The sum is normalized to length 1, unless it is zero. */
static void write_embedding(const Counter *own, float *total) {
    const int32_t *sums = own->of_pieces.sums.items, *touched = own->of_pieces.touched.items;
    memset(total, 0, (size_t)own->dimensions * sizeof *total);
    const int8_t *rows[4];
    float weights[4];
    int32_t waiting = 0;
    for (int64_t i = 0; i < own->of_pieces.touched.used; i++) {
        rows[waiting] = own->rows + (int64_t)touched[i] * own->dimensions;
        weights[waiting++] = sqrtf((float)sums[touched[i]]) * own->scales[touched[i]];
        if (waiting == 4) add_rows(total, rows, weights, own->dimensions), waiting = 0;
    }
    for (int32_t i = 0; i < waiting; i++) add_row(total, rows[i], weights[i], own->dimensions);
    double square = 0;
    for (int32_t i = 0; i < own->dimensions; i++) square += (double)total[i] * total[i];
    float length = (float)sqrt(square);
    if (length > 0)
        for (int32_t i = 0; i < own->dimensions; i++) total[i] /= length;
}

/* -- what is called from outside ----------------------------------------------------------------- */

SCRUBJAY_API void scrubjay_counter_free(Counter *own) {
    if (!own) return;
    forget(&own->vocabulary);
    forget(&own->identifiers);
    forget(&own->parts);
    forget(&own->pieces);
    forget(&own->words);
    List *lists[] = {&own->words_of.list,      &own->words_of.starts,       &own->pieces_of.list,   &own->pieces_of.starts,
                     &own->stems,              &own->stem_ends,             &own->word_of_part,     &own->tokens,
                     &own->of_identifiers.sums, &own->of_identifiers.touched, &own->of_words.sums,  &own->of_words.touched,
                     &own->of_pieces.sums,     &own->of_pieces.touched,     &own->found_tokens,     &own->found_counts,
                     &own->sorted,             &own->joined,                &own->read,             &own->stops,
                     &own->named,              &own->named_starts,          &own->seen,             &own->parts_of.list,
                     &own->parts_of.starts};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]->items);
    free(own);
}

/* Make a counter for a model: its vocabulary, each word followed by a line end; rows and scales, which must outlive the counter; the
   number of the
   unknown word; and the number of each ASCII character, or -1. */
SCRUBJAY_API Counter *scrubjay_counter_new(const uint8_t *vocabulary, int64_t length, const int8_t *rows, const float *scales,
                                int32_t dimensions, int32_t unknown, const int32_t *signs) {
    Counter *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    own->rows = rows;
    own->scales = scales;
    own->dimensions = dimensions;
    own->unknown = unknown;
    memcpy(own->signs, signs, sizeof own->signs);
    for (int sign = 0; sign < 128; sign++)
        own->kinds[sign] = sign >= 'A' && sign <= 'Z'   ? UPPER
                           : sign >= 'a' && sign <= 'z' ? LOWER
                           : sign >= '0' && sign <= '9' ? DIGIT
                           : sign == '_'                ? UNDERSCORE
                                                        : OTHER;
    int good = end_list(&own->words_of) && end_list(&own->pieces_of) && end_list(&own->parts_of);
    for (int64_t start = 0; good && start < length;) {
        const uint8_t *line = vocabulary + start, *end = memchr(line, '\n', (size_t)(length - start));
        int64_t size = end ? end - line : length - start;
        good = added(&own->vocabulary, line, size, hash_of(line, size)) >= 0;
        if (size > own->longest) own->longest = (int32_t)size;
        start += size + 1;
    }
    if (!good || !widen(&own->of_pieces, own->vocabulary.entries.used)) {
        scrubjay_counter_free(own);
        return NULL;
    }
    return own;
}

/* Return the number of known identifiers. */
SCRUBJAY_API int64_t scrubjay_counter_size(const Counter *own) { return own->identifiers.entries.used; }

/* Copy the parts of identifiers whose stems are missing. */
SCRUBJAY_API void scrubjay_counter_unknown_parts(const Counter *own, uint8_t *to) {
    const Entry *entries = own->parts.entries.items;
    for (int64_t number = own->stem_ends.used; number < own->parts.entries.used; number++) {
        memcpy(to, (uint8_t *)own->parts.bytes.items + entries[number].start, (size_t)entries[number].length);
        to += entries[number].length;
        *to++ = '\n';
    }
}

/* Add their stems, each followed by a line end, and the words of the identifiers that were read. */
SCRUBJAY_API int32_t scrubjay_counter_add_stems(Counter *own, const uint8_t *stems, int64_t length) {
    for (int64_t start = 0; start < length && own->stem_ends.used < own->parts.entries.used;) {
        const uint8_t *stem = stems + start, *end = memchr(stem, '\n', (size_t)(length - start));
        int64_t size = end ? end - stem : length - start;
        if (own->stems.used + size > INT32_MAX) return FAILED;
        int32_t word = word_number(own, token_of(stem, size));
        uint8_t *place = more(&own->stems, size, 1);
        if (word < 0 || !place || !append(&own->word_of_part, word)) return FAILED;
        memcpy(place, stem, (size_t)size);
        if (!append(&own->stem_ends, (int32_t)own->stems.used)) return FAILED;
        start += size + 1;
    }
    if (own->stem_ends.used < own->parts.entries.used) return STEMS_MISSING;
    const Entry *entries = own->identifiers.entries.items;
    for (int64_t number = own->words_of.starts.used - 1; number < own->identifiers.entries.used; number++) {
        const uint8_t *text = (uint8_t *)own->identifiers.bytes.items + entries[number].start;
        if (entries[number].length <= MAX_IDENTIFIER && !add_words(own, text, entries[number].length)) return FAILED;
        if (!end_list(&own->words_of)) return FAILED;
    }
    return 1;
}

/* Read texts and names. The first two of every four `spans` are the start and end of a text; each name is followed by a line end. Return
   the size of
   the identifier parts whose stems are missing, each followed by a line end: the caller must add these stems. */
SCRUBJAY_API int64_t scrubjay_counter_read_texts(Counter *own, const uint8_t *texts, int64_t count, const int32_t *spans, const uint8_t *names,
                                    int64_t length, int64_t name_count) {
    own->read.used = own->stops.used = own->texts = own->names = 0;
    for (int64_t i = 0; i < count; i++)
        if (!read_text(own, texts + spans[4 * i], spans[4 * i + 1] - spans[4 * i])) return FAILED;
    for (int64_t i = 0, start = 0; i < name_count; i++) {
        const uint8_t *end = start < length ? memchr(names + start, '\n', (size_t)(length - start)) : NULL;
        int64_t to = end ? end - names : length;
        if (!read_text(own, names + start, to - start)) return FAILED;
        start = to < length ? to + 1 : length;
    }
    own->texts = count;
    own->names = name_count;
    int64_t size = 0;
    const Entry *entries = own->parts.entries.items;
    for (int64_t number = own->stem_ends.used; number < own->parts.entries.used; number++) size += entries[number].length + 1;
    return size || scrubjay_counter_add_stems(own, NULL, 0) > 0 ? size : FAILED;
}

/* Sort the names by the texts that define them, each once per text. */
static int sort_names(Counter *own, const int32_t *owners, const int32_t *firsts) {
    own->named.used = own->named_starts.used = own->seen.used = 0;
    int32_t *starts = more(&own->named_starts, own->texts + 2, sizeof *starts);
    int32_t *named = more(&own->named, own->names, sizeof *named), *seen = more(&own->seen, own->names, sizeof *seen);
    if (!starts || !named || !seen) return 0;
    memset(starts, 0, (size_t)(own->texts + 2) * sizeof *starts);
    for (int64_t i = 0; i < own->names; i++)
        if (owners[i] >= 0) starts[owners[i] + 2]++;
    for (int64_t i = 2; i < own->texts + 2; i++) starts[i] += starts[i - 1];
    for (int64_t i = 0; i < own->names; i++)
        if (owners[i] >= 0) named[starts[owners[i] + 1]++] = (int32_t)i;
    for (int64_t i = 0; i < own->names; i++) seen[i] = -1;
    for (int64_t text = 0; text < own->texts; text++)
        for (int32_t k = starts[text]; k < starts[text + 1]; k++) {
            int32_t first = firsts[named[k]];
            if (seen[first] == text) named[k] = -1;
            seen[first] = (int32_t)text;
        }
    return 1;
}

/* Count the words of the names that are defined in a text. */
static int tally_names(Counter *own, int64_t text, int32_t worth) {
    const int32_t *named = own->named.items, *starts = own->named_starts.items;
    clear(&own->of_identifiers);
    for (int32_t k = starts[text]; k < starts[text + 1]; k++) {
        int64_t which = own->texts + named[k];
        if (named[k] >= 0 && !tally_text(own, record_start(own, which), noted_to(own, which), 0)) return 0;
    }
    return expand(own, &own->words_of, &own->of_words, worth);
}

/* Count the texts that were read. A name counts `worth` more, once, in the text given by `owners`, if any; `firsts` gives the first
   equal name. Each
   text may have additional words, by token, and pieces, by vocabulary number, up to `other_ends` and `piece_ends`, unless these are
   NULL. The
   embedding of each text is stored in `vectors`, and the start of its words in `starts`. Return the number of words. */
SCRUBJAY_API int64_t scrubjay_counter_count(Counter *own, int32_t worth, const int32_t *owners, const int32_t *firsts, const uint64_t *others,
                                  const int64_t *other_ends, const int32_t *pieces, const int64_t *piece_ends, int32_t *starts,
                                  float *vectors) {
    int64_t other = 0, piece = 0;
    own->found_tokens.used = own->found_counts.used = 0;
    if (own->words_of.starts.used - 1 != own->identifiers.entries.used) return STEMS_MISSING;
    if (!widen(&own->of_identifiers, own->identifiers.entries.used) || !sort_names(own, owners, firsts)) return FAILED;
    for (int64_t i = 0; i < own->texts; i++) {
        clear(&own->of_words);
        clear(&own->of_pieces);
        clear(&own->of_identifiers);
        starts[i] = (int32_t)own->found_tokens.used;
        if (!widen(&own->of_words, own->tokens.used + (other_ends ? other_ends[i] - other : 0))) return FAILED;
        if (!tally_text(own, record_start(own, i), noted_to(own, i), 1) || !expand(own, &own->words_of, &own->of_words, 1) ||
            !expand(own, &own->pieces_of, &own->of_pieces, 1) || !tally_names(own, i, worth))
            return FAILED;
        for (; other_ends && other < other_ends[i]; other++) {
            int32_t word = word_number(own, others[other]);
            if (word < 0 || !tally(&own->of_words, word, 1)) return FAILED;
        }
        for (; piece_ends && piece < piece_ends[i]; piece++)
            if (!tally(&own->of_pieces, pieces[piece], 1)) return FAILED;
        if (!write_words(own) || own->found_tokens.used > INT32_MAX) return FAILED;
        write_embedding(own, vectors + i * own->dimensions);
    }
    starts[own->texts] = (int32_t)own->found_tokens.used;
    return own->found_tokens.used;
}

/* Return the words that were counted last. */
SCRUBJAY_API const uint64_t *scrubjay_counter_tokens(const Counter *own) { return own->found_tokens.items; }
SCRUBJAY_API const uint8_t *scrubjay_counter_counts(const Counter *own) { return own->found_counts.items; }

/* For each name that was read, return its last word, or 0 if it has none. */
SCRUBJAY_API void scrubjay_counter_whole_names(const Counter *own, uint64_t *to) {
    const int32_t *read = own->read.items, *starts = own->words_of.starts.items, *words = own->words_of.list.items;
    const uint64_t *tokens = own->tokens.items;
    for (int64_t i = 0; i < own->names; i++) {
        to[i] = 0;
        for (int64_t k = record_start(own, own->texts + i); k < noted_to(own, own->texts + i); k++) {
            if (read[k] < 0)
                k++;
            else if (starts[read[k] + 1] > starts[read[k]])
                to[i] = tokens[words[starts[read[k] + 1] - 1]];
        }
    }
}
