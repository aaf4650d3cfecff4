/* Builds the flow of a Python file. */

#include "flow_notes.h"

#define MAX_COPIED 20000000 /* names in copies of bindings: a file with more of them is declined */
#define MAX_LINKS 5000000
#define MAX_BYTES 200000000

/* -- memory -------------------------------------------------------------------------------------- */

noreturn void decline(Notes *notes) { longjmp(notes->declined, 1); }

void *enlarged(Notes *notes, void *items, int32_t used, int32_t *room, size_t size) {
    if (used < *room) return items;
    if (used > INT32_MAX / 4) decline(notes);
    int32_t wanted = used ? used * 2 : 32;
    void *larger = realloc(items, (size_t)wanted * size);
    if (!larger) decline(notes);
    *room = wanted;
    return larger;
}

void push(Notes *notes, Numbers *numbers, int32_t number) {
    numbers->items = enlarged(notes, numbers->items, numbers->used, &numbers->room, sizeof number);
    numbers->items[numbers->used++] = number;
}

int begin_notes(Notes *notes, Tree *tree) {
    *notes = (Notes){.tree = tree, .value_room = 256, .slot_room = 512, .link_room = 64, .value_count = 1, .link_count = 1};
    notes->stack.room = notes->params.room = notes->bases.room = 64;
    notes->stack.items = malloc(64 * sizeof(int32_t));
    notes->params.items = malloc(64 * sizeof(int32_t));
    notes->bases.items = malloc(64 * sizeof(int32_t));
    notes->values = malloc((size_t)notes->value_room * sizeof *notes->values);
    notes->slots = calloc((size_t)notes->slot_room, sizeof *notes->slots);
    notes->links = malloc((size_t)notes->link_room * sizeof *notes->links);
    put_bytes(&notes->nodes, "[\"?\"]", 5);
    int has_room = notes->stack.items && notes->params.items && notes->bases.items;
    if (!has_room || !notes->values || !notes->slots || !notes->links || notes->nodes.failed) {
        end_notes(notes);
        return 0;
    }
    notes->values[0] = (Value){.kind = '?'};
    return 1;
}

static void end_scope(Scope *scope) {
    map_end(&scope->globals);
    map_end(&scope->declared);
    map_end(&scope->attributes);
    free(scope);
}

void end_notes(Notes *notes) {
    while (notes->alive) drop(notes, notes->alive);
    for (int32_t i = 0; i < notes->scope_count; i++) end_scope(notes->scopes[i]);
    free(notes->scopes);
    free(notes->values);
    free(notes->slots);
    free(notes->links);
    free(notes->chains);
    free(notes->params.items);
    free(notes->bases.items);
    free(notes->exports.items);
    free(notes->stack.items);
    map_end(&notes->late);
    end_output(&notes->nodes);
    end_output(&notes->calls);
    end_output(&notes->stores);
    end_output(&notes->stars);
}

/* -- nodes --------------------------------------------------------------------------------------- */

void begin_node(Notes *notes, char kind) {
    char begun[] = {',', '[', '"', kind, '"'};
    notes->values = enlarged(notes, notes->values, notes->value_count, &notes->value_room, sizeof *notes->values);
    if (notes->nodes.used > MAX_BYTES) decline(notes);
    notes->values[notes->value_count] = (Value){.start = (uint32_t)notes->nodes.used, .kind = kind};
    put_bytes(&notes->nodes, begun, sizeof begun);
}

void put_part(Notes *notes, int64_t number) {
    put_sign(&notes->nodes, ',');
    put_number(&notes->nodes, number);
}

void put_none(Notes *notes) { put_bytes(&notes->nodes, ",null", 5); }

void put_literal(Notes *notes, const uint8_t *bytes, int32_t length) {
    put_sign(&notes->nodes, ',');
    put_text(&notes->nodes, bytes, length);
}

static void put_name_to(const Notes *notes, Output *output, int32_t name) {
    if (name == NO_NAME) put_bytes(output, "\"\"", 2);
    else put_text(output, notes->tree->names[name].bytes, notes->tree->names[name].length);
}

