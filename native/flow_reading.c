/* Reads expressions, annotations and targets into the flow. */

#include "flow_reading.h"

/* Nesting is counted in frames of the Python reader, and ends well before Python's own limit. */
#define MAX_DEPTH 600
#define DEPTH_OF_A_TEXT 50 /* levels added by a string annotation within another */
#define MAX_ELEMENTS 200
#define MAX_CONSTANT 40

/* -- names of a meaning -------------------------------------------------------------------------- */

static const char *const TRANSPARENT[] = {
    "Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Awaitable", "Self", NULL,
};
static const char *const SEQUENCES[] = {
    "list",       "List",       "set",       "Set",           "frozenset",     "FrozenSet",      "Sequence", "MutableSequence", "Iterable",    "Iterator",
    "Collection", "Generator",  "AsyncIterator", "AsyncIterable", "AsyncGenerator", "deque",     "Deque",    "AbstractSet",     NULL,
};
static const char *const MAPPINGS[] = {
    "dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict", NULL,
};
static const char *const TUPLES[] = {"tuple", "Tuple", NULL};
static const char *const TYPES[] = {"type", "Type", NULL};
static const char *const GROWING[] = {"append", "add", "appendleft", NULL};
static const char *const MERGING[] = {"extend", "update", NULL};

int is_named(const Reading *reading, int32_t name, const char *wanted) {
    if (name == NO_NAME) return 0;
    const Text *text = reading->notes.tree->names + name;
    size_t length = strlen(wanted);
    return (size_t)text->length == length && !memcmp(text->bytes, wanted, length);
}

static int is_one_of(const Reading *reading, int32_t name, const char *const *wanted) {
    for (; *wanted; wanted++)
        if (is_named(reading, name, *wanted)) return 1;
    return 0;
}

/* -- the tree ------------------------------------------------------------------------------------ */

void enter(Reading *reading, int32_t levels) {
    reading->depth += levels;
    if (reading->depth > MAX_DEPTH || --reading->steps < 0) decline(&reading->notes);
}

static int is_constant(const Node *node) { return node->kind == TEXT || node->kind == BYTES || node->kind == WHOLE || node->kind == OTHER; }

const int32_t *options_of(const Reading *reading, const Ref *ref, int32_t *count) {
    const Node *node = node_at(reading, *ref);
    if (node->kind != TUPLE) {
        *count = 1;
        return ref;
    }
    *count = node->items.count;
    return items_of(reading, node->items);
}

int32_t last_name(const Reading *reading, Ref ref) {
    const Node *node = node_at(reading, ref);
    if (node->kind == CALL) node = node_at(reading, node->a);
    return node->kind == NAME || node->kind == ATTRIBUTE ? node->name : NO_NAME;
}

/* -- calls --------------------------------------------------------------------------------------- */

/* Add a call. A string annotation has its own line numbers, but positions are computed from the lines of the file. */
static int32_t call_with(Reading *reading, int32_t function, const Node *place, int how, const int32_t *args, int32_t count, const int32_t *named,
                         int32_t named_count) {
    const Tree *tree = reading->tree, *file = reading->notes.tree;
    int32_t line = place->line, start = place->start;
    if (place->kind == ATTRIBUTE) {
        line = place->end_line;
        start = place->end - file->names[place->name].length;
    }
    if (tree != file) start += file->line_starts[line < file->line_count ? line : file->line_count - 1] - tree->line_starts[line];
    return result_of_call(&reading->notes, function, line, start, how, args, count, named, named_count);
}

int32_t call(Reading *reading, int32_t function, Ref place, int how) {
    return call_with(reading, function, node_at(reading, place), how, NULL, 0, NULL, 0);
}

void iterate(Reading *reading, int32_t node, Ref place) {
    char kind = kind_of(&reading->notes, node);
    if (node && kind != SEQUENCE && kind != MAPPING && kind != CONSTANT) call(reading, node, place, ITERATED);
}

