/* Builds the flow of a Python file in one walk over its tree: bodies in order, function bodies after the enclosing one.
   Equivalent to `scrubjay.code_index.graph.python_flow`, to the byte: change both together. */

#include "python_flow.h"

#include "flow_reading.h"

static void follow_body(Reading *reading, Run body);

/* -- assignments --------------------------------------------------------------------------------- */

static void follow_assignment(Reading *reading, const Node *statement) {
    const Node *value = node_at(reading, statement->a), *first = node_at(reading, items_of(reading, statement->items)[0]);
    int32_t node = value->kind == LAMBDA && first->kind == NAME ? follow_lambda(reading, value, first->name, statement->line)
                                                                : follow_expression(reading, statement->a);
    for (int32_t i = 0; i < statement->items.count; i++) assign(reading, items_of(reading, statement->items)[i], node);
}

static void follow_annotated(Reading *reading, const Node *statement) {
    int32_t kind = follow_annotation_of(reading, statement->b);
    if (statement->c) kind = either_of(&reading->notes, follow_expression(reading, statement->c), kind);
    if (kind || statement->c) assign(reading, statement->a, kind);
}

static void follow_augmented(Reading *reading, const Node *statement) {
    int32_t value = follow_expression(reading, statement->b);
    const Node *target = node_at(reading, statement->a);
    if (target->kind != NAME) {
        follow_expression(reading, statement->a);
        return;
    }
    int32_t base = value_of(&reading->notes, target->name);
    bind_name(&reading->notes, target->name, value ? merged(reading, base, value) : base);
}

/* -- branches ------------------------------------------------------------------------------------ */

/* Return whether the code after a body is unreachable from it. */
static int leaves(const Reading *reading, Run body) {
    if (!body.count) return 0;
    int kind = node_at(reading, items_of(reading, body)[body.count - 1])->kind;
    return kind == RETURN || kind == RAISE || kind == CONTINUE || kind == BREAK;
}

/* Join the bindings at the ends of branches. `before` are the bindings at their start, which may also be one of the ends. */
static void join_ends(Reading *reading, Bindings *ends, Bindings *before) {
    Notes *notes = &reading->notes;
    Bindings *joined = ends ? ends : before;
    for (Bindings *end = ends ? ends->next : NULL, *next; end; end = next) {
        next = end->next;
        join(notes, joined, end);
        if (end != before) drop(notes, end);
    }
    joined->next = NULL;
    if (joined != before) drop(notes, before);
    notes->scope->env = joined;
}

/* Read one of several branches. Only the last may be empty. */
static void follow_branch(Reading *reading, Run body, Bindings *before, Bindings ***end) {
    Notes *notes = &reading->notes;
    Bindings *after = before;
    if (body.count) {
        notes->scope->env = copied(notes, before);
        follow_body(reading, body);
        after = notes->scope->env;
    }
    if (leaves(reading, body)) {
        drop(notes, after);
        return;
    }
    after->next = NULL;
    **end = after;
    *end = &after->next;
}

/* Read alternative bodies; afterwards each name may have the value from either. */
static void follow_either(Reading *reading, Run body, Run other) {
    Bindings *before = reading->notes.scope->env, *ends = NULL, **end = &ends;
    enter(reading, 1);
    follow_branch(reading, body, before, &end);
    follow_branch(reading, other, before, &end);
    join_ends(reading, ends, before);
    leave(reading, 1);
}

/* Return whether a test narrows a name to instances of a type, and set the name and the node. */
static int is_narrowing(Reading *reading, Ref ref, int32_t *name, int32_t *node) {
    const Node *test = node_at(reading, ref);
    if (test->kind != CALL || test->items.count != 2) return 0;
    const Node *function = node_at(reading, test->a), *of = node_at(reading, items_of(reading, test->items)[0]);
    if (function->kind != NAME || !is_named(reading, function->name, "isinstance") || of->kind != NAME) return 0;
    int32_t place = reading->notes.stack.used;
    follow_instances(reading, items_of(reading, test->items) + 1);
    *name = of->name;
    *node = either_from(&reading->notes, place);
    return 1;
}