void put_name(Notes *notes, int32_t name) {
    put_sign(&notes->nodes, ',');
    put_name_to(notes, &notes->nodes, name);
}

static void begin_entry(Output *output, int is_first) {
    if (!is_first) put_sign(output, ',');
    put_sign(output, '[');
}

static void put_numbers(Output *output, const int32_t *numbers, int32_t count) {
    put_sign(output, '[');
    for (int32_t i = 0; i < count; i++) {
        if (i) put_sign(output, ',');
        put_number(output, numbers[i]);
    }
    put_sign(output, ']');
}

void put_parts(Notes *notes, const int32_t *parts, int32_t count, int32_t most) {
    put_sign(&notes->nodes, ',');
    put_numbers(&notes->nodes, parts, count < most ? count : most);
}

int32_t new_node(Notes *notes) {
    put_sign(&notes->nodes, ']');
    if (notes->nodes.failed) decline(notes);
    return notes->value_count++;
}

static uint32_t hash_of(const uint8_t *bytes, int64_t length) {
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 29);
}

static void enlarge_slots(Notes *notes) {
    if (notes->slot_room > INT32_MAX / 4) decline(notes);
    int32_t room = notes->slot_room * 2, *slots = calloc((size_t)room, sizeof *slots);
    if (!slots) decline(notes);
    for (int32_t i = 0; i < notes->slot_room; i++) {
        int32_t number = notes->slots[i];
        if (!number) continue;
        uint32_t slot = notes->values[number].hash & (uint32_t)(room - 1);
        while (slots[slot]) slot = (slot + 1) & (uint32_t)(room - 1);
        slots[slot] = number;
    }
    free(notes->slots);
    notes->slots = slots;
    notes->slot_room = room;
}

/* Nodes are equal exactly if their JSON is. A node ends where the next one begins. */
int32_t same_node(Notes *notes) {
    put_sign(&notes->nodes, ']');
    if (notes->nodes.failed) decline(notes);
    if (notes->interned * 2 >= notes->slot_room) enlarge_slots(notes);
    Value *made = notes->values + notes->value_count;
    const uint8_t *bytes = notes->nodes.bytes;
    int64_t length = notes->nodes.used - made->start;
    made->hash = hash_of(bytes + made->start, length);
    uint32_t slot = made->hash & (uint32_t)(notes->slot_room - 1);
    for (int32_t number; (number = notes->slots[slot]); slot = (slot + 1) & (uint32_t)(notes->slot_room - 1)) {
        const Value *known = notes->values + number;
        if (known->hash == made->hash && known[1].start - known->start == length && !memcmp(bytes + known->start, bytes + made->start, (size_t)length)) {
            notes->nodes.used = made->start;
            return number;
        }
    }
    notes->slots[slot] = notes->value_count;
    notes->interned++;
    return notes->value_count++;
}

int32_t node_of(Notes *notes, char kind, int32_t part) {
    begin_node(notes, kind);
    put_part(notes, part);
    return same_node(notes);
}

int32_t node_of_two(Notes *notes, char kind, int32_t part, int32_t other) {
    begin_node(notes, kind);
    put_part(notes, part);
    put_part(notes, other);
    return same_node(notes);
}

int32_t global_node(Notes *notes, const char *name) {
    begin_node(notes, A_GLOBAL);
    put_literal(notes, (const uint8_t *)name, (int32_t)strlen(name));
    return same_node(notes);
}

int32_t either_of(Notes *notes, int32_t first, int32_t second) {
    if (!first || !second || first == second) return first ? first : second;
    return node_of_two(notes, EITHER, first, second);
}

int32_t either_from(Notes *notes, int32_t place) {
    int32_t *parts = notes->stack.items + place, distinct = 0;
    int32_t mark = ++notes->either_count;
    for (int32_t i = 0; i < notes->stack.used - place; i++) {
        if (!parts[i] || notes->values[parts[i]].seen == mark) continue;
        notes->values[parts[i]].seen = mark;
        parts[distinct++] = parts[i];
    }
    notes->stack.used = place;
    if (distinct < 2) return distinct ? parts[0] : 0;
    begin_node(notes, EITHER);
    for (int32_t i = 0; i < distinct; i++) put_part(notes, parts[i]);
    return same_node(notes);
}