int32_t decorate(Reading *reading, int32_t decorator, Ref place, int32_t decorated) {
    const Node *node = node_at(reading, place);
    if (node->kind == CALL) node = node_at(reading, node->a);
    return call_with(reading, decorator, node, DECORATING, &decorated, 1, NULL, 0);
}

/* -- expressions --------------------------------------------------------------------------------- */

static int32_t follow_name(Reading *reading, int32_t name) {
    const Scope *scope = reading->notes.scope;
    int32_t node = bound_to(scope->env, name);
    return node != NOT_BOUND && !is_outside(scope, name) ? node : value_of(&reading->notes, name);
}

static int32_t text_node(Reading *reading, const uint8_t *bytes, int32_t length) {
    begin_node(&reading->notes, CONSTANT);
    put_literal(&reading->notes, bytes, length);
    return same_node(&reading->notes);
}

static int32_t no_text(Reading *reading) { return text_node(reading, (const uint8_t *)"", 0); }

static int32_t follow_text(Reading *reading, const Node *node) {
    const Text *text = reading->tree->texts + node->text;
    return text->letters <= MAX_CONSTANT ? text_node(reading, text->bytes, text->length) : no_text(reading);
}

static int32_t follow_number(Reading *reading, const Node *node) {
    if (node->number < 0 || node->number >= 1000000000) return 0;
    begin_node(&reading->notes, CONSTANT);
    put_part(&reading->notes, node->number);
    return same_node(&reading->notes);
}

int32_t attribute_node(Reading *reading, int32_t base, int32_t name) {
    begin_node(&reading->notes, AN_ATTRIBUTE);
    put_part(&reading->notes, base);
    put_name(&reading->notes, name);
    return same_node(&reading->notes);
}

void follow_all(Reading *reading, Run run, int32_t most) {
    for (int32_t i = 0; i < run.count && i < most; i++) {
        int32_t node = follow_expression(reading, items_of(reading, run)[i]);
        push(&reading->notes, &reading->notes.stack, node);
    }
}

/* Replace the container that a local name holds by a new version, or record the change as an addition from another scope. */
static void change(Reading *reading, Ref base, int32_t changed, int32_t key, int32_t node) {
    Notes *notes = &reading->notes;
    const Node *of = node_at(reading, base);
    enter(reading, 1);
    if (of->kind == NAME && bound_to(notes->scope->env, of->name) != NOT_BOUND && !is_outside(notes->scope, of->name)) {
        set_name(notes, notes->scope->env, of->name, changed);
        append_in(notes, &notes->scope->declared, of->name, changed, 0);
    } else if (of->kind == NAME) {
        const Scope *home = enclosing_scope_of(notes, of->name);
        int32_t link = home ? first_in(notes, &home->declared, of->name) : 0;
        for (; link; link = notes->links[link].next) append_in(notes, &notes->late, notes->links[link].node, node, key);
    } else if (of->kind == SUBSCRIPT && node_at(reading, of->b)->kind != SLICE) {
        int32_t outer = follow_expression(reading, of->a), at = follow_expression(reading, of->b);
        if (outer) {
            begin_node(notes, REPLACED);
            put_part(notes, outer);
            put_part(notes, at);
            put_part(notes, changed);
            change(reading, of->a, new_node(notes), at, changed);
        }
    } else if (of->kind == ATTRIBUTE && node_at(reading, of->a)->kind == NAME) {
        const Scope *home = class_of_receiver(notes, node_at(reading, of->a)->name);
        int32_t link = home ? first_in(notes, &home->attributes, of->name) : 0;
        for (int i = 0; i < 4 && link; i++, link = notes->links[link].next) append_in(notes, &notes->late, notes->links[link].node, node, key);
    }
    leave(reading, 1);
}