static void follow_if(Reading *reading, const Node *statement) {
    Notes *notes = &reading->notes;
    int32_t name, node;
    follow_expression(reading, statement->a);
    if (!is_narrowing(reading, statement->a, &name, &node)) {
        follow_either(reading, statement->items, statement->more);
        return;
    }
    Scope *scope = notes->scope;
    Bindings *before = scope->env;
    int32_t old = bound_to(before, name);
    scope->env = copied(notes, before);
    set_name(notes, scope->env, name, node);
    follow_body(reading, statement->items);
    Bindings *after = scope->env;
    if (bound_to(after, name) == node) {
        if (old == NOT_BOUND) map_remove(&after->map, name);
        else set_name(notes, after, name, old);
    }
    scope->env = before;
    follow_body(reading, statement->more);
    if (leaves(reading, statement->items)) {
        drop(notes, after);
        return;
    }
    join(notes, after, scope->env);
    drop(notes, scope->env);
    scope->env = after;
}

static void follow_while(Reading *reading, const Node *statement) {
    follow_expression(reading, statement->a);
    follow_either(reading, statement->items, (Run){0});
    follow_body(reading, statement->more);
}

static void follow_for(Reading *reading, const Node *statement) {
    int32_t iterated = follow_expression(reading, statement->b);
    iterate(reading, iterated, statement->b);
    assign(reading, statement->a, node_of(&reading->notes, ELEMENT, iterated));
    follow_either(reading, statement->items, (Run){0});
    follow_body(reading, statement->more);
}

static void follow_caught(Reading *reading, const Node *handler) {
    Notes *notes = &reading->notes;
    int32_t place = notes->stack.used;
    follow_instances(reading, &handler->a);
    if (handler->name != NO_NAME) bind_name(notes, handler->name, either_from(notes, place));
    notes->stack.used = place;
}

static void follow_try(Reading *reading, const Node *statement) {
    Notes *notes = &reading->notes;
    Scope *scope = notes->scope;
    Bindings *handling = scope->env;
    scope->env = copied(notes, handling);
    follow_body(reading, statement->items);
    join(notes, handling, scope->env); /* the earlier bindings are not needed any more */
    if (statement->a) follow_body(reading, node_at(reading, statement->a)->items);
    Bindings *ends = scope->env, **end = &ends->next;
    ends->next = NULL;
    for (int32_t i = 0; i < statement->more.count; i++) {
        const Node *handler = node_at(reading, items_of(reading, statement->more)[i]);
        scope->env = copied(notes, handling);
        if (handler->a) follow_caught(reading, handler);
        follow_body(reading, handler->items);
        if (leaves(reading, handler->items)) {
            drop(notes, scope->env);
            continue;
        }
        scope->env->next = NULL;
        *end = scope->env;
        end = &scope->env->next;
    }
    join_ends(reading, ends, handling);
    if (statement->b) follow_body(reading, node_at(reading, statement->b)->items);
}

static void follow_with(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *item = node_at(reading, items_of(reading, statement->items)[i]);
        int32_t node = follow_expression(reading, item->a);
        call(reading, node, item->a, ENTERING);
        if (item->b) assign(reading, item->b, node_of(&reading->notes, ENTERED, node));
    }
    follow_body(reading, statement->more);
}

/* -- patterns ------------------------------------------------------------------------------------ */

static void follow_pattern(Reading *reading, Ref ref, int32_t subject);

static int32_t instance_of(Reading *reading, Ref kind) { return node_of(&reading->notes, INSTANCE, follow_expression(reading, kind)); }

static void follow_as(Reading *reading, const Node *pattern, int32_t subject) {
    const Node *inner = node_at(reading, pattern->a);
    if (pattern->a) follow_pattern(reading, pattern->a, subject);
    if (pattern->name == NO_NAME) return;
    bind_name(&reading->notes, pattern->name, pattern->a && inner->kind == MATCH_CLASS ? instance_of(reading, inner->a) : subject);
}

