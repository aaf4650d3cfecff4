/* Finds the definitions, imports and uses of a Python file in one walk over its tree, in text order.
   Equivalent to `scrubjay.code_index.parsing.python_syntax` with the parts of `scopes`, `python_rules` and `nodes` that it uses: change
   both together.
   `test_python_native.py` compares them. */

#include "python_symbols.h"

#include <stdlib.h>

#include "symbols_walk.h"

static void walk_body(Reading *reading, Run statements);

static Piece docstring(Reading *reading, Run statements) {
    if (!statements.count) return EMPTY_TEXT;
    const Node *first = node_at(reading, item_of(reading, statements, 0));
    if (first->kind != EXPRESSION || !is_text(node_at(reading, first->a))) return EMPTY_TEXT;
    return literal_doc(reading, node_at(reading, first->a));
}

/* Return the first byte of a statement, including its decorators. */
static int32_t outer_start(const Reading *reading, const Node *statement) {
    int32_t start = statement->start;
    if ((statement->kind != FUNCTION && statement->kind != CLASS) || !statement->more.count) return start;
    int32_t at = node_at(reading, item_of(reading, statement->more, 0))->start;
    do at--;
    while (at >= 0 && reading->tree->content[at] != '@');
    return at < 0 ? start : at;
}

/* -- definitions --------------------------------------------------------------------------------- */

/* Return the source texts of the nodes as a list, and set `found` if `is_special` accepts any of them. */
static Piece heads(Reading *reading, Run nodes, int (*is_special)(Reading *reading), int *found) {
    *found = 0;
    if (!nodes.count) return EMPTY_LIST;
    int64_t before = reading->texts.used;
    put_sign(&reading->texts, '[');
    for (int32_t i = 0; i < nodes.count; i++) {
        const Node *node = node_at(reading, item_of(reading, nodes, i));
        if (i) put_sign(&reading->texts, ',');
        signature_of(reading, node->start, node->end);
        *found |= is_special(reading);
    }
    put_sign(&reading->texts, ']');
    return since(&reading->texts, before);
}

static int names_enum(Reading *reading) {
    const uint8_t *head = reading->head;
    int32_t length = reading->head_length, start = length;
    if (!ends_with(head, length, "Enum") && !ends_with(head, length, "Flag") && !ends_with(head, length, "Choices")) return 0;
    while (start && is_word(head[start - 1])) start--;
    return start == 0 || head[start - 1] == '.';
}

enum { OVERLOADS = 1, IS_STATIC = 2 };

static int decorator_meaning(Reading *reading) {
    if (ends_with(reading->head, reading->head_length, "overload")) return OVERLOADS;
    return is_same(reading->head, reading->head_length, "staticmethod") ? IS_STATIC : 0;
}

static int32_t define(Reading *reading, const Node *node, SymbolKind kind, Piece bases, Piece decorators) {
    int32_t start = node->start, comments_end;
    int32_t above = take_above(reading, outer_start(reading, node), &comments_end);
    Symbol symbol = {
        .name = node->name,
        .start = above,
        .end = node->end,
        .line = node->line,
        .container = reading->container,
        .kind = (uint8_t)kind,
        .exported = is_public(reading, node->name) && !scope_at(reading, reading->scope)->is_function,
        .bases = bases,
        .decorators = decorators,
    };
    symbol.signature = signature_of(reading, start, outer_start(reading, node_at(reading, item_of(reading, node->items, 0))));
    symbol.doc = docstring(reading, node->items);
    if (symbol.doc.start == EMPTY_TEXT.start && comments_end) symbol.doc = comment_text(reading, above, comments_end);
    if (!scope_at(reading, reading->scope)->is_function) hold_name(reading, reading->scope, node->name);
    return add_symbol(reading, symbol);
}

static void decorate(Reading *reading, Run decorators, int32_t symbol) {
    for (int32_t i = 0; i < decorators.count; i++) {
        Ref decorator = item_of(reading, decorators, i);
        const Node *node = node_at(reading, decorator);
        if (node->kind != CALL) {
            add_path_use(reading, USES_DECORATE, decorator, symbol);
            continue;
        }
        Path path = path_of(reading, node->a);
        if (path.path.length) add_use(reading, USES_DECORATE, path.path, path.start, symbol);
        walk_expression(reading, decorator);
    }
}