/* A call of `append` and similar methods changes its receiver. */
static void grow(Reading *reading, const Node *function, int32_t argument) {
    Notes *notes = &reading->notes;
    int grows = is_one_of(reading, function->name, GROWING);
    if (!grows && !is_one_of(reading, function->name, MERGING)) return;
    int32_t base = follow_expression(reading, function->a);
    if (!base) return;
    begin_node(notes, grows ? GROWN : MERGED);
    put_part(notes, base);
    put_part(notes, argument);
    int32_t changed = new_node(notes);
    const Node *of = node_at(reading, function->a);
    if (grows) change(reading, function->a, changed, 0, argument);
    else if (of->kind == NAME && bound_to(notes->scope->env, of->name) != NOT_BOUND) change(reading, function->a, changed, 0, 0);
}

/* Return the class whose method contains the current scope, if `super()` can be called here. */
static const Scope *class_around(const Reading *reading) {
    const Scope *holder = reading->notes.scope;
    while (holder->kind == 'f' && holder->parent && holder->parent->kind != 'c') holder = holder->parent;
    return holder->kind == 'f' ? holder->parent : NULL;
}

static int32_t follow_call(Reading *reading, const Node *node) {
    Notes *notes = &reading->notes;
    const Node *function = node_at(reading, node->a);
    if (function->kind == NAME && is_named(reading, function->name, "super")) {
        const Scope *around = class_around(reading);
        if (around) {
            call(reading, global_node(notes, "super"), node->a, CALLED);
            return node_of(notes, SUPER, around->index);
        }
    }
    int32_t called = follow_expression(reading, node->a), place = notes->stack.used, count = node->items.count;
    follow_all(reading, node->items, count);
    for (int32_t i = 0; i < node->more.count; i++) {
        const Node *keyword = node_at(reading, items_of(reading, node->more)[i]);
        int32_t value = follow_expression(reading, keyword->a);
        push(notes, &notes->stack, keyword->name);
        push(notes, &notes->stack, value);
    }
    const int32_t *args = notes->stack.items + place;
    int32_t argument = count == 1 ? args[0] : 0;
    int32_t result = call_with(reading, called, function, CALLED, args, count, args + count, node->more.count);
    notes->stack.used = place;
    if (function->kind == ATTRIBUTE && argument) grow(reading, function, argument);
    return result;
}

/* Make a new sequence of the items on the stack from `place` on. */
static int32_t sequence_from(Reading *reading, const char *kind, int32_t place) {
    Notes *notes = &reading->notes;
    begin_node(notes, SEQUENCE);
    put_literal(notes, (const uint8_t *)kind, (int32_t)strlen(kind));
    for (int32_t i = place; i < notes->stack.used; i++) put_part(notes, notes->stack.items[i]);
    notes->stack.used = place;
    return new_node(notes);
}

static int32_t sequence_of(Reading *reading, const char *kind, int32_t element) {
    int32_t place = reading->notes.stack.used;
    push(&reading->notes, &reading->notes.stack, element);
    return sequence_from(reading, kind, place);
}

static int32_t mapping_of(Reading *reading, int32_t value) {
    begin_node(&reading->notes, MAPPING);
    put_parts(&reading->notes, &(int32_t){0}, 1, 1);
    put_parts(&reading->notes, &value, 1, 1);
    return new_node(&reading->notes);
}

static void follow_parameter(Reading *reading, Scope *scope, Ref ref, int how, int32_t place) {
    Notes *notes = &reading->notes;
    const Node *parameter = node_at(reading, ref);
    int32_t value = parameter->b ? follow_expression(reading, parameter->b) : 0;
    int32_t kind = parameter->a ? follow_annotation_of(reading, parameter->a) : 0;
    if (kind && how == ANY_POSITIONAL) {
        kind = sequence_of(reading, "tuple", node_of(notes, SPREAD, sequence_of(reading, "list", kind)));
    } else if (kind && how == ANY_KEYWORD) {
        kind = mapping_of(reading, kind);
    }
    begin_node(notes, PARAMETER);
    put_part(notes, scope->index);
    put_part(notes, (notes->stack.used - place) / 4);
    set_name(notes, scope->env, parameter->name, new_node(notes));
    int32_t parts[] = {parameter->name, how, value, kind};
    for (int i = 0; i < 4; i++) push(notes, &notes->stack, parts[i]);
}

