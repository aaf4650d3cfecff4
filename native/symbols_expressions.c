/* Reads the uses in the expressions of a Python file, and the names that its targets bind. */

#include <stdlib.h>
#include <string.h>

#include "symbols_walk.h"

void *one_more(Reading *reading, List *list, size_t size) {
    if (list->used == list->room) {
        int64_t room = list->room ? list->room * 2 : 64;
        void *items = realloc(list->items, (size_t)room * size);
        if (!items) {
            reading->failed = 1;
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + (size_t)list->used++ * size;
}

int32_t add_symbol(Reading *reading, Symbol symbol) {
    Symbol *place = one_more(reading, &reading->symbols, sizeof *place);
    if (!place) return -1;
    *place = symbol;
    return (int32_t)reading->symbols.used - 1;
}

/* -- names with what they are taken of ----------------------------------------------------------- */

static inline void put_name(Reading *reading, int32_t name) {
    const Text *text = name_at(reading, name);
    put_bytes(&reading->paths, text->bytes, text->length);
}

Path path_of(Reading *reading, Ref ref) {
    Output *paths = &reading->paths;
    const Node *node = node_at(reading, ref);
    int64_t before = paths->used;
    if (node->kind == NAME) {
        put_name(reading, node->name);
        return (Path){since(paths, before), node->start, node->name, 0};
    }
    int32_t parts[MAX_CHAIN]; /* names of attributes, or one of these constants */
    enum { CALLED = -2, ENTRY = -3 };
    int32_t used = 0, start = -1, root = NO_NAME, link = 0;
    Ref inner = 0;
    for (; link < MAX_CHAIN; link++) {
        if (node->kind == ATTRIBUTE) {
            if (start < 0) start = node->end - name_at(reading, node->name)->length;
            parts[used++] = node->name;
        } else if (node->kind == NAME) {
            root = node->name;
            break;
        } else {
            if (!inner) inner = ref;
            if (node->kind == CALL) parts[used++] = CALLED;
            else if (node->kind == SUBSCRIPT) parts[used++] = ENTRY;
            else if (node->kind != AWAIT) break;
        }
        ref = node->a;
        node = node_at(reading, ref);
    }
    if (link == MAX_CHAIN && !inner) inner = ref;
    if (root != NO_NAME) put_name(reading, root);
    while (used--) {
        if (parts[used] == CALLED) put_bytes(paths, "()", 2);
        else if (parts[used] == ENTRY) put_bytes(paths, "[]", 2);
        else {
            put_sign(paths, '.');
            put_name(reading, parts[used]);
        }
    }
    return (Path){since(paths, before), start < 0 ? node->start : start, root, inner};
}

void add_use(Reading *reading, UseKind kind, Piece path, int32_t start, int32_t container) {
    Use *place = one_more(reading, &reading->uses, sizeof *place);
    if (place) *place = (Use){start, container, path, NO_NAME, 0, kind};
}

void add_read(Reading *reading, UseKind kind, const Path *path) {
    Use *place = one_more(reading, &reading->reads, sizeof *place);
    if (place) *place = (Use){path->start, reading->container, path->path, path->root, reading->scope, kind};
}

Path add_path_use(Reading *reading, UseKind kind, Ref ref, int32_t container) {
    Path path = path_of(reading, ref);
    if (path.path.length) add_use(reading, kind, path.path, path.start, container);
    if (path.inner) walk_expression(reading, path.inner);
    return path;
}

void note_read(Reading *reading, UseKind kind, Ref ref) {
    Path path = path_of(reading, ref);
    if (path.path.length) add_read(reading, kind, &path);
    if (path.inner) walk_expression(reading, path.inner);
}

static void use_name(Reading *reading, UseKind kind, int32_t name, int32_t start, int32_t container) {
    int64_t before = reading->paths.used;
    put_name(reading, name);
    add_use(reading, kind, since(&reading->paths, before), start, container);
}

/* -- scopes -------------------------------------------------------------------------------------- */

int32_t scope_within(Reading *reading, int32_t symbol, int is_class) {
    Scope *scope = one_more(reading, &reading->scopes, sizeof *scope);
    if (!scope) return reading->scope;
    *scope = (Scope){.parent = reading->scope, .symbol = symbol, .receiver = NO_NAME, .is_class = is_class != 0, .is_function = !is_class};
    return (int32_t)reading->scopes.used - 1;
}

void hold_name(Reading *reading, int32_t scope, int32_t name) {
    if (!map_set(&scope_at(reading, scope)->names, name, 1)) reading->failed = 1;
}

/* -- types --------------------------------------------------------------------------------------- */

static void walk_all_types(Reading *reading, Run run, int32_t container) {
    for (int32_t i = 0; i < run.count; i++) walk_types(reading, item_of(reading, run, i), container);
}

/* Return the end of the path that starts here; `at` itself if none does. */
static int32_t path_end(const uint8_t *content, int32_t at, int32_t end, int32_t *last_name) {
    while (at < end && (is_letter(content[at]) || content[at] == '_')) {
        *last_name = at;
        while (at < end && is_word(content[at])) at++;
        if (end - at < 2 || content[at] != '.' || !(is_letter(content[at + 1]) || content[at + 1] == '_')) break;
        at++;
    }
    return at;
}

static void type_between(Reading *reading, int32_t start, int32_t end, int32_t last_name, int32_t container) {
    int64_t before = reading->paths.used;
    put_bytes(&reading->paths, reading->tree->content + start, end - start);
    add_use(reading, USES_TYPE, since(&reading->paths, before), last_name, container);
}

void walk_types(Reading *reading, Ref ref, int32_t container) {
    if (!ref || reading->failed) return;
    if (++reading->depth > MAX_DEPTH) reading->failed = 1;
    const Node *node = node_at(reading, ref);
    const uint8_t *content = reading->tree->content;
    int32_t start = node->start, end = node->end, last_name = 0;
    switch (reading->failed ? NOTHING : (Kind)node->kind) {
    case NAME:
        use_name(reading, USES_TYPE, node->name, start, container);
        break;
    case ATTRIBUTE:
        if (end - start <= MAX_PATH && path_end(content, start, end, &last_name) == end)
            type_between(reading, start, end, last_name, container);
        break;
    case TEXT:
        if (end - start > MAX_PATH) end = start + MAX_PATH;
        while (start < end) {
            int32_t behind = path_end(content, start, end, &last_name);
            if (behind > start) type_between(reading, start, behind, last_name, container);
            start = behind > start ? behind : start + 1;
        }
        break;
    case CALL:
        walk_expression(reading, ref);
        break;
    case BYTES:
    case WHOLE:
    case OTHER:
    case NOTHING:
        break;
    case LAMBDA: /* its parameters are not expressions */
        walk_types(reading, node->b, container);
        break;
    case LIST_OF:
    case SET_OF:
    case GENERATOR: /* nor are its clauses */
        walk_types(reading, node->a, container);
        break;
    case DICT_OF:
    case STARRED:
    case SUBSCRIPT:
    case SLICE:
    case BINARY:
    case UNARY:
    case IF_ELSE:
    case AWAIT:
    case YIELD:
    case YIELD_FROM:
    case NAMED:
        walk_types(reading, node->a, container);
        walk_types(reading, node->b, container);
        walk_types(reading, node->c, container);
        break;
    case LIST:
    case TUPLE:
    case SET:
    case DICT:
    case COMPARE:
    case BOOLEAN:
        walk_types(reading, node->a, container);
        walk_all_types(reading, node->items, container);
        walk_all_types(reading, node->more, container);
        break;
    default: /* an f-string, for whose parts Python reports other positions */
        reading->failed = 1;
    }
    reading->depth--;
}

/* -- what binds names ---------------------------------------------------------------------------- */

static void add_variable(Reading *reading, int32_t name, SymbolKind kind, const Node *node, int32_t start, int32_t end, int32_t container) {
    int32_t comments_end, above = take_above(reading, start, &comments_end);
    Symbol symbol = {
        .name = name,
        .start = above,
        .end = end,
        .line = line_of_byte(reading, node->end - 1),
        .container = container,
        .kind = (uint8_t)kind,
        .exported = (uint8_t)is_public(reading, name),
        .bases = EMPTY_LIST,
        .decorators = EMPTY_LIST,
    };
    symbol.doc = comments_end ? comment_text(reading, above, comments_end) : EMPTY_TEXT;
    symbol.signature = signature_of(reading, start, end);
    add_symbol(reading, symbol);
}

static int is_upper(const Text *text) {
    int has_letter = 0;
    for (int32_t i = 0; i < text->length; i++) {
        if (text->bytes[i] >= 'a' && text->bytes[i] <= 'z') return 0;
        has_letter |= is_letter(text->bytes[i]);
    }
    return has_letter;
}

void take_name(Reading *reading, int32_t name, const Node *node, int32_t start, int32_t end, Ref annotation) {
    Scope *scope = scope_at(reading, reading->scope);
    if (scope->is_function) {
        if (map_has(&scope->elsewhere, name)) use_name(reading, USES_WRITE, name, node->start, reading->container);
        else hold_name(reading, reading->scope, name);
        return;
    }
    if (start < 0 || map_has(&scope->names, name)) return;
    hold_name(reading, reading->scope, name);
    const Text *text = name_at(reading, name);
    SymbolKind kind;
    if (scope->is_class) {
        kind = scope->is_enum && text->bytes[0] != '_' ? IS_MEMBER : IS_FIELD;
    } else {
        kind = is_upper(text) ? IS_CONSTANT : IS_VARIABLE;
        if (annotation) {
            const Node *written = node_at(reading, annotation);
            int32_t from = written->start;
            if (ends_with(reading->tree->content + from, written->end - from, "TypeAlias")) kind = IS_TYPE;
        }
    }
    add_variable(reading, name, kind, node, start, end, reading->container);
}

/* Add a field of the class when a method first assigns it on its object. */
static void bind_field(Reading *reading, Piece path, const Node *node, int32_t start, int32_t end) {
    const Scope *scope = scope_at(reading, reading->scope);
    int32_t of = path.length - name_at(reading, node->name)->length - 1; /* length of the object's path */
    if (start < 0 || scope->parent < 0 || !scope_at(reading, scope->parent)->is_class || of < 0 || reading->paths.failed) return;
    static const uint8_t nothing[1] = {0};
    const Text *receiver = scope->receiver == NO_NAME ? NULL : name_at(reading, scope->receiver);
    const uint8_t *expected = receiver ? receiver->bytes : nothing;
    if (of != (receiver ? receiver->length : 0) || memcmp(bytes_of(reading, path), expected, (size_t)of)) return;
    int32_t owner = scope->parent;
    if (map_has(&scope_at(reading, owner)->names, node->name)) return;
    hold_name(reading, owner, node->name);
    add_variable(reading, node->name, IS_FIELD, node, start, end, scope_at(reading, owner)->symbol);
}

void bind_target(Reading *reading, Ref target, int32_t start, int32_t end, Ref annotation) {
    if (reading->failed) return;
    if (++reading->depth > MAX_DEPTH) reading->failed = 1;
    const Node *node = node_at(reading, target);
    switch (reading->failed ? NOTHING : (Kind)node->kind) {
    case NOTHING:
        break;
    case NAME:
        take_name(reading, node->name, node, start, end, annotation);
        break;
    case ATTRIBUTE:
        bind_field(reading, add_path_use(reading, USES_WRITE, target, reading->container).path, node, start, end);
        break;
    case TUPLE:
    case LIST:
        for (int32_t i = 0; i < node->items.count; i++) bind_target(reading, item_of(reading, node->items, i), start, end, 0);
        break;
    case STARRED:
        bind_target(reading, node->a, start, end, 0);
        break;
    default:
        walk_expression(reading, target);
    }
    reading->depth--;
}

/* -- expressions --------------------------------------------------------------------------------- */

void walk_expressions(Reading *reading, Run run) {
    for (int32_t i = 0; i < run.count; i++) walk_expression(reading, item_of(reading, run, i));
}

void export_value(Reading *reading, Ref value) {
    const Node *node = node_at(reading, value);
    if (++reading->depth > MAX_DEPTH) reading->failed = 1;
    if (reading->failed) return;
    if (node->kind == TEXT) {
        Piece name;
        if (literal_text(reading, node->start, node->end, &name)) {
            Piece *place = one_more(reading, &reading->exports, sizeof *place);
            if (place) *place = name;
        }
    } else if (node->kind == TUPLE || node->kind == LIST) {
        for (int32_t i = 0; i < node->items.count; i++) export_value(reading, item_of(reading, node->items, i));
    } else if (node->kind == BINARY) {
        export_value(reading, node->a);
        export_value(reading, node->b);
    }
    reading->depth--;
}

void add_import(Reading *reading, Piece module, int32_t name, int32_t alias, int32_t line, int is_exported) {
    Import *place = one_more(reading, &reading->imports, sizeof *place);
    if (place) *place = (Import){module, name, alias, line, reading->container, is_exported != 0};
}

Piece kept_text(Reading *reading, const uint8_t *bytes, int64_t length) {
    int64_t start = reading->texts.used;
    put_bytes(&reading->texts, bytes, length);
    return since(&reading->texts, start);
}

static void import_by_text(Reading *reading, Run arguments) {
    if (!arguments.count) return;
    const Node *node = node_at(reading, item_of(reading, arguments, 0));
    Piece module;
    int32_t start = node->start;
    if (!is_text(node) || !literal_text(reading, start, node->end, &module)) return;
    add_import(reading, kept_text(reading, reading->tree->content + module.start, module.length), NO_NAME, NO_NAME, line_of_byte(reading, start), 0);
}

static void read_call(Reading *reading, const Node *node) {
    Path called = path_of(reading, node->a);
    Piece path = called.path;
    int imports = 0, exports = 0;
    if (path.length && !reading->paths.failed) {
        add_use(reading, USES_CALL, path, called.start, reading->container);
        const uint8_t *bytes = bytes_of(reading, path);
        imports = is_same(bytes, path.length, "importlib.import_module") || is_same(bytes, path.length, "import_module") ||
                  is_same(bytes, path.length, "__import__");
        exports = reading->container < 0 && path.length >= 8 && !memcmp(bytes, "__all__.", 8);
    }
    if (called.inner) walk_expression(reading, called.inner);
    if (imports) import_by_text(reading, node->items);
    for (int32_t i = 0; exports && i < node->items.count; i++) export_value(reading, item_of(reading, node->items, i));
    walk_expressions(reading, node->items);
    for (int32_t i = 0; i < node->more.count; i++) walk_expression(reading, node_at(reading, item_of(reading, node->more, i))->a);
}

void take_parameters(Reading *reading, Ref arguments, int32_t inside, int32_t symbol) {
    if (!arguments) return;
    const Node *node = node_at(reading, arguments);
    Run runs[2] = {node->items, node->more};
    Ref several[2] = {node->a, node->b};
    for (int32_t r = 0; r < 2; r++)
        for (int32_t i = 0; i < runs[r].count; i++) {
            const Node *argument = node_at(reading, item_of(reading, runs[r], i));
            hold_name(reading, inside, argument->name);
            walk_types(reading, argument->a, symbol);
        }
    for (int32_t i = 0; i < 2; i++)
        if (several[i]) {
            hold_name(reading, inside, node_at(reading, several[i])->name);
            walk_types(reading, node_at(reading, several[i])->a, symbol);
        }
    for (int32_t r = 0; r < 2; r++)
        for (int32_t i = 0; i < runs[r].count; i++) walk_expression(reading, node_at(reading, item_of(reading, runs[r], i))->b);
}

void walk_lambda(Reading *reading, const Node *node, int32_t symbol) {
    int32_t inside = scope_within(reading, symbol, 0), outer = reading->scope, container = reading->container;
    take_parameters(reading, node->a, inside, symbol);
    reading->scope = inside;
    reading->container = symbol;
    walk_expression(reading, node->b);
    reading->scope = outer;
    reading->container = container;
}

static void read_comprehension(Reading *reading, const Node *node) {
    int32_t outer = reading->scope;
    reading->scope = scope_within(reading, reading->container, 0);
    for (int32_t i = 0; i < node->items.count; i++) {
        const Node *generator = node_at(reading, item_of(reading, node->items, i));
        bind_target(reading, generator->a, -1, -1, 0);
        walk_expression(reading, generator->b);
        walk_expressions(reading, generator->items);
    }
    walk_expression(reading, node->a);
    if (node->kind == DICT_OF) walk_expression(reading, node->b);
    reading->scope = outer;
}

void walk_expression(Reading *reading, Ref ref) {
    if (!ref || reading->failed) return;
    if (++reading->depth > MAX_DEPTH) reading->failed = 1;
    const Node *node = node_at(reading, ref);
    switch (reading->failed ? NOTHING : (Kind)node->kind) {
    case NOTHING:
    case TEXT:
    case BYTES:
    case WHOLE:
    case OTHER:
        break;
    case NAME:
    case ATTRIBUTE:
        note_read(reading, USES_READ, ref);
        break;
    case CALL:
        read_call(reading, node);
        break;
    case LIST:
    case TUPLE:
    case SET:
    case DICT:
    case COMPARE:
    case BOOLEAN:
        walk_expression(reading, node->a);
        walk_expressions(reading, node->items);
        walk_expressions(reading, node->more);
        break;
    case JOINED:
        for (int32_t i = 0; i < node->items.count; i++) {
            Ref part = item_of(reading, node->items, i);
            if (node_at(reading, part)->kind == FORMATTED) walk_expression(reading, part);
        }
        break;
    case FORMATTED:
    case STARRED:
    case SUBSCRIPT:
    case SLICE:
    case BINARY:
    case UNARY:
    case IF_ELSE:
    case AWAIT:
    case YIELD:
    case YIELD_FROM:
        walk_expression(reading, node->a);
        walk_expression(reading, node->b);
        walk_expression(reading, node->c);
        break;
    case NAMED:
        bind_target(reading, node->a, -1, -1, 0);
        walk_expression(reading, node->b);
        break;
    case LAMBDA:
        walk_lambda(reading, node, reading->container);
        break;
    case LIST_OF:
    case SET_OF:
    case GENERATOR:
    case DICT_OF:
        read_comprehension(reading, node);
        break;
    default: /* an unknown expression */
        reading->failed = 1;
    }
    reading->depth--;
}
