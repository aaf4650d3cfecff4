/* Parses a Python file like the parser of CPython 3.11: statements, and the shared parts of the parser. */

#include "python_tree.h"

#include <stdlib.h>
#include <string.h>

#include "python_reader.h"

#define MAX_FILE (8 << 20)
#define MAX_DEPTH 180 /* an expression in brackets counts twice */

typedef struct {
    Tree *root; /* the tree that owns the names: for an annotation, that of its file */
    Names names;
    Arena arena;
} Own;

static Own *class_of_receiver(const Tree *tree) { return tree->own; }

/* -- declining ----------------------------------------------------------------------------------- */

_Noreturn void reject_file(Reader *own) {
    own->is_wrong = 1;
    longjmp(*own->way_out, 1);
}

_Noreturn void decline_file(Reader *own) {
    own->is_wrong = 0;
    longjmp(*own->way_out, 1);
}

void go_deeper(Reader *own) {
    if (++own->depth > MAX_DEPTH) decline_file(own);
}

/* -- nodes --------------------------------------------------------------------------------------- */

/* Make room for one more item of a size; declines when out of memory. */
static void *widened(Reader *own, void *items, int32_t used, int32_t *room, size_t size) {
    if (used < *room) return items;
    if (*room > INT32_MAX / 4) decline_file(own);
    int32_t wanted = *room ? *room * 2 : 32;
    void *moved = realloc(items, (size_t)wanted * size);
    if (!moved) decline_file(own);
    *room = wanted;
    return moved;
}

void push_item(Reader *own, int32_t item) {
    Stack *stack = &own->stack;
    if (stack->used == stack->room) {
        int64_t room = stack->room ? stack->room * 2 : 256;
        int32_t *items = realloc(stack->items, (size_t)room * sizeof *items);
        if (!items) decline_file(own);
        stack->items = items;
        stack->room = room;
    }
    stack->items[stack->used++] = item;
}

Run taken_items(Reader *own, int64_t from) {
    Tree *tree = own->tree;
    Run run = {tree->item_count, (int32_t)(own->stack.used - from)};
    for (int64_t i = from; i < own->stack.used; i++) {
        tree->items = widened(own, tree->items, tree->item_count, &own->item_room, sizeof *tree->items);
        tree->items[tree->item_count++] = own->stack.items[i];
    }
    own->stack.used = from;
    return run.count ? run : NO_RUN;
}

static inline uint16_t taller(const Tree *tree, uint16_t height, Ref ref) {
    return tree->nodes[ref].height > height ? tree->nodes[ref].height : height;
}

static uint16_t tallest(const Tree *tree, uint16_t height, Run run) {
    for (int32_t i = 0; i < run.count; i++) height = taller(tree, height, tree->items[run.first + i]);
    return height;
}

static inline int is_blank(uint8_t type) { return type == NEWLINE_TOKEN || type == INDENT_TOKEN || type == DEDENT_TOKEN; }

static Ref put_node(Reader *own, Kind kind, int32_t first, Ref a, Ref b, Ref c, Run items, Run more) {
    Tree *tree = own->tree;
    tree->nodes = widened(own, tree->nodes, tree->node_count, &own->node_room, sizeof *tree->nodes);
    uint16_t height = taller(tree, taller(tree, taller(tree, 0, a), b), c);
    height = tallest(tree, tallest(tree, height, items), more);
    if (height >= MAX_HEIGHT) decline_file(own);
    const Token *from = own->tokens.items + first, *to = own->tokens.items + own->at - 1;
    while (to > from && is_blank(to->type)) to--;
    if (own->at <= first) to = from; /* a node without tokens has no width */
    tree->nodes[tree->node_count] = (Node){
        .kind = (uint8_t)kind, .height = (uint16_t)(height + 1), .start = from->start, .end = own->at <= first ? from->start : to->end,
        .line = from->line, .end_line = own->at <= first ? from->line : to->end_line, .name = NO_NAME, .other = NO_NAME,
        .a = a, .b = b, .c = c, .items = items, .more = more};
    return tree->node_count++;
}

Ref make_node(Reader *own, Kind kind, int32_t first, Ref a, Ref b, Ref c) { return put_node(own, kind, first, a, b, c, NO_RUN, NO_RUN); }

Ref make_listing(Reader *own, Kind kind, int32_t first, Ref a, Ref b, Run items, Run more) {
    return put_node(own, kind, first, a, b, 0, items, more);
}