void follow_parameters(Reading *reading, Scope *scope, Ref ref) {
    Notes *notes = &reading->notes;
    const Node *all = node_at(reading, ref);
    int32_t place = notes->stack.used; /* defaults may contain lambdas, which read parameters of their own */
    enter(reading, 4);
    for (int32_t i = 0; i < all->items.count; i++) follow_parameter(reading, scope, items_of(reading, all->items)[i], POSITIONAL, place);
    if (all->a) follow_parameter(reading, scope, all->a, ANY_POSITIONAL, place);
    for (int32_t i = 0; i < all->more.count; i++) follow_parameter(reading, scope, items_of(reading, all->more)[i], ONLY_KEYWORD, place);
    if (all->b) follow_parameter(reading, scope, all->b, ANY_KEYWORD, place);
    leave(reading, 4);
    scope->params = (Run){notes->params.used, (notes->stack.used - place) / 4};
    for (int32_t i = place; i < notes->stack.used; i++) push(notes, &notes->params, notes->stack.items[i]);
    notes->stack.used = place;
}

/* The first parameter of a function in a class is an instance of it, or the class. */
void name_self(Reading *reading, Scope *scope) {
    if (reading->notes.scope->kind == 'c' && scope->params.count) scope->self_name = reading->notes.params.items[scope->params.first];
}

void follow_later(Reading *reading, Scope *scope, Run body, Ref expression) {
    reading->waiting = enlarged(&reading->notes, reading->waiting, reading->waiting_count, &reading->waiting_room, sizeof *reading->waiting);
    reading->waiting[reading->waiting_count++] = (Waiting){scope, reading->tree, body, expression};
}

int32_t follow_lambda(Reading *reading, const Node *node, int32_t name, int32_t line) {
    Scope *scope = open_scope(&reading->notes, 'f', name, reading->notes.scope, line);
    follow_parameters(reading, scope, node->a);
    name_self(reading, scope);
    follow_later(reading, scope, (Run){0}, node->b);
    begin_node(&reading->notes, A_FUNCTION);
    put_part(&reading->notes, scope->index);
    put_part(&reading->notes, 1);
    return new_node(&reading->notes);
}

static int32_t follow_sequence(Reading *reading, const Node *node) {
    int32_t place = reading->notes.stack.used;
    follow_all(reading, node->items, MAX_ELEMENTS);
    return sequence_from(reading, node->kind == LIST ? "list" : node->kind == SET ? "set" : "tuple", place);
}

static int32_t follow_mapping(Reading *reading, const Node *node) {
    Notes *notes = &reading->notes;
    int32_t place = notes->stack.used, count = node->items.count;
    for (int32_t i = 0; i < count; i++) {
        Ref key = items_of(reading, node->items)[i];
        int32_t known = key ? follow_expression(reading, key) : -1;
        push(notes, &notes->stack, known);
    }
    follow_all(reading, node->more, node->more.count);
    begin_node(notes, MAPPING);
    put_parts(notes, notes->stack.items + place, count, MAX_ELEMENTS);
    put_parts(notes, notes->stack.items + place + count, node->more.count, MAX_ELEMENTS);
    notes->stack.used = place;
    return new_node(notes);
}

static void put_end(Reading *reading, Ref end) {
    const Node *node = node_at(reading, end);
    if (!end || node->kind != WHOLE) put_none(&reading->notes);
    else if (node->number < 0) decline(&reading->notes); /* the value of a large number is not stored */
    else put_part(&reading->notes, node->number);
}