static void block(Reading *reading, const Node *statement, Run statements) {
    reading->floor = statement->start;
    walk_body(reading, statements);
}

static void enter(Reading *reading, const Node *node, int32_t symbol, int32_t inside) {
    int32_t outer = reading->scope, container = reading->container;
    reading->scope = inside;
    reading->container = symbol;
    block(reading, node, node->items);
    reading->scope = outer;
    reading->container = container;
}

static void read_function(Reading *reading, const Node *node) {
    int meaning, in_class = scope_at(reading, reading->scope)->is_class;
    Piece written = heads(reading, node->more, decorator_meaning, &meaning);
    SymbolKind kind = IS_FUNCTION;
    if (meaning & OVERLOADS) kind = IS_SIGNATURE;
    else if (in_class) kind = node->name == reading->init ? IS_CONSTRUCTOR : IS_METHOD;
    int32_t symbol = define(reading, node, kind, EMPTY_LIST, written);
    int32_t inside = scope_within(reading, symbol, 0);
    walk_types(reading, node->b, symbol);
    take_parameters(reading, node->a, inside, symbol);
    Run arguments = node->a ? node_at(reading, node->a)->items : (Run){0, 0};
    if (in_class && !(meaning & IS_STATIC) && arguments.count) {
        /* The parameter that receives the object has no default, and rarely a type. */
        const Node *first = node_at(reading, item_of(reading, arguments, 0));
        if (!first->a && !first->b) scope_at(reading, inside)->receiver = first->name;
    }
    decorate(reading, node->more, symbol);
    enter(reading, node, symbol, inside);
}

static void inherit(Reading *reading, Ref base, int32_t symbol) {
    const Node *node = node_at(reading, base);
    switch ((Kind)node->kind) {
    case SUBSCRIPT: /* `Generic[T]` inherits from Generic and uses T */
        walk_types(reading, node->b, symbol);
        add_path_use(reading, USES_INHERIT, node->a, symbol);
        break;
    case NAME:
    case ATTRIBUTE:
    case CALL:
    case AWAIT:
        add_path_use(reading, USES_INHERIT, base, symbol);
        break;
    default:
        walk_expression(reading, base);
    }
}

static void read_class(Reading *reading, const Node *node) {
    Run bases = {0, 0}, keywords = {0, 0};
    if (node->a) {
        bases = node_at(reading, node->a)->items;
        keywords = node_at(reading, node->a)->more;
    }
    int enumerates, ignored;
    Piece written_bases = heads(reading, bases, names_enum, &enumerates);
    Piece written = heads(reading, node->more, decorator_meaning, &ignored);
    int32_t symbol = define(reading, node, enumerates ? IS_ENUM : IS_CLASS, written_bases, written);
    int32_t inside = scope_within(reading, symbol, 1);
    scope_at(reading, inside)->is_enum = enumerates != 0;
    for (int32_t i = 0; i < bases.count; i++) inherit(reading, item_of(reading, bases, i), symbol);
    for (int32_t i = 0; i < keywords.count; i++) walk_expression(reading, node_at(reading, item_of(reading, keywords, i))->a);
    decorate(reading, node->more, symbol);
    enter(reading, node, symbol, inside);
}

static void lambda_with_name(Reading *reading, const Node *target, const Node *value, int32_t end, Ref annotation) {
    const Scope *scope = scope_at(reading, reading->scope);
    int32_t start = target->start, comments_end, above = take_above(reading, start, &comments_end);
    Symbol symbol = {
        .name = target->name,
        .start = above,
        .end = end,
        .line = target->line,
        .container = reading->container,
        .kind = scope->is_class ? IS_METHOD : IS_FUNCTION,
        .exported = is_public(reading, target->name) && !scope->is_function,
        .bases = EMPTY_LIST,
        .decorators = EMPTY_LIST,
    };
    symbol.doc = comments_end ? comment_text(reading, above, comments_end) : EMPTY_TEXT;
    symbol.signature = signature_of(reading, start, end);
    int32_t place = add_symbol(reading, symbol);
    if (!scope->is_function) hold_name(reading, reading->scope, target->name);
    walk_types(reading, annotation, place);
    walk_lambda(reading, value, place);
}