int32_t make_text(Reader *own, const uint8_t *bytes, int32_t length) {
    Tree *tree = own->tree;
    int32_t inner = 0; /* UTF-8 continuation bytes */
    for (int32_t i = 0; i < length; i++) inner += (bytes[i] & 0xC0) == 0x80;
    tree->texts = widened(own, tree->texts, tree->text_count, &own->text_room, sizeof *tree->texts);
    tree->texts[tree->text_count] = (Text){bytes, length, length - inner};
    return tree->text_count++;
}

int32_t demand_name(Reader *own) {
    if (this_type(own) != NAME_TOKEN) reject_file(own);
    return own->tokens.items[own->at++].extra;
}

void add_tokens(Reader *own, int32_t from, int32_t to, int32_t line, int is_inside) {
    Tokenizing tokenizing = {&own->tokens, own->names, own->name_arena, own->tree->content, from, to, line, is_inside};
    int outcome = read_tokens(&tokenizing);
    if (outcome == TOKENS_INVALID) reject_file(own);
    if (outcome != TOKENS_READ) decline_file(own);
}

/* -- simple statements --------------------------------------------------------------------------- */

static int ends_statement(const Reader *own) { return this_type(own) == NEWLINE_TOKEN || this_type(own) == ';'; }

static Ref read_assignment(Reader *own, int32_t first, Ref target) {
    int64_t mark = own->stack.used;
    int is_bare_yield = 0;
    while (take(own, '=')) {
        /* a yield in brackets is not a target either */
        if (is_bare_yield) reject_file(own);
        demand_target(own, target, FOR_ASSIGNING);
        push_item(own, target);
        is_bare_yield = this_type(own) == IS(yield);
        target = read_values(own);
    }
    Run targets = taken_items(own, mark);
    return make_listing(own, ASSIGN, first, target, 0, targets, NO_RUN);
}

static Ref read_annotated(Reader *own, int32_t first, Ref target) {
    demand_target(own, target, FOR_CHANGING);
    own->at++;
    Ref annotation = read_expression(own);
    Ref value = take(own, '=') ? read_values(own) : 0;
    return make_node(own, ANNOTATED, first, target, annotation, value);
}

static Ref read_expression_statement(Reader *own) {
    int32_t first = own->at;
    int is_bare_yield = this_type(own) == IS(yield);
    Ref value = read_values(own);
    if (this_type(own) == '=' && !is_bare_yield) return read_assignment(own, first, value);
    if (this_type(own) == ':' && !is_bare_yield) return read_annotated(own, first, value);
    if (this_type(own) == CHANGE_SIGN && !is_bare_yield) {
        uint8_t form = this_token(own)->form;
        demand_target(own, value, FOR_CHANGING);
        own->at++;
        Ref change = read_values(own);
        return with_form(own, make_node(own, AUGMENTED, first, value, change, 0), form);
    }
    return make_node(own, EXPRESSION, first, value, 0, 0);
}

/* Read a dotted name as one name. Blanks between its parts are declined. */
static int32_t read_dotted(Reader *own) {
    int32_t first = own->at, number = demand_name(own);
    if (this_type(own) != '.') return number;
    while (take(own, '.')) demand_name(own);
    const Token *tokens = own->tokens.items;
    for (int32_t i = first; i < own->at - 1; i++)
        if (tokens[i].end != tokens[i + 1].start) decline_file(own);
    int32_t start = tokens[first].start, length = tokens[own->at - 1].end - start;
    number = name_number(own->names, own->name_arena, own->tree->content + start, length);
    if (number < 0) decline_file(own);
    return number;
}

static Ref read_alias(Reader *own, int is_dotted) {
    int32_t first = own->at, name = is_dotted ? read_dotted(own) : demand_name(own), other = NO_NAME;
    if (take(own, IS(as))) other = demand_name(own);
    Ref alias = with_name(own, make_node(own, ALIAS, first, 0, 0, 0), name);
    node_at(own, alias)->other = other;
    return alias;
}

static Ref read_import(Reader *own) {
    int32_t first = own->at++;
    int64_t mark = own->stack.used;
    do push_item(own, read_alias(own, 1));
    while (take(own, ','));
    Run aliases = taken_items(own, mark);
    return make_listing(own, IMPORT, first, 0, 0, aliases, NO_RUN);
}