static int32_t follow_slice(Reading *reading, int32_t base, const Node *slice) {
    Notes *notes = &reading->notes;
    if (slice->a) follow_expression(reading, slice->a);
    if (slice->b) follow_expression(reading, slice->b);
    if (!base) return 0;
    int is_known = !slice->c && (!slice->a || is_constant(node_at(reading, slice->a))) && (!slice->b || is_constant(node_at(reading, slice->b)));
    begin_node(notes, A_SLICE);
    put_part(notes, base);
    put_end(reading, is_known ? slice->a : 0);
    put_end(reading, is_known ? slice->b : 0);
    return same_node(notes);
}

static int32_t follow_subscript(Reading *reading, const Node *node) {
    int32_t base = follow_expression(reading, node->a);
    const Node *inner = node_at(reading, node->b);
    if (inner->kind == SLICE) return follow_slice(reading, base, inner);
    int32_t key = follow_expression(reading, node->b);
    return base ? node_of_two(&reading->notes, ITEM, base, key) : 0;
}

static int is_container(const Reading *reading, int32_t node) {
    char kind = kind_of(&reading->notes, node);
    return kind == SEQUENCE || kind == MAPPING;
}

int32_t merged(Reading *reading, int32_t left, int32_t right) {
    begin_node(&reading->notes, MERGED);
    put_part(&reading->notes, left);
    put_part(&reading->notes, right);
    return new_node(&reading->notes);
}

static int32_t follow_binary(Reading *reading, const Node *node) {
    int32_t left = follow_expression(reading, node->a), right = follow_expression(reading, node->b);
    if ((node->form == '+' || node->form == '|') && (is_container(reading, left) || is_container(reading, right)))
        return merged(reading, left, right);
    return node->form == '%' && kind_of(&reading->notes, left) == CONSTANT ? no_text(reading) : 0;
}

/* Read expressions for their calls; the result is unknown. */
static int32_t follow_each(Reading *reading, Run run) {
    for (int32_t i = 0; i < run.count; i++) follow_expression(reading, items_of(reading, run)[i]);
    return 0;
}

static int32_t follow_any_of(Reading *reading, const Node *node) {
    int32_t place = reading->notes.stack.used;
    follow_all(reading, node->items, node->items.count);
    return either_from(&reading->notes, place);
}

static int32_t follow_one_of(Reading *reading, const Node *node) {
    follow_expression(reading, node->a);
    int32_t one = follow_expression(reading, node->b), other = follow_expression(reading, node->c);
    return either_of(&reading->notes, one, other);
}

void follow_instances(Reading *reading, const Ref *ref) {
    Notes *notes = &reading->notes;
    int32_t count;
    const int32_t *options = options_of(reading, ref, &count);
    for (int32_t i = 0; i < count; i++) {
        int32_t kind = node_of(notes, INSTANCE, follow_expression(reading, options[i]));
        push(notes, &notes->stack, kind);
    }
}

static void yields(Reading *reading, int32_t node) { link_to(&reading->notes, &reading->notes.scope->yields, node, 0); }

static int32_t follow_yield(Reading *reading, const Node *node) {
    if (!node->a) return 0;
    int32_t value = follow_expression(reading, node->a);
    yields(reading, node->kind == YIELD_FROM ? node_of(&reading->notes, ELEMENT, value) : value);
    return 0;
}

static int32_t follow_comprehension(Reading *reading, const Node *node) {
    Notes *notes = &reading->notes;
    Bindings *before = notes->scope->env;
    notes->scope->env = copied(notes, before);
    for (int32_t i = 0; i < node->items.count; i++) {
        const Node *each = node_at(reading, items_of(reading, node->items)[i]);
        int32_t iterated = follow_expression(reading, each->b);
        iterate(reading, iterated, each->b);
        assign(reading, each->a, iterated ? node_of(notes, ELEMENT, iterated) : 0);
        follow_each(reading, each->items);
    }
    int32_t element = follow_expression(reading, node->a);
    int32_t made = node->kind == DICT_OF ? mapping_of(reading, follow_expression(reading, node->b)) : sequence_of(reading, "set", element);
    drop(notes, notes->scope->env);
    notes->scope->env = before;
    return made;
}