static void follow_class_pattern(Reading *reading, const Node *pattern) {
    int32_t kind = instance_of(reading, pattern->a);
    for (int32_t i = 0; i < pattern->items.count; i++) follow_pattern(reading, items_of(reading, pattern->items)[i], 0);
    for (int32_t i = 0; i < pattern->more.count; i++) {
        const Node *keyword = node_at(reading, items_of(reading, pattern->more)[i]);
        follow_pattern(reading, keyword->a, attribute_node(reading, kind, keyword->name));
    }
}

static void follow_mapping_pattern(Reading *reading, const Node *pattern, int32_t subject) {
    for (int32_t i = 0; i < pattern->more.count; i++)
        follow_pattern(reading, items_of(reading, pattern->more)[i], node_of_two(&reading->notes, ITEM, subject, 0));
    if (pattern->name != NO_NAME) bind_name(&reading->notes, pattern->name, subject);
}

static void follow_star_pattern(Reading *reading, const Node *pattern, int32_t subject) {
    if (pattern->name == NO_NAME) return;
    begin_node(&reading->notes, A_SLICE);
    put_part(&reading->notes, subject);
    put_none(&reading->notes);
    put_none(&reading->notes);
    bind_name(&reading->notes, pattern->name, same_node(&reading->notes));
}

static void follow_pattern(Reading *reading, Ref ref, int32_t subject) {
    const Node *pattern = node_at(reading, ref);
    enter(reading, 1);
    switch (pattern->kind) {
    case MATCH_AS: follow_as(reading, pattern, subject); break;
    case MATCH_CLASS: follow_class_pattern(reading, pattern); break;
    case MATCH_MAPPING: follow_mapping_pattern(reading, pattern, subject); break;
    case MATCH_STAR: follow_star_pattern(reading, pattern, subject); break;
    case MATCH_SEQUENCE: case MATCH_OR:
        for (int32_t i = 0; i < pattern->items.count; i++)
            follow_pattern(reading, items_of(reading, pattern->items)[i],
                         pattern->kind == MATCH_OR ? subject : node_of(&reading->notes, ELEMENT, subject));
        break;
    default: break;
    }
    leave(reading, 1);
}

static void follow_match(Reading *reading, const Node *statement) {
    Notes *notes = &reading->notes;
    int32_t subject = follow_expression(reading, statement->a);
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *choice = node_at(reading, items_of(reading, statement->items)[i]);
        follow_pattern(reading, choice->a, subject);
        if (choice->b) follow_expression(reading, choice->b);
    }
    Bindings *before = notes->scope->env, *ends = NULL, **end = &ends;
    enter(reading, 1);
    for (int32_t i = 0; i < statement->items.count; i++)
        follow_branch(reading, node_at(reading, items_of(reading, statement->items)[i])->items, before, &end);
    follow_branch(reading, (Run){0}, before, &end);
    join_ends(reading, ends, before);
    leave(reading, 1);
}

/* -- definitions --------------------------------------------------------------------------------- */

static void follow_function(Reading *reading, const Node *statement) {
    Notes *notes = &reading->notes;
    int32_t place = notes->stack.used, is_static = 0;
    Run decorators = statement->more;
    follow_all(reading, decorators, decorators.count);
    Scope *scope = open_scope(notes, 'f', statement->name, notes->scope, statement->line);
    follow_parameters(reading, scope, statement->a);
    if (statement->b) scope->result = follow_annotation_of(reading, statement->b);
    begin_node(notes, A_FUNCTION);
    put_part(notes, scope->index);
    int32_t bare = new_node(notes), node = bare;
    for (int32_t i = 0; i < decorators.count; i++)
        is_static |= is_named(reading, last_name(reading, items_of(reading, decorators)[i]), "staticmethod");
    if (!is_static) name_self(reading, scope);
    for (int32_t i = decorators.count - 1; i >= 0; i--)
        node = decorate(reading, notes->stack.items[place + i], items_of(reading, decorators)[i], node);
    notes->stack.used = place;
    if (decorators.count) {
        begin_node(notes, DECORATED);
        put_part(notes, node);
        put_part(notes, bare);
        node = new_node(notes);
    }
    bind_name(notes, statement->name, node);
    follow_later(reading, scope, statement->items, 0);
}