static void push_everything(Reader *own) {
    int32_t star = name_number(own->names, NULL, (const uint8_t *)"*", 1);
    if (star < 0) decline_file(own);
    own->at++;
    push_item(own, with_name(own, make_node(own, ALIAS, own->at - 1, 0, 0, 0), star));
}

static Ref read_import_from(Reader *own) {
    int32_t first = own->at++, level = 0, module = NO_NAME;
    int64_t mark = own->stack.used;
    for (; this_type(own) == '.' || this_type(own) == DOTS_SIGN; own->at++) level += this_type(own) == '.' ? 1 : 3;
    if (!level || this_type(own) != IS(import)) module = read_dotted(own);
    demand(own, IS(import));
    if (this_type(own) == '*') {
        push_everything(own);
    } else {
        int is_bracketed = take(own, '(');
        do {
            if (is_bracketed && this_type(own) == ')' && own->stack.used > mark) break;
            push_item(own, read_alias(own, 0));
        } while (take(own, ','));
        if (is_bracketed) demand(own, ')');
    }
    Run aliases = taken_items(own, mark);
    Ref ref = with_name(own, make_listing(own, IMPORT_FROM, first, 0, 0, aliases, NO_RUN), module);
    node_at(own, ref)->number = level;
    return ref;
}

static Ref read_names(Reader *own, Kind kind) {
    int32_t first = own->at++;
    int64_t mark = own->stack.used;
    do push_item(own, demand_name(own));
    while (take(own, ','));
    Run names = taken_items(own, mark);
    Ref ref = make_node(own, kind, first, 0, 0, 0);
    node_at(own, ref)->items = names;
    return ref;
}

static Ref read_delete(Reader *own) {
    int32_t first = own->at++;
    int64_t mark = own->stack.used;
    do {
        if (ends_statement(own) && own->stack.used > mark) break;
        Ref target = read_expression(own);
        demand_target(own, target, FOR_DELETING);
        push_item(own, target);
    } while (take(own, ','));
    Run targets = taken_items(own, mark);
    return make_listing(own, DELETE, first, 0, 0, targets, NO_RUN);
}

static Ref read_raise(Reader *own) {
    int32_t first = own->at++;
    Ref raised = ends_statement(own) ? 0 : read_expression(own);
    Ref cause = raised && take(own, IS(from)) ? read_expression(own) : 0;
    return make_node(own, RAISE, first, raised, cause, 0);
}

static Ref read_assert(Reader *own) {
    int32_t first = own->at++;
    Ref test = read_expression(own), message = take(own, ',') ? read_expression(own) : 0;
    return make_node(own, ASSERT, first, test, message, 0);
}

static Ref read_return(Reader *own) {
    int32_t first = own->at++;
    Ref value = ends_statement(own) ? 0 : read_star_expressions(own);
    return make_node(own, RETURN, first, value, 0, 0);
}

static Ref read_word_alone(Reader *own, Kind kind) {
    own->at++;
    return make_node(own, kind, own->at - 1, 0, 0, 0);
}

static Ref read_simple_statement(Reader *own) {
    switch (this_type(own)) {
    case IS(return): return read_return(own);
    case IS(import): return read_import(own);
    case IS(from): return read_import_from(own);
    case IS(raise): return read_raise(own);
    case IS(pass): return read_word_alone(own, PASS);
    case IS(break): return read_word_alone(own, BREAK);
    case IS(continue): return read_word_alone(own, CONTINUE);
    case IS(del): return read_delete(own);
    case IS(assert): return read_assert(own);
    case IS(global): return read_names(own, GLOBAL);
    case IS(nonlocal): return read_names(own, NONLOCAL);
    default: return read_expression_statement(own);
    }
}

/* Push the statements of one line. */
static void read_simple_statements(Reader *own) {
    do {
        push_item(own, read_simple_statement(own));
        if (!ends_statement(own)) reject_file(own);
    } while (take(own, ';') && this_type(own) != NEWLINE_TOKEN);
    demand(own, NEWLINE_TOKEN);
}

/* -- compound statements ------------------------------------------------------------------------- */

static void read_statement(Reader *own);

/* Read the body after a colon: statements on the same line, or an indented block. */
static Run read_block(Reader *own) {
    int64_t mark = own->stack.used;
    demand(own, ':');
    go_deeper(own);
    if (take(own, NEWLINE_TOKEN)) {
        demand(own, INDENT_TOKEN);
        while (!take(own, DEDENT_TOKEN)) read_statement(own);
    } else {
        read_simple_statements(own);
    }
    own->depth--;
    return taken_items(own, mark);
}