int32_t result_of_call(Notes *notes, int32_t function, int32_t line, int32_t start, int how, const int32_t *args, int32_t count,
                       const int32_t *named, int32_t named_count) {
    Output *calls = &notes->calls;
    begin_node(notes, RESULT);
    put_part(notes, notes->call_count);
    begin_entry(calls, !notes->call_count++);
    put_number(calls, function);
    put_sign(calls, ',');
    put_numbers(calls, args, count);
    put_bytes(calls, ",[", 2);
    for (int32_t i = 0; i < named_count; i++) {
        begin_entry(calls, !i);
        put_name_to(notes, calls, named[2 * i]);
        put_sign(calls, ',');
        put_number(calls, named[2 * i + 1]);
        put_sign(calls, ']');
    }
    put_bytes(calls, "],", 2);
    int32_t rest[] = {line, start, notes->scope->index, how};
    for (int i = 0; i < 4; i++) {
        if (i) put_sign(calls, ',');
        put_number(calls, rest[i]);
    }
    put_sign(calls, ']');
    if (calls->failed || calls->used > MAX_BYTES) decline(notes);
    return new_node(notes);
}

/* -- lists that grow while others do ------------------------------------------------------------- */

void link_to(Notes *notes, Chain *chain, int32_t node, int32_t key) {
    if (notes->link_count > MAX_LINKS) decline(notes);
    notes->links = enlarged(notes, notes->links, notes->link_count, &notes->link_room, sizeof *notes->links);
    int32_t number = notes->link_count++;
    notes->links[number] = (Link){node, key, 0};
    if (chain->last) notes->links[chain->last].next = number;
    else chain->first = number;
    chain->last = number;
}

void append_in(Notes *notes, NameMap *map, int32_t name, int32_t node, int32_t key) {
    int32_t number = map_get(map, name, -1);
    if (number < 0) {
        notes->chains = enlarged(notes, notes->chains, notes->chain_count, &notes->chain_room, sizeof *notes->chains);
        number = notes->chain_count++;
        notes->chains[number] = (Chain){0};
        if (!map_set(map, name, number)) decline(notes);
    }
    link_to(notes, notes->chains + number, node, key);
}

int32_t first_in(const Notes *notes, const NameMap *map, int32_t name) {
    int32_t number = map_get(map, name, -1);
    return number < 0 ? 0 : notes->chains[number].first;
}

void add_store(Notes *notes, int32_t base, int32_t name, int32_t node) {
    Output *stores = &notes->stores;
    begin_entry(stores, !stores->used);
    put_number(stores, base);
    put_sign(stores, ',');
    put_name_to(notes, stores, name);
    put_sign(stores, ',');
    put_number(stores, node);
    put_sign(stores, ']');
}

void note_star(Notes *notes, int32_t module, int32_t level) {
    Output *stars = &notes->stars;
    begin_entry(stars, !stars->used);
    put_name_to(notes, stars, module);
    put_sign(stars, ',');
    put_number(stars, level);
    put_sign(stars, ']');
}

/* -- what names are bound to --------------------------------------------------------------------- */

static Bindings *new_bindings(Notes *notes) {
    Bindings *made = calloc(1, sizeof *made);
    if (!made) decline(notes);
    made->behind = notes->alive;
    if (notes->alive) notes->alive->before = made;
    notes->alive = made;
    return made;
}

Bindings *copied(Notes *notes, const Bindings *bindings) {
    notes->copied += bindings->map.count;
    if (notes->copied > MAX_COPIED) decline(notes);
    Bindings *made = new_bindings(notes);
    if (!map_copy(&made->map, &bindings->map)) decline(notes);
    return made;
}

void drop(Notes *notes, Bindings *bindings) {
    if (bindings->before) bindings->before->behind = bindings->behind;
    else notes->alive = bindings->behind;
    if (bindings->behind) bindings->behind->before = bindings->before;
    map_end(&bindings->map);
    free(bindings);
}