/* -- statements ---------------------------------------------------------------------------------- */

/* Return whether at most one line break and blanks are between two positions. */
static int is_next(const Reading *reading, int32_t end, int32_t start) {
    if (start - end > MAX_SIGNATURE) return 0;
    int32_t lines = 0;
    for (int32_t i = end; i < start; i++) {
        uint8_t byte = reading->tree->content[i];
        if (byte != ' ' && (byte < 9 || byte > 13)) return 0;
        lines += byte == '\n';
    }
    return lines <= 1;
}

static void read_expression_statement(Reading *reading, const Node *statement) {
    const Node *value = node_at(reading, statement->a);
    if (!is_text(value)) {
        walk_expression(reading, statement->a);
        return;
    }
    /* A string right below a field documents the field. */
    if (!reading->symbols.used || scope_at(reading, reading->scope)->is_function) return;
    Symbol *last = (Symbol *)reading->symbols.items + reading->symbols.used - 1;
    int is_documented_below = last->kind == IS_FIELD || last->kind == IS_VARIABLE || last->kind == IS_CONSTANT ||
                              last->kind == IS_MEMBER || last->kind == IS_TYPE;
    if (!is_documented_below || !is_next(reading, last->end, statement->start)) return;
    last->doc = literal_doc(reading, value);
    last->end = statement->end;
}

static int is_all(const Reading *reading, const Node *target) {
    return target->kind == NAME && target->name == reading->all && !scope_at(reading, reading->scope)->is_function;
}

static void read_assignment(Reading *reading, const Node *statement) {
    int32_t end = statement->end, count = statement->items.count;
    for (int32_t i = 0; i < count; i++) {
        Ref target = item_of(reading, statement->items, i);
        const Node *node = node_at(reading, target), *value = node_at(reading, statement->a);
        if (i == count - 1 && value->kind == LAMBDA && node->kind == NAME) {
            lambda_with_name(reading, node, value, end, 0);
            return;
        }
        bind_target(reading, target, node->start, end, 0);
    }
    walk_expression(reading, statement->a);
    if (count && is_all(reading, node_at(reading, item_of(reading, statement->items, count - 1)))) export_value(reading, statement->a);
}

static void read_annotated(Reading *reading, const Node *statement) {
    const Node *target = node_at(reading, statement->a), *value = node_at(reading, statement->c);
    int32_t end = statement->end;
    if (statement->c && value->kind == LAMBDA && target->kind == NAME) {
        lambda_with_name(reading, target, value, end, statement->b);
        return;
    }
    bind_target(reading, statement->a, target->start, end, statement->b);
    walk_types(reading, statement->b, reading->container);
    if (!statement->c) return;
    walk_expression(reading, statement->c);
    if (is_all(reading, target)) export_value(reading, statement->c);
}

static void read_augmented(Reading *reading, const Node *statement) {
    bind_target(reading, statement->a, statement->start, statement->end, 0);
    walk_expression(reading, statement->b);
    if (is_all(reading, node_at(reading, statement->a))) export_value(reading, statement->b);
}

static void read_raise(Reading *reading, const Node *statement) {
    const Node *raised = node_at(reading, statement->a);
    switch (statement->a ? (Kind)raised->kind : NOTHING) {
    case NOTHING:
        break;
    case CALL: {
        walk_expression(reading, statement->a);
        Path path = path_of(reading, raised->a);
        if (path.path.length) add_read(reading, USES_RAISE, &path);
        break;
    }
    case NAME:
    case ATTRIBUTE:
    case SUBSCRIPT:
    case AWAIT:
        note_read(reading, USES_RAISE, statement->a);
        break;
    default:
        walk_expression(reading, statement->a);
    }
    walk_expression(reading, statement->b);
}