static Run read_else(Reader *own) { return take(own, IS(else)) ? read_block(own) : NO_RUN; }

/* Read `if` or `elif`; an `elif` is an if within the else of the previous one. */
static Ref read_if(Reader *own) {
    int32_t first = own->at++;
    Ref test = read_named_expression(own);
    Run body = read_block(own), otherwise;
    if (this_type(own) == IS(elif)) {
        int64_t mark = own->stack.used;
        go_deeper(own);
        push_item(own, read_if(own));
        own->depth--;
        otherwise = taken_items(own, mark);
    } else {
        otherwise = read_else(own);
    }
    return make_listing(own, IF, first, test, 0, body, otherwise);
}

static Ref read_while(Reader *own) {
    int32_t first = own->at++;
    Ref test = read_named_expression(own);
    Run body = read_block(own), otherwise = read_else(own);
    return make_listing(own, WHILE, first, test, 0, body, otherwise);
}

static Ref read_for(Reader *own, int32_t first) {
    own->at++;
    Ref target = read_targets(own);
    demand(own, IS(in));
    Ref iterated = read_star_expressions(own);
    Run body = read_block(own), otherwise = read_else(own);
    return make_listing(own, FOR, first, target, iterated, body, otherwise);
}

static void push_with_item(Reader *own) {
    int32_t first = own->at;
    Ref context = read_expression(own), target = take(own, IS(as)) ? read_target(own) : 0;
    push_item(own, make_node(own, WITH_ITEM, first, context, target, 0));
}

/* Read the items of a with statement in brackets. Return 0 if the brackets contain something else, such as a tuple or a generator. */
static int read_bracketed_items(Reader *own) {
    jmp_buf here, *way_out = own->way_out;
    if (setjmp(here)) {
        own->way_out = way_out;
        return 0;
    }
    own->way_out = &here;
    own->at++;
    do {
        if (this_type(own) == ')') break;
        push_with_item(own);
    } while (take(own, ','));
    demand(own, ')');
    if (this_type(own) != ':') reject_file(own);
    own->way_out = way_out;
    return 1;
}

static void push_with_items(Reader *own) {
    int32_t at = own->at, depth = own->depth;
    if (this_type(own) == '(' && next_type(own) != ')' && own->tokens.items[this_token(own)->extra + 1].type == ':') {
        int64_t mark = own->stack.used;
        int32_t used = own->tokens.used, bytes_used = own->bytes_used;
        if (read_bracketed_items(own)) return;
        own->at = at;
        own->depth = depth;
        own->stack.used = mark;
        own->tokens.used = used;
        own->bytes_used = bytes_used;
    }
    do push_with_item(own);
    while (take(own, ','));
}

static Ref read_with(Reader *own, int32_t first) {
    int64_t mark = own->stack.used;
    own->at++;
    push_with_items(own);
    Run items = taken_items(own, mark), body = read_block(own);
    return make_listing(own, WITH, first, 0, 0, items, body);
}

static Ref read_handler(Reader *own, int is_group) {
    int32_t first = own->at++, name = NO_NAME;
    Ref caught = 0;
    if (take(own, '*') != is_group) reject_file(own);
    if (is_group || this_type(own) != ':') {
        caught = read_expression(own);
        if (take(own, IS(as))) name = demand_name(own);
    }
    Run body = read_block(own);
    return with_name(own, make_listing(own, HANDLER, first, caught, 0, body, NO_RUN), name);
}

static Ref read_block_node(Reader *own) {
    int32_t first = own->at++;
    Run body = read_block(own);
    return make_listing(own, BLOCK, first, 0, 0, body, NO_RUN);
}

static Ref read_try(Reader *own) {
    int32_t first = own->at++;
    Run body = read_block(own);
    int64_t mark = own->stack.used;
    int is_group = this_type(own) == IS(except) && next_type(own) == '*';
    while (this_type(own) == IS(except)) push_item(own, read_handler(own, is_group));
    Run handlers = taken_items(own, mark);
    Ref otherwise = handlers.count && this_type(own) == IS(else) ? read_block_node(own) : 0;
    Ref finally = this_type(own) == IS(finally) ? read_block_node(own) : 0;
    if (!handlers.count && !finally) reject_file(own);
    return with_form(own, make_listing(own, TRY, first, otherwise, finally, body, handlers), (uint8_t)is_group);
}