void set_name(Notes *notes, Bindings *bindings, int32_t name, int32_t node) {
    if (!map_set(&bindings->map, name, node)) decline(notes);
}

/* Most names are at the same index in both maps, since one is a copy of the other or both are of a third. */
void join(Notes *notes, Bindings *bindings, const Bindings *other) {
    for (int32_t i = 0; i < other->map.used; i++) {
        NameEntry entry = other->map.entries[i];
        if (entry.key == NO_KEY) continue;
        int is_here = i < bindings->map.used && bindings->map.entries[i].key == entry.key;
        int32_t here = is_here ? bindings->map.entries[i].value : map_get(&bindings->map, entry.key, 0);
        if (here == entry.value) continue;
        set_name(notes, bindings, entry.key, either_of(notes, here, entry.value));
    }
}

/* -- scopes -------------------------------------------------------------------------------------- */

Scope *open_scope(Notes *notes, char kind, int32_t name, Scope *parent, int32_t line) {
    notes->scopes = enlarged(notes, notes->scopes, notes->scope_count, &notes->scope_room, sizeof *notes->scopes);
    Scope *scope = calloc(1, sizeof *scope);
    if (!scope) decline(notes);
    scope->kind = kind;
    scope->index = notes->scope_count;
    scope->name = name;
    scope->parent = parent;
    scope->line = line;
    scope->self_name = NO_NAME;
    notes->scopes[notes->scope_count++] = scope;
    scope->env = new_bindings(notes);
    return scope;
}

int32_t value_of(Notes *notes, int32_t name) {
    for (const Scope *scope = notes->scope; scope; scope = scope->parent) {
        if (scope != notes->scope && scope->kind == 'c') continue;
        int32_t node = bound_to(scope->env, name);
        if (node != NOT_BOUND && !is_outside(scope, name)) return node;
    }
    begin_node(notes, A_GLOBAL);
    put_name(notes, name);
    return same_node(notes);
}

/* Return the enclosing scope that has this name as a variable. */
Scope *enclosing_scope_of(Notes *notes, int32_t name) {
    Scope *scope = notes->scope->parent;
    while (scope && (scope->kind == 'c' || bound_to(scope->env, name) == NOT_BOUND)) scope = scope->parent;
    return scope;
}

/* Return the class whose method has this name as its first parameter. */
Scope *class_of_receiver(Notes *notes, int32_t owner) {
    for (Scope *scope = notes->scope; scope && scope->kind == 'f'; scope = scope->parent)
        if (scope->self_name == owner) return scope->parent;
    return NULL;
}

void bind_name(Notes *notes, int32_t name, int32_t node) {
    Scope *scope = notes->scope;
    if (is_outside(scope, name)) {
        Scope *home = enclosing_scope_of(notes, name);
        if (!home) home = notes->scopes[0];
        set_name(notes, home->env, name, either_of(notes, map_get(&home->env->map, name, 0), node));
        return;
    }
    set_name(notes, scope->env, name, node);
    if (node) append_in(notes, &scope->declared, name, node, 0);
}

/* -- writing ------------------------------------------------------------------------------------- */

static void write_all(Output *flow, const Output *written) {
    put_bytes(flow, ",[", 2);
    put_bytes(flow, written->bytes, written->used);
    put_sign(flow, ']');
}

static void write_bindings(const Notes *notes, Output *flow, const NameMap *map) {
    put_bytes(flow, ",{", 2);
    int32_t place = 0, written = 0;
    for (const NameEntry *entry; (entry = map_next(map, &place));) {
        if (written++) put_sign(flow, ',');
        put_name_to(notes, flow, entry->key);
        put_sign(flow, ':');
        put_number(flow, entry->value);
    }
    put_sign(flow, '}');
}

static void write_chain(const Notes *notes, Output *flow, Chain chain) {
    put_sign(flow, '[');
    for (int32_t link = chain.first; link; link = notes->links[link].next) {
        if (link != chain.first) put_sign(flow, ',');
        put_number(flow, notes->links[link].node);
    }
    put_sign(flow, ']');
}

