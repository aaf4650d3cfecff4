/* Sorts the facts of a Python file and writes them as JSON. */

#include <stdlib.h>
#include <string.h>

#include "symbols_walk.h"

static const char *const USE_KINDS[] = {
    "\"call\"", "\"inherit\"", "\"decorate\"", "\"raise\"", "\"catch\"", "\"type\"", "\"read\"", "\"write\"",
};
static const char *const SYMBOL_KINDS[] = {
    "\"class\"", "\"enum\"", "\"member\"", "\"type\"", "\"function\"", "\"method\"",
    "\"constructor\"", "\"signature\"", "\"field\"", "\"variable\"", "\"constant\"",
};

/* Return whether a read refers to a local variable. Members of a method's own object do not count as such: they are uses of the class's
   field or
   method. */
static int is_variable(const Reading *reading, const Use *read) {
    if (read->root == NO_NAME) return 0;
    int32_t at = read->scope;
    for (int32_t i = 0; i < MAX_SCOPE && at >= 0; i++) {
        const Scope *scope = scope_at(reading, at);
        if (scope->is_function && map_has(&scope->names, read->root)) {
            int32_t length = name_at(reading, read->root)->length;
            return scope->receiver != read->root || read->path.length <= length || bytes_of(reading, read->path)[length] != '.';
        }
        at = scope->parent;
    }
    return 0;
}

/* Append the reads that may refer to something defined outside of functions to the uses, scope by scope. */
static void keep_global_reads(Reading *reading) {
    Use *reads = reading->reads.items;
    int64_t kept = 0;
    for (int64_t i = 0; i < reading->reads.used; i++)
        if (!is_variable(reading, reads + i)) reads[kept++] = reads[i];
    if (!kept) return;
    int64_t scopes = reading->scopes.used, all = reading->uses.used + kept;
    int64_t *places = calloc((size_t)scopes + 1, sizeof *places);
    Use *uses = places ? realloc(reading->uses.items, (size_t)all * sizeof *uses) : NULL;
    if (uses) {
        reading->uses.items = uses;
        reading->uses.room = all;
        for (int64_t i = 0; i < kept; i++) places[reads[i].scope + 1]++;
        places[0] = reading->uses.used;
        for (int64_t i = 1; i <= scopes; i++) places[i] += places[i - 1];
        for (int64_t i = 0; i < kept; i++) uses[places[reads[i].scope]++] = reads[i];
        reading->uses.used = all;
    } else {
        reading->failed = 1;
    }
    free(places);
}

/* Sort uses by start; the sort is stable. */
static void sort_uses(Reading *reading) {
    int64_t count = reading->uses.used;
    if (count < 2) return;
    Use *uses = reading->uses.items, *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted) {
        reading->failed = 1;
        return;
    }
    for (int32_t shift = 0; shift < 32 && reading->tree->length >> shift; shift += 8) {
        int64_t places[257] = {0};
        for (int64_t i = 0; i < count; i++) places[((uint32_t)uses[i].start >> shift & 255) + 1]++;
        for (int32_t i = 1; i < 257; i++) places[i] += places[i - 1];
        for (int64_t i = 0; i < count; i++) sorted[places[(uint32_t)uses[i].start >> shift & 255]++] = uses[i];
        Use *swapped = uses;
        uses = sorted;
        sorted = swapped;
    }
    reading->uses.items = uses;
    reading->uses.room = count;
    free(sorted);
}

typedef struct {
    int32_t start, end, place;
} Order;