static Ref read_function(Reader *own, int32_t first, Run decorators) {
    own->at++;
    int32_t name = demand_name(own);
    demand(own, '(');
    Ref parameters = read_parameters(own, ')', 0);
    demand(own, ')');
    Ref returned = take(own, ARROW_SIGN) ? read_expression(own) : 0;
    Run body = read_block(own);
    return with_name(own, make_listing(own, FUNCTION, first, parameters, returned, body, decorators), name);
}

static Ref read_class(Reader *own, Run decorators) {
    int32_t first = own->at++, name = demand_name(own), bracket = own->at;
    Ref bases = 0;
    if (take(own, '(')) {
        Run keywords, arguments = read_arguments(own, &keywords);
        demand(own, ')');
        if (arguments.count || keywords.count) bases = make_listing(own, BASES, bracket, 0, 0, arguments, keywords);
    }
    Run body = read_block(own);
    return with_name(own, make_listing(own, CLASS, first, bases, 0, body, decorators), name);
}

/* Read a statement that starts with `async`, which is stored in the form of the node. */
static Ref read_async(Reader *own, Run decorators) {
    int32_t first = own->at++;
    switch (this_type(own)) {
    case IS(def): return with_form(own, read_function(own, first, decorators), 1);
    case IS(for): return with_form(own, read_for(own, first), 1);
    case IS(with): return with_form(own, read_with(own, first), 1);
    default: reject_file(own);
    }
}

static Ref read_decorated(Reader *own) {
    int64_t mark = own->stack.used;
    while (take(own, '@')) {
        push_item(own, read_named_expression(own));
        demand(own, NEWLINE_TOKEN);
    }
    Run decorators = taken_items(own, mark);
    if (this_type(own) == IS(class)) return read_class(own, decorators);
    if (this_type(own) == IS(def)) return read_function(own, own->at, decorators);
    if (this_type(own) == IS(async) && next_type(own) == IS(def)) return read_async(own, decorators);
    reject_file(own);
}

static int is_word(const Reader *own, const char *word) {
    const Token *token = this_token(own);
    size_t length = (size_t)(token->end - token->start);
    return token->type == NAME_TOKEN && length == strlen(word) && !memcmp(own->tree->content + token->start, word, length);
}

/* Return whether a match statement starts here: no other statement starts with this name and ends its line with a colon. */
static int is_match(const Reader *own) {
    if (!is_word(own, "match")) return 0;
    const Token *token = this_token(own) + 1;
    if (token->type == ':') return 0;
    while (token->type != NEWLINE_TOKEN && token->type != END_TOKEN) token++;
    return token[-1].type == ':';
}

static Ref read_case(Reader *own) {
    int32_t first = own->at;
    if (!is_word(own, "case")) reject_file(own);
    own->at++;
    Ref pattern = read_case_pattern(own), guard = take(own, IS(if)) ? read_named_expression(own) : 0;
    Run body = read_block(own);
    return make_listing(own, CASE, first, pattern, guard, body, NO_RUN);
}

static Ref read_match(Reader *own) {
    int32_t first = own->at++;
    Ref subject = read_subject(own);
    int64_t mark = own->stack.used;
    demand(own, ':');
    demand(own, NEWLINE_TOKEN);
    demand(own, INDENT_TOKEN);
    while (!take(own, DEDENT_TOKEN)) push_item(own, read_case(own));
    Run cases = taken_items(own, mark);
    return make_listing(own, MATCH, first, subject, 0, cases, NO_RUN);
}

/* Push a statement, or all statements of one line. */
static void read_statement(Reader *own) {
    Ref ref;
    switch (this_type(own)) {
    case IS(def): ref = read_function(own, own->at, NO_RUN); break;
    case IS(if): ref = read_if(own); break;
    case IS(for): ref = read_for(own, own->at); break;
    case IS(with): ref = read_with(own, own->at); break;
    case IS(try): ref = read_try(own); break;
    case IS(class): ref = read_class(own, NO_RUN); break;
    case IS(while): ref = read_while(own); break;
    case IS(async): ref = read_async(own, NO_RUN); break;
    case '@': ref = read_decorated(own); break;
    default:
        if (!is_match(own)) {
            read_simple_statements(own);
            return;
        }
        ref = read_match(own);
    }
    push_item(own, ref);
}

/* -- what is read at all ------------------------------------------------------------------------- */