static int32_t follow_named(Reading *reading, const Node *node) {
    int32_t value = follow_expression(reading, node->b);
    assign(reading, node->a, value);
    return value;
}

static int32_t follow_kind(Reading *reading, const Node *node) {
    switch (node->kind) {
    case NAME: return follow_name(reading, node->name);
    case TEXT: return follow_text(reading, node);
    case WHOLE: return follow_number(reading, node);
    case ATTRIBUTE: return attribute_node(reading, follow_expression(reading, node->a), node->name);
    case CALL: return follow_call(reading, node);
    case LAMBDA: return follow_lambda(reading, node, NO_NAME, node->line);
    case LIST: case TUPLE: case SET: return follow_sequence(reading, node);
    case DICT: return follow_mapping(reading, node);
    case STARRED: return node_of(&reading->notes, SPREAD, follow_expression(reading, node->a));
    case SUBSCRIPT: return follow_subscript(reading, node);
    case BINARY: return follow_binary(reading, node);
    case UNARY: follow_expression(reading, node->a); return 0;
    case COMPARE: follow_expression(reading, node->a); return follow_each(reading, node->items);
    case JOINED: follow_each(reading, node->items); return no_text(reading);
    case FORMATTED: case AWAIT: return follow_expression(reading, node->a);
    case BOOLEAN: return follow_any_of(reading, node);
    case IF_ELSE: return follow_one_of(reading, node);
    case YIELD: case YIELD_FROM: return follow_yield(reading, node);
    case NAMED: return follow_named(reading, node);
    case LIST_OF: case SET_OF: case GENERATOR: case DICT_OF: return follow_comprehension(reading, node);
    default: return 0;
    }
}

int32_t follow_expression(Reading *reading, Ref ref) {
    enter(reading, 2);
    int32_t node = follow_kind(reading, node_at(reading, ref));
    leave(reading, 2);
    return node;
}

/* -- annotations --------------------------------------------------------------------------------- */

static int is_space(uint8_t byte) { return byte == ' ' || (byte >= 9 && byte <= 13) || (byte >= 28 && byte <= 31); }

/* Read the type in a string annotation. */
static int32_t follow_type_in_text(Reading *reading, const Text *text) {
    const uint8_t *bytes = text->bytes;
    int32_t length = text->length;
    if (text->letters != length) decline(&reading->notes); /* not ASCII */
    while (length && is_space(bytes[length - 1])) length--;
    while (length && is_space(*bytes)) bytes++, length--;
    reading->annotations = enlarged(&reading->notes, reading->annotations, reading->annotation_count, &reading->annotation_room, sizeof *reading->annotations);
    int is_wrong = 0;
    Tree *tree = read_annotation(reading->notes.tree, bytes, length, &is_wrong), *around = reading->tree;
    if (!tree && is_wrong) return 0;
    if (!tree) decline(&reading->notes);
    int32_t place = reading->annotation_count, waiting = reading->waiting_count;
    reading->annotations[reading->annotation_count++] = tree;
    reading->tree = tree;
    enter(reading, DEPTH_OF_A_TEXT);
    int32_t node = follow_annotation_of(reading, tree->expression);
    leave(reading, DEPTH_OF_A_TEXT);
    reading->tree = around;
    if (reading->waiting_count == waiting) { /* nothing in it is read later */
        end_tree(tree);
        reading->annotation_count = place;
    }
    return node;
}