static int compare(const void *left, const void *right) {
    const Order *a = left, *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* Sort symbols by start, longer ones first, and adjust the indexes that refer to them. */
static void sort_symbols(Reading *reading) {
    int64_t count = reading->symbols.used, in_order = 1;
    Symbol *symbols = reading->symbols.items;
    for (; in_order < count; in_order++) {
        const Symbol *before = symbols + in_order - 1, *now = symbols + in_order;
        if (before->start > now->start || (before->start == now->start && before->end < now->end)) break;
    }
    if (in_order >= count) return;
    Order *order = malloc((size_t)count * sizeof *order);
    int32_t *moved = malloc((size_t)count * sizeof *moved);
    Symbol *sorted = malloc((size_t)count * sizeof *sorted);
    if (order && moved && sorted) {
        for (int64_t i = 0; i < count; i++) order[i] = (Order){symbols[i].start, symbols[i].end, (int32_t)i};
        qsort(order, (size_t)count, sizeof *order, compare);
        for (int64_t i = 0; i < count; i++) {
            moved[order[i].place] = (int32_t)i;
            sorted[i] = symbols[order[i].place];
        }
        for (int64_t i = 0; i < count; i++)
            if (sorted[i].container >= 0) sorted[i].container = moved[sorted[i].container];
        memcpy(symbols, sorted, (size_t)count * sizeof *sorted);
        Import *imports = reading->imports.items;
        for (int64_t i = 0; i < reading->imports.used; i++)
            if (imports[i].container >= 0) imports[i].container = moved[imports[i].container];
        Use *uses = reading->uses.items;
        for (int64_t i = 0; i < reading->uses.used; i++)
            if (uses[i].container >= 0) uses[i].container = moved[uses[i].container];
    } else {
        reading->failed = 1;
    }
    free(order);
    free(moved);
    free(sorted);
}

static uint64_t hash_of(const uint8_t *bytes, int64_t length) {
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* Return the slot of an exported name, or the free slot where it would be. */
static uint64_t export_slot(const Reading *reading, const int32_t *slots, uint64_t mask, const uint8_t *bytes, int64_t length) {
    const Piece *exports = reading->exports.items;
    for (uint64_t slot = hash_of(bytes, length) & mask;; slot = (slot + 1) & mask) {
        if (!slots[slot]) return slot;
        const Piece *known = exports + slots[slot] - 1;
        if (known->length == length && !memcmp(reading->tree->content + known->start, bytes, (size_t)length)) return slot;
    }
}

/* Mark only the names in `__all__` as exported, if the file defines it. */
static void mark_exported(Reading *reading) {
    int64_t count = reading->exports.used;
    if (!count) return;
    uint64_t room = 16;
    while (room < (uint64_t)count * 2) room *= 2;
    int32_t *slots = calloc(room, sizeof *slots);
    if (!slots) {
        reading->failed = 1;
        return;
    }
    const Piece *exports = reading->exports.items;
    for (int64_t i = 0; i < count; i++)
        slots[export_slot(reading, slots, room - 1, reading->tree->content + exports[i].start, exports[i].length)] = (int32_t)i + 1;
    Symbol *symbols = reading->symbols.items;
    for (int64_t i = 0; i < reading->symbols.used; i++) {
        const Text *name = name_at(reading, symbols[i].name);
        if (symbols[i].container < 0) symbols[i].exported = slots[export_slot(reading, slots, room - 1, name->bytes, name->length)] != 0;
    }
    Import *imports = reading->imports.items;
    for (int64_t i = 0; i < reading->imports.used; i++) {
        int32_t known_as = imports[i].alias != NO_NAME ? imports[i].alias : imports[i].name;
        const uint8_t *bytes = known_as == NO_NAME ? reading->texts.bytes + imports[i].module.start : name_at(reading, known_as)->bytes;
        int32_t length = known_as == NO_NAME ? imports[i].module.length : name_at(reading, known_as)->length;
        if (slots[export_slot(reading, slots, room - 1, bytes, length)]) imports[i].exported = 1;
    }
    free(slots);
}

void sort_results(Reading *reading) {
    keep_global_reads(reading);
    mark_exported(reading);
    sort_uses(reading);
    sort_symbols(reading);
}

/* -- as JSON ------------------------------------------------------------------------------------- */

static void put_plain(Output *output, const char *text) { put_bytes(output, text, (int64_t)strlen(text)); }

static void put_bool(Output *output, int is_true) { put_plain(output, is_true ? "true" : "false"); }

/* Write a name, or an empty text; its characters need no escapes. */
static void put_named(Output *output, const Reading *reading, int32_t name) {
    put_sign(output, '"');
    if (name != NO_NAME) put_bytes(output, name_at(reading, name)->bytes, name_at(reading, name)->length);
    put_sign(output, '"');
}

static void put_piece(Output *output, const Reading *reading, Piece piece) { put_bytes(output, reading->texts.bytes + piece.start, piece.length); }

#define COLUMN(output, list, type, each, write)                          \
    do {                                                                 \
        put_sign(output, '[');                                           \
        const type *each = (list).items;                                 \
        for (int64_t left = (list).used; left; left--, each++) {         \
            write;                                                       \
            if (left > 1) put_sign(output, ',');                         \
        }                                                                \
        put_sign(output, ']');                                           \
    } while (0)
#define NEXT_COLUMN(output, list, type, each, write) \
    do {                                             \
        put_sign(output, ',');                       \
        COLUMN(output, list, type, each, write);     \
    } while (0)

void write_outline(Reading *reading, Piece doc, Output *out) {
    List symbols = reading->symbols;
    put_plain(out, "[\"python\",");
    put_number(out, reading->tree->line_count - 2);
    put_sign(out, ',');
    put_piece(out, reading, doc);
    put_plain(out, ",[");
    COLUMN(out, symbols, Symbol, each, put_named(out, reading, each->name));
    NEXT_COLUMN(out, symbols, Symbol, each, put_plain(out, SYMBOL_KINDS[each->kind]));
    put_plain(out, ",[");
    COLUMN(out, symbols, Symbol, each, put_number(out, each->start));
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, each->end));
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, line_of_byte(reading, each->start)));
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, line_of_byte(reading, each->end - 1 > each->start ? each->end - 1 : each->start)));
    put_sign(out, ']');
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, each->line));
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, each->container));
    NEXT_COLUMN(out, symbols, Symbol, each, put_piece(out, reading, each->signature));
    NEXT_COLUMN(out, symbols, Symbol, each, put_piece(out, reading, each->doc));
    NEXT_COLUMN(out, symbols, Symbol, each, put_bool(out, each->exported));
    NEXT_COLUMN(out, symbols, Symbol, each, put_piece(out, reading, each->bases));
    NEXT_COLUMN(out, symbols, Symbol, each, put_piece(out, reading, each->decorators));
    NEXT_COLUMN(out, symbols, Symbol, each, ((void)each, put_plain(out, "\"\"")));
    put_sign(out, ']');
    NEXT_COLUMN(out, reading->imports, Import, each, {
        put_sign(out, '[');
        put_text(out, reading->texts.bytes + each->module.start, each->module.length);
        put_sign(out, ',');
        put_named(out, reading, each->name);
        put_sign(out, ',');
        put_named(out, reading, each->alias);
        put_sign(out, ',');
        put_number(out, each->line);
        put_sign(out, ',');
        put_number(out, each->container);
        put_sign(out, ',');
        put_bool(out, each->exported);
        put_sign(out, ']');
    });
    NEXT_COLUMN(out, reading->exports, Piece, each, {
        put_sign(out, '[');
        put_text(out, reading->tree->content + each->start, each->length);
        put_sign(out, ',');
        put_text(out, reading->tree->content + each->start, each->length);
        put_sign(out, ']');
    });
    put_plain(out, ",[]]");
}

void write_uses(Reading *reading, Output *out) {
    List uses = reading->uses;
    put_sign(out, '[');
    COLUMN(out, uses, Use, each, put_plain(out, USE_KINDS[each->kind]));
    NEXT_COLUMN(out, uses, Use, each, {
        put_sign(out, '"');
        put_bytes(out, bytes_of(reading, each->path), each->path.length);
        put_sign(out, '"');
    });
    const int32_t *starts = reading->tree->line_starts;
    int32_t line = 1, lines = reading->tree->line_count;
    NEXT_COLUMN(out, uses, Use, each, {
        while (line + 1 < lines && starts[line + 1] <= each->start) line++;
        put_number(out, line);
    });
    NEXT_COLUMN(out, uses, Use, each, put_number(out, each->start));
    NEXT_COLUMN(out, uses, Use, each, put_number(out, each->container));
    put_sign(out, ']');
}