static void read_with(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *item = node_at(reading, item_of(reading, statement->items, i));
        walk_expression(reading, item->a);
        if (item->b) bind_target(reading, item->b, -1, -1, 0);
    }
    block(reading, statement, statement->more);
}

static void catch_one(Reading *reading, Ref caught) {
    Kind kind = (Kind)node_at(reading, caught)->kind;
    if (kind == NAME || kind == ATTRIBUTE) add_path_use(reading, USES_CATCH, caught, reading->container);
    else walk_expression(reading, caught);
}

static void read_try(Reading *reading, const Node *statement) {
    block(reading, statement, statement->items);
    for (int32_t i = 0; i < statement->more.count; i++) {
        const Node *handler = node_at(reading, item_of(reading, statement->more, i));
        if (handler->a) {
            const Node *caught = node_at(reading, handler->a);
            if (caught->kind == TUPLE || caught->kind == LIST)
                for (int32_t each = 0; each < caught->items.count; each++) catch_one(reading, item_of(reading, caught->items, each));
            else catch_one(reading, handler->a);
        }
        if (handler->name != NO_NAME) take_name(reading, handler->name, handler, -1, -1, 0);
        walk_body(reading, handler->items);
    }
    if (statement->a) walk_body(reading, node_at(reading, statement->a)->items);
    if (statement->b) walk_body(reading, node_at(reading, statement->b)->items);
}

static void read_pattern(Reading *reading, Ref pattern);

static void read_patterns(Reading *reading, Run patterns) {
    for (int32_t i = 0; i < patterns.count; i++) read_pattern(reading, item_of(reading, patterns, i));
}

static void read_pattern(Reading *reading, Ref pattern) {
    if (!pattern || reading->failed) return;
    if (++reading->depth > MAX_DEPTH) reading->failed = 1;
    const Node *node = node_at(reading, pattern);
    switch (reading->failed ? MATCH_SINGLETON : (Kind)node->kind) {
    case MATCH_SINGLETON:
        break;
    case MATCH_VALUE:
        walk_expression(reading, node->a);
        break;
    case MATCH_AS:
    case MATCH_STAR:
        read_pattern(reading, node->a);
        if (node->name != NO_NAME) take_name(reading, node->name, node, -1, -1, 0);
        break;
    case MATCH_CLASS:
        walk_types(reading, node->a, reading->container);
        read_patterns(reading, node->items);
        for (int32_t i = 0; i < node->more.count; i++) read_pattern(reading, node_at(reading, item_of(reading, node->more, i))->a);
        break;
    case MATCH_MAPPING:
        walk_expressions(reading, node->items);
        read_patterns(reading, node->more);
        if (node->name != NO_NAME) take_name(reading, node->name, node, -1, -1, 0);
        break;
    case MATCH_SEQUENCE:
    case MATCH_OR:
        read_patterns(reading, node->items);
        break;
    default:
        reading->failed = 1;
    }
    reading->depth--;
}

static void read_match(Reading *reading, const Node *statement) {
    walk_expression(reading, statement->a);
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *one = node_at(reading, item_of(reading, statement->items, i));
        read_pattern(reading, one->a);
        walk_expression(reading, one->b);
        walk_body(reading, one->items);
    }
}

static void read_import(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *alias = node_at(reading, item_of(reading, statement->items, i));
        const Text *name = name_at(reading, alias->name);
        add_import(reading, kept_text(reading, name->bytes, name->length), NO_NAME, alias->other, statement->line, 0);
    }
}

static void read_import_from(Reading *reading, const Node *statement) {
    int64_t before = reading->texts.used;
    if (statement->number > MAX_MODULE) {
        reading->failed = 1;
        return;
    }
    for (int64_t i = 0; i < statement->number; i++) put_sign(&reading->texts, '.');
    if (statement->name != NO_NAME) put_bytes(&reading->texts, name_at(reading, statement->name)->bytes, name_at(reading, statement->name)->length);
    Piece module = since(&reading->texts, before);
    if (module.length > MAX_MODULE) reading->failed = 1;
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *alias = node_at(reading, item_of(reading, statement->items, i));
        const Text *name = name_at(reading, alias->name);
        int is_passed_on = alias->name == alias->other || is_same(name->bytes, name->length, "*");
        add_import(reading, module, alias->name, alias->other, alias->line, is_passed_on);
    }
}