static int32_t follow_generic(Reading *reading, const Node *node) {
    Notes *notes = &reading->notes;
    int32_t name = last_name(reading, node->a), count, place = notes->stack.used;
    const int32_t *options = options_of(reading, &node->b, &count);
    if (is_one_of(reading, name, TRANSPARENT) || is_one_of(reading, name, TUPLES)) {
        for (int32_t i = 0; i < count; i++) {
            int32_t option = follow_annotation_of(reading, options[i]);
            push(notes, &notes->stack, option);
        }
        return is_one_of(reading, name, TUPLES) ? sequence_from(reading, "tuple", place) : either_from(notes, place);
    }
    if (is_one_of(reading, name, SEQUENCES)) return count ? sequence_of(reading, "set", follow_annotation_of(reading, options[0])) : 0;
    if (is_one_of(reading, name, MAPPINGS)) return count ? mapping_of(reading, follow_annotation_of(reading, options[count - 1])) : 0;
    if (is_one_of(reading, name, TYPES)) {
        if (!count) decline(notes);
        return follow_expression(reading, options[0]);
    }
    return node_of(notes, INSTANCE, follow_expression(reading, node->a));
}

static int32_t follow_type(Reading *reading, Ref ref) {
    Notes *notes = &reading->notes;
    const Node *node = node_at(reading, ref);
    int32_t left, right;
    switch (node->kind) {
    case TEXT: return follow_type_in_text(reading, reading->tree->texts + node->text);
    case NAME:
        if (is_named(reading, node->name, "Self")) return global_node(notes, "Self");
        return node_of(notes, INSTANCE, follow_expression(reading, ref));
    case ATTRIBUTE: return node_of(notes, INSTANCE, follow_expression(reading, ref));
    case BINARY:
        left = follow_annotation_of(reading, node->a);
        right = follow_annotation_of(reading, node->b);
        return either_of(notes, left, right);
    case SUBSCRIPT: return follow_generic(reading, node);
    default: return 0;
    }
}

int32_t follow_annotation_of(Reading *reading, Ref ref) {
    enter(reading, 3);
    int32_t node = follow_type(reading, ref);
    leave(reading, 3);
    return node;
}

/* -- targets ------------------------------------------------------------------------------------- */

static void assign_attribute(Reading *reading, const Node *target, int32_t node) {
    Notes *notes = &reading->notes;
    const Node *owner = node_at(reading, target->a);
    Scope *home = owner->kind == NAME ? class_of_receiver(notes, owner->name) : NULL;
    if (home) {
        if (node) append_in(notes, &home->attributes, target->name, node, 0);
        return;
    }
    int32_t base = follow_expression(reading, target->a);
    if (base && node) add_store(notes, base, target->name, node);
}

static void assign_each(Reading *reading, Run targets, int32_t node) {
    Notes *notes = &reading->notes;
    int32_t count = targets.count, star = count;
    for (int32_t place = 0; place < count; place++) {
        Ref ref = items_of(reading, targets)[place];
        const Node *target = node_at(reading, ref);
        if (target->kind == STARRED && star == count) star = place;
        if (!node) {
            assign(reading, target->kind == STARRED ? target->a : ref, 0);
        } else if (target->kind == STARRED) {
            begin_node(notes, REST);
            put_part(notes, node);
            put_part(notes, place);
            put_part(notes, count - place - 1);
            assign(reading, target->a, same_node(notes));
        } else {
            assign(reading, ref, node_of_two(notes, UNPACKED, node, place < star ? place : place - count));
        }
    }
}

static void assign_item(Reading *reading, const Node *target, int32_t node) {
    Notes *notes = &reading->notes;
    int32_t key = follow_expression(reading, target->b), value = follow_expression(reading, target->a);
    if (!value) return;
    begin_node(notes, REPLACED);
    put_part(notes, value);
    put_part(notes, key);
    put_part(notes, node);
    change(reading, target->a, new_node(notes), key, node);
}

void assign(Reading *reading, Ref ref, int32_t node) {
    const Node *target = node_at(reading, ref);
    enter(reading, 1);
    if (target->kind == NAME) bind_name(&reading->notes, target->name, node);
    else if (target->kind == ATTRIBUTE) assign_attribute(reading, target, node);
    else if (target->kind == TUPLE || target->kind == LIST) assign_each(reading, target->items, node);
    else if (target->kind == SUBSCRIPT) assign_item(reading, target, node);
    else if (target->kind == STARRED) assign(reading, target->a, node);
    leave(reading, 1);
}