/* Push the nodes of the bases of a class, without type arguments and unknown ones. */
static void follow_bases(Reading *reading, const Node *bases) {
    Notes *notes = &reading->notes;
    for (int32_t i = 0; i < bases->items.count; i++) {
        Ref ref = items_of(reading, bases->items)[i];
        const Node *base = node_at(reading, ref);
        int32_t node = follow_expression(reading, base->kind == SUBSCRIPT ? base->a : ref);
        if (node) push(notes, &notes->stack, node);
    }
    for (int32_t i = 0; i < bases->more.count; i++) follow_expression(reading, node_at(reading, items_of(reading, bases->more)[i])->a);
}

static void follow_class(Reading *reading, const Node *statement) {
    Notes *notes = &reading->notes;
    int32_t place = notes->stack.used;
    Run decorators = statement->more;
    follow_all(reading, decorators, decorators.count);
    int32_t behind = notes->stack.used;
    if (statement->a) follow_bases(reading, node_at(reading, statement->a));
    Scope *outer = notes->scope, *scope = open_scope(notes, 'c', statement->name, outer, statement->line);
    scope->bases = (Run){notes->bases.used, notes->stack.used - behind};
    for (int32_t i = behind; i < notes->stack.used; i++) push(notes, &notes->bases, notes->stack.items[i]);
    notes->stack.used = behind;
    notes->scope = scope;
    follow_body(reading, statement->items);
    notes->scope = outer;
    begin_node(notes, A_CLASS);
    put_part(notes, scope->index);
    int32_t node = new_node(notes);
    for (int32_t i = decorators.count - 1; i >= 0; i--) decorate(reading, notes->stack.items[place + i], items_of(reading, decorators)[i], node);
    notes->stack.used = place;
    bind_name(notes, statement->name, node);
}

/* -- imports ------------------------------------------------------------------------------------- */

static int32_t module_node(Reading *reading, int32_t name) {
    begin_node(&reading->notes, A_MODULE);
    put_name(&reading->notes, name);
    put_part(&reading->notes, 0);
    return same_node(&reading->notes);
}

/* Return the name before the first dot. */
static int32_t top_of(Reading *reading, int32_t name) {
    char top[256];
    const Text *text = reading->notes.tree->names + name;
    const uint8_t *dot = memchr(text->bytes, '.', (size_t)text->length);
    if (!dot) return name;
    size_t length = (size_t)(dot - text->bytes);
    if (length >= sizeof top) decline(&reading->notes);
    memcpy(top, text->bytes, length);
    top[length] = 0;
    int32_t number = named(reading->notes.tree, top);
    if (number < 0) decline(&reading->notes);
    return number;
}

static void follow_import(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *alias = node_at(reading, items_of(reading, statement->items)[i]);
        int32_t module = module_node(reading, alias->name);
        if (alias->other != NO_NAME) {
            bind_name(&reading->notes, alias->other, module);
        } else {
            int32_t top = top_of(reading, alias->name);
            bind_name(&reading->notes, top, module_node(reading, top));
        }
    }
}

static void follow_import_from(Reading *reading, const Node *statement) {
    Notes *notes = &reading->notes;
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *alias = node_at(reading, items_of(reading, statement->items)[i]);
        if (is_named(reading, alias->name, "*")) {
            note_star(notes, statement->name, (int32_t)statement->number);
            continue;
        }
        begin_node(notes, IMPORTED);
        put_name(notes, statement->name);
        put_part(notes, statement->number);
        put_name(notes, alias->name);
        bind_name(notes, alias->other != NO_NAME ? alias->other : alias->name, same_node(notes));
    }
}

/* Record the names in `__all__`. */
static void follow_exports(Reading *reading, const Node *statement) {
    Ref target = statement->a, value = statement->b;
    if (statement->kind == ASSIGN && statement->items.count == 1) {
        target = items_of(reading, statement->items)[0];
        value = statement->a;
    } else if (statement->kind != AUGMENTED) {
        return;
    }
    const Node *name = node_at(reading, target), *list = node_at(reading, value);
    if (name->kind != NAME || !is_named(reading, name->name, "__all__") || (list->kind != LIST && list->kind != TUPLE)) return;
    reading->notes.has_exports = 1;
    for (int32_t i = 0; i < list->items.count; i++) {
        const Node *item = node_at(reading, items_of(reading, list->items)[i]);
        if (item->kind == TEXT) push(&reading->notes, &reading->notes.exports, item->text);
    }
}