/* Return the length of a UTF-8 character beyond ASCII; 0 if it is invalid. */
static int32_t letter_length(const uint8_t *bytes, int32_t left) {
    uint8_t first = bytes[0], least = 0x80, most = 0xBF;
    int32_t length = first >= 0xC2 && first <= 0xDF ? 2 : first >= 0xE0 && first <= 0xEF ? 3 : first >= 0xF0 && first <= 0xF4 ? 4 : 0;
    if (!length || left < length) return 0;
    if (first == 0xE0) least = 0xA0;
    if (first == 0xED) most = 0x9F;
    if (first == 0xF0) least = 0x90;
    if (first == 0xF4) most = 0x8F;
    if (bytes[1] < least || bytes[1] > most) return 0;
    for (int32_t i = 2; i < length; i++)
        if (bytes[i] < 0x80 || bytes[i] > 0xBF) return 0;
    return length;
}

static void add_line(Reader *own, int32_t start, int32_t *room) {
    Tree *tree = own->tree;
    tree->line_starts = widened(own, tree->line_starts, tree->line_count, room, sizeof *tree->line_starts);
    tree->line_starts[tree->line_count++] = start;
}

/* Find the lines. Declines what is not plain UTF-8, or has bytes that count as line ends only for some tools. */
static void read_lines(Reader *own) {
    const uint8_t *content = own->tree->content;
    int32_t length = own->tree->length, room = length / 32 + 8, at = 0;
    own->tree->line_starts = malloc((size_t)room * sizeof *own->tree->line_starts);
    if (!own->tree->line_starts) decline_file(own);
    add_line(own, 0, &room);
    add_line(own, 0, &room);
    while (at < length) {
        uint8_t byte = content[at];
        if (byte >= 0x80) {
            int32_t size = letter_length(content + at, length - at);
            if (!size) decline_file(own);
            at += size;
            continue;
        }
        at++;
        if (byte >= 0x20) continue;
        if (byte == '\n') add_line(own, at, &room);
        else if (byte == '\r' || byte == '\f' || !byte) decline_file(own);
    }
    if (own->tree->line_starts[own->tree->line_count - 1] != length) add_line(own, length, &room);
}