static void write_attributes(const Notes *notes, Output *flow, const NameMap *map) {
    put_bytes(flow, ",{", 2);
    int32_t place = 0, written = 0;
    for (const NameEntry *entry; (entry = map_next(map, &place));) {
        if (written++) put_sign(flow, ',');
        put_name_to(notes, flow, entry->key);
        put_sign(flow, ':');
        write_chain(notes, flow, notes->chains[entry->value]);
    }
    put_sign(flow, '}');
}

static void write_params(const Notes *notes, Output *flow, Run params) {
    put_bytes(flow, ",[", 2);
    for (int32_t i = 0; i < params.count; i++) {
        const int32_t *param = notes->params.items + params.first + 4 * i;
        begin_entry(flow, !i);
        put_name_to(notes, flow, param[0]);
        for (int part = 1; part < 4; part++) {
            put_sign(flow, ',');
            put_number(flow, param[part]);
        }
        put_sign(flow, ']');
    }
    put_sign(flow, ']');
}

static void write_scope(const Notes *notes, Output *flow, const Scope *scope) {
    const char begun[] = {'[', '"', scope->kind, '"', ','};
    put_bytes(flow, begun, sizeof begun);
    put_name_to(notes, flow, scope->name);
    put_sign(flow, ',');
    put_number(flow, scope->parent ? scope->parent->index : -1);
    put_sign(flow, ',');
    put_number(flow, scope->line);
    if (scope->kind != 'f') write_bindings(notes, flow, &scope->env->map);
    else put_bytes(flow, ",{}", 3);
    write_params(notes, flow, scope->params);
    put_sign(flow, ',');
    put_numbers(flow, notes->bases.items + scope->bases.first, scope->bases.count);
    write_attributes(notes, flow, &scope->attributes);
    put_sign(flow, ',');
    write_chain(notes, flow, scope->returns);
    put_sign(flow, ',');
    write_chain(notes, flow, scope->yields);
    put_sign(flow, ',');
    put_number(flow, scope->result);
    put_sign(flow, ']');
}

static void write_late(const Notes *notes, Output *flow) {
    put_bytes(flow, ",{", 2);
    int32_t place = 0, written = 0;
    for (const NameEntry *entry; (entry = map_next(&notes->late, &place));) {
        if (written++) put_sign(flow, ',');
        put_sign(flow, '"');
        put_number(flow, entry->key);
        put_bytes(flow, "\":[", 3);
        int32_t first = notes->chains[entry->value].first;
        for (int32_t link = first; link; link = notes->links[link].next) {
            begin_entry(flow, link == first);
            put_number(flow, notes->links[link].key);
            put_sign(flow, ',');
            put_number(flow, notes->links[link].node);
            put_sign(flow, ']');
        }
        put_sign(flow, ']');
    }
    put_sign(flow, '}');
}

static void write_exports(const Notes *notes, Output *flow) {
    if (!notes->has_exports) {
        put_bytes(flow, ",null", 5);
        return;
    }
    put_bytes(flow, ",[", 2);
    for (int32_t i = 0; i < notes->exports.used; i++) {
        const Text *text = notes->tree->texts + notes->exports.items[i];
        if (i) put_sign(flow, ',');
        put_text(flow, text->bytes, text->length);
    }
    put_sign(flow, ']');
}

void write_notes(Notes *notes, Output *flow) {
    put_bytes(flow, "[1", 2); /* the version */
    write_all(flow, &notes->nodes);
    put_bytes(flow, ",[", 2);
    for (int32_t i = 0; i < notes->scope_count; i++) {
        if (i) put_sign(flow, ',');
        write_scope(notes, flow, notes->scopes[i]);
    }
    put_sign(flow, ']');
    write_all(flow, &notes->calls);
    write_all(flow, &notes->stores);
    write_all(flow, &notes->stars);
    write_late(notes, flow);
    write_exports(notes, flow);
    put_sign(flow, ']');
    if (flow->failed || notes->stores.failed || notes->stars.failed) decline(notes);
}