/* -- statements ---------------------------------------------------------------------------------- */

static void follow_return(Reading *reading, const Node *statement) {
    int32_t node = statement->a ? follow_expression(reading, statement->a) : 0;
    if (node) link_to(&reading->notes, &reading->notes.scope->returns, node, 0);
}

static void follow_raise(Reading *reading, const Node *statement) {
    if (statement->a) {
        int32_t node = follow_expression(reading, statement->a);
        if (node_at(reading, statement->a)->kind != CALL) call(reading, node, statement->a, RAISED);
    }
    if (statement->b) follow_expression(reading, statement->b);
}

static void follow_assert(Reading *reading, const Node *statement) {
    int32_t name, node;
    follow_expression(reading, statement->a);
    if (is_narrowing(reading, statement->a, &name, &node)) set_name(&reading->notes, reading->notes.scope->env, name, node);
}

static void follow_names_outside(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++)
        if (!map_set(&reading->notes.scope->globals, items_of(reading, statement->items)[i], 1)) decline(&reading->notes);
}

static void follow_statement(Reading *reading, const Node *statement) {
    switch (statement->kind) {
    case FUNCTION: follow_function(reading, statement); break;
    case CLASS: follow_class(reading, statement); break;
    case RETURN: follow_return(reading, statement); break;
    case ASSIGN: follow_assignment(reading, statement); break;
    case ANNOTATED: follow_annotated(reading, statement); break;
    case AUGMENTED: follow_augmented(reading, statement); break;
    case FOR: follow_for(reading, statement); break;
    case WHILE: follow_while(reading, statement); break;
    case IF: follow_if(reading, statement); break;
    case WITH: follow_with(reading, statement); break;
    case MATCH: follow_match(reading, statement); break;
    case RAISE: follow_raise(reading, statement); break;
    case TRY: follow_try(reading, statement); break;
    case ASSERT: follow_assert(reading, statement); break;
    case IMPORT: follow_import(reading, statement); break;
    case IMPORT_FROM: follow_import_from(reading, statement); break;
    case GLOBAL: case NONLOCAL: follow_names_outside(reading, statement); break;
    case EXPRESSION: follow_expression(reading, statement->a); break;
    default: break;
    }
}

static void follow_body(Reading *reading, Run body) {
    enter(reading, 2);
    for (int32_t i = 0; i < body.count; i++) follow_statement(reading, node_at(reading, items_of(reading, body)[i]));
    leave(reading, 2);
}

static void follow_module(Reading *reading) {
    Run body = reading->tree->body;
    reading->notes.scope = open_scope(&reading->notes, 'm', NO_NAME, NULL, 0);
    follow_body(reading, body);
    for (int32_t i = 0; i < body.count; i++) follow_exports(reading, node_at(reading, items_of(reading, body)[i]));
    for (int32_t i = 0; i < reading->waiting_count; i++) { /* each may add more */
        Waiting waiting = reading->waiting[i];
        reading->notes.scope = waiting.scope;
        reading->tree = waiting.tree;
        if (waiting.expression) link_to(&reading->notes, &waiting.scope->returns, follow_expression(reading, waiting.expression), 0);
        else follow_body(reading, waiting.body);
    }
}

static int follow_and_write(Reading *reading, Output *flow) {
    if (setjmp(reading->notes.declined)) return 0;
    follow_module(reading);
    write_notes(&reading->notes, flow);
    return 1;
}

int write_flow(Tree *tree, Output *flow) {
    Reading reading = {.tree = tree, .steps = 1000000 + 100 * (int64_t)tree->length};
    if (!begin_notes(&reading.notes, tree)) return 0;
    int is_done = follow_and_write(&reading, flow);
    while (reading.annotation_count) end_tree(reading.annotations[--reading.annotation_count]);
    free(reading.annotations);
    free(reading.waiting);
    end_notes(&reading.notes);
    return is_done;
}