static void names_elsewhere(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++)
        if (!map_set(&scope_at(reading, reading->scope)->elsewhere, item_of(reading, statement->items, i), 1)) reading->failed = 1;
}

static void statement_of(Reading *reading, const Node *statement) {
    switch ((Kind)statement->kind) {
    case PASS:
    case BREAK:
    case CONTINUE:
        break;
    case FUNCTION:
        read_function(reading, statement);
        break;
    case CLASS:
        read_class(reading, statement);
        break;
    case EXPRESSION:
        read_expression_statement(reading, statement);
        break;
    case ASSIGN:
        read_assignment(reading, statement);
        break;
    case ANNOTATED:
        read_annotated(reading, statement);
        break;
    case AUGMENTED:
        read_augmented(reading, statement);
        break;
    case RETURN:
        walk_expression(reading, statement->a);
        break;
    case DELETE:
        walk_expressions(reading, statement->items);
        break;
    case ASSERT:
        walk_expression(reading, statement->a);
        walk_expression(reading, statement->b);
        break;
    case RAISE:
        read_raise(reading, statement);
        break;
    case FOR:
        bind_target(reading, statement->a, -1, -1, 0);
        walk_expression(reading, statement->b);
        block(reading, statement, statement->items);
        walk_body(reading, statement->more);
        break;
    case WHILE:
    case IF:
        walk_expression(reading, statement->a);
        block(reading, statement, statement->items);
        walk_body(reading, statement->more);
        break;
    case WITH:
        read_with(reading, statement);
        break;
    case TRY:
        read_try(reading, statement);
        break;
    case MATCH:
        read_match(reading, statement);
        break;
    case GLOBAL:
    case NONLOCAL:
        names_elsewhere(reading, statement);
        break;
    case IMPORT:
        read_import(reading, statement);
        break;
    case IMPORT_FROM:
        read_import_from(reading, statement);
        break;
    default:
        reading->failed = 1;
    }
}

static void walk_body(Reading *reading, Run statements) {
    if (++reading->depth > MAX_DEPTH) reading->failed = 1;
    for (int32_t i = 0; i < statements.count && !reading->failed; i++) {
        const Node *statement = node_at(reading, item_of(reading, statements, i));
        statement_of(reading, statement);
        reading->floor = statement->end;
    }
    reading->depth--;
}

/* -- all of it ------------------------------------------------------------------------------------ */

int write_symbols(Tree *tree, Output *outline, Output *uses) {
    Reading reading = {.tree = tree, .scope = -1, .container = -1, .taken = -1};
    reading.all = named(tree, "__all__");
    reading.init = named(tree, "__init__");
    if (reading.all < 0 || reading.init < 0) return 0;
    put_bytes(&reading.texts, "\"\"[]", 4);
    reading.scope = scope_within(&reading, -1, 0);
    if (!reading.failed) {
        scope_at(&reading, 0)->is_function = 0;
        Piece doc = docstring(&reading, tree->body);
        walk_body(&reading, tree->body);
        if (!reading.failed && !reading.texts.failed && !reading.paths.failed) {
            sort_results(&reading);
        }
        if (!reading.failed && !reading.texts.failed && !reading.paths.failed) {
            write_outline(&reading, doc, outline);
            write_uses(&reading, uses);
        }
    }
    int is_done = !reading.failed && !reading.texts.failed && !reading.paths.failed && !outline->failed && !uses->failed;
    for (int64_t i = 0; i < reading.scopes.used; i++) {
        map_end(&scope_at(&reading, (int32_t)i)->names);
        map_end(&scope_at(&reading, (int32_t)i)->elsewhere);
    }
    free(reading.symbols.items);
    free(reading.imports.items);
    free(reading.uses.items);
    free(reading.reads.items);
    free(reading.scopes.items);
    free(reading.exports.items);
    end_output(&reading.texts);
    end_output(&reading.paths);
    return is_done;
}