static int is_of_encoding(uint8_t byte) {
    return (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z') || byte == '-' || byte == '_' || byte == '.';
}

/* Return whether a line declares no encoding, or UTF-8. */
static int is_plain_line(const uint8_t *line, int32_t length) {
    for (int32_t i = 0; length - i >= 7; i++) {
        if (memcmp(line + i, "coding", 6) || (line[i + 6] != ':' && line[i + 6] != '=')) continue;
        for (i += 7; i < length && (line[i] == ' ' || line[i] == '\t');) i++;
        int32_t start = i;
        while (i < length && is_of_encoding(line[i])) i++;
        const uint8_t *name = line + start;
        int32_t size = i - start;
        int is_dashed = size == 5 && (name[3] == '-' || name[3] == '_');
        return (size == 4 || is_dashed) && (name[0] | 32) == 'u' && (name[1] | 32) == 't' && (name[2] | 32) == 'f' && name[size - 1] == '8';
    }
    return 1;
}

static void read_encoding(Reader *own) {
    const Tree *tree = own->tree;
    if (tree->length >= 3 && !memcmp(tree->content, "\xEF\xBB\xBF", 3)) decline_file(own);
    for (int32_t line = 1; line <= 2 && line + 1 < tree->line_count; line++) {
        int32_t start = tree->line_starts[line], length = tree->line_starts[line + 1] - start;
        const uint8_t *text = tree->content + start;
        if (memchr(text, '#', (size_t)length) && !is_plain_line(text, length)) decline_file(own);
    }
}

static void read_file(Reader *own) {
    read_encoding(own);
    add_tokens(own, 0, own->tree->length, 1, 0);
    while (this_type(own) != END_TOKEN) read_statement(own);
    own->tree->body = taken_items(own, 0);
}

static void read_alone(Reader *own) {
    add_tokens(own, 0, own->tree->length, 1, 0);
    own->tree->expression = read_expressions(own);
    while (take(own, NEWLINE_TOKEN)) continue;
    if (this_type(own) != END_TOKEN) reject_file(own);
}

/* Node 0 is reserved for none. Reserve the room that a file of this length typically needs. */
static void begin(Reader *own) {
    Tree *tree = own->tree;
    own->node_room = tree->length / 12 + 16;
    own->tokens.room = tree->length / 6 + 16;
    tree->nodes = malloc((size_t)own->node_room * sizeof *tree->nodes);
    own->tokens.items = malloc((size_t)own->tokens.room * sizeof *own->tokens.items);
    if (!tree->nodes || !own->tokens.items) decline_file(own);
    tree->nodes[tree->node_count++] = (Node){.name = NO_NAME, .other = NO_NAME};
}

static int was_read(Reader *own, void (*read)(Reader *)) {
    jmp_buf here;
    own->way_out = &here;
    if (setjmp(here)) return 0;
    begin(own);
    read_lines(own);
    read(own);
    return 1;
}

static int has_formatted(const Tokens *tokens) {
    for (int32_t i = 0; i < tokens->used; i++)
        if (tokens->items[i].type == STRING_TOKEN && tokens->items[i].form & FORMATTED_STRING) return 1;
    return 0;
}

static int is_operand(const Token *token) { return token->type == NAME_TOKEN || token->type == NUMBER_TOKEN || token->type == STRING_TOKEN; }

/* Return whether two words, or a word and a number, are adjacent as in prose, which no expression allows. */
static int is_prose(const Tokens *tokens) {
    for (int32_t i = 1; i < tokens->used; i++)
        if (is_operand(tokens->items + i - 1) && is_operand(tokens->items + i) &&
            (tokens->items[i - 1].type != STRING_TOKEN || tokens->items[i].type != STRING_TOKEN))
            return 1;
    return 0;
}

static void tell_names(Tree *tree) {
    Names *names = &class_of_receiver(class_of_receiver(tree)->root)->names;
    tree->names = class_of_receiver(tree)->root->names = names->items;
    tree->name_count = class_of_receiver(tree)->root->name_count = names->used;
}

static Tree *new_tree(Tree *root, const uint8_t *content, int32_t length) {
    Tree *tree = calloc(1, sizeof *tree);
    Own *own = tree ? calloc(1, sizeof *own) : NULL;
    if (!own) {
        free(tree);
        return NULL;
    }
    tree->own = own;
    tree->content = content;
    tree->length = length;
    own->root = root ? root : tree;
    return tree;
}

static Tree *read_whole(Tree *tree, void (*read)(Reader *), int *is_wrong) {
    Own *own = class_of_receiver(tree), *root = class_of_receiver(own->root);
    Reader reader = {.tree = tree, .names = &root->names, .name_arena = root == own ? NULL : &root->arena, .arena = &own->arena};
    int is_read = was_read(&reader, read);
    tell_names(tree);
    /* newer versions accept more in f-strings */
    if (is_wrong) *is_wrong = !is_read && (reader.is_wrong || is_prose(&reader.tokens)) && !has_formatted(&reader.tokens);
    free(reader.tokens.items);
    free(reader.stack.items);
    free(reader.bytes);
    if (is_read) return tree;
    end_tree(tree);
    return NULL;
}

Tree *read_tree(const uint8_t *content, int32_t length) {
    if (length < 0 || length > MAX_FILE) return NULL;
    Tree *tree = new_tree(NULL, content, length);
    if (!tree) return NULL;
    if (!start_names(&class_of_receiver(tree)->names)) {
        end_tree(tree);
        return NULL;
    }
    return read_whole(tree, read_file, NULL);
}

Tree *read_annotation(Tree *around, const uint8_t *content, int32_t length, int *is_wrong) {
    *is_wrong = 0;
    if (length < 0 || length > MAX_FILE) return NULL;
    Tree *tree = new_tree(class_of_receiver(around)->root, content, length);
    if (!tree) return NULL;
    tree = read_whole(tree, read_alone, is_wrong);
    around->names = class_of_receiver(around)->root->names;
    around->name_count = class_of_receiver(around)->root->name_count;
    return tree;
}

void end_tree(Tree *tree) {
    if (!tree) return;
    Own *own = class_of_receiver(tree);
    end_names(&own->names);
    end_arena(&own->arena);
    free(own);
    free(tree->line_starts);
    free(tree->nodes);
    free(tree->items);
    free(tree->texts);
    free(tree);
}

int32_t named(Tree *tree, const char *name) {
    Own *root = class_of_receiver(class_of_receiver(tree)->root);
    int32_t number = name_number(&root->names, &root->arena, (const uint8_t *)name, (int32_t)strlen(name));
    tell_names(tree);
    return number;
}
