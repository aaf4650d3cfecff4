/* Reads the patterns of match statements by the grammar of CPython 3.11. */

#include "python_reader.h"

static Ref read_pattern(Reader *own);

static int is_wildcard(const Reader *own) {
    const Token *token = this_token(own);
    return token->type == NAME_TOKEN && token->end - token->start == 1 && own->tree->content[token->start] == '_';
}

/* Read a capture name: not `_`, and not the start of another pattern. */
static int32_t read_capture(Reader *own) {
    if (is_wildcard(own)) reject_file(own);
    int32_t name = demand_name(own);
    if (this_type(own) == '.' || this_type(own) == '(' || this_type(own) == '=') reject_file(own);
    return name;
}

/* -- values -------------------------------------------------------------------------------------- */

static Ref read_signed_number(Reader *own) {
    int32_t first = own->at;
    int is_negative = take(own, '-');
    if (this_type(own) != NUMBER_TOKEN) reject_file(own);
    Ref number = read_number_token(own);
    return is_negative ? with_form(own, make_node(own, UNARY, first, number, 0, 0), '-') : number;
}

/* Read a number, or a sum of a real and an imaginary number. */
static Ref read_literal_number(Reader *own) {
    int32_t first = own->at;
    Ref left = read_signed_number(own);
    uint8_t sign = this_type(own);
    if (sign != '+' && sign != '-') return left;
    if (own->tokens.items[own->at - 1].form == IMAGINARY_NUMBER) reject_file(own);
    own->at++;
    if (this_type(own) != NUMBER_TOKEN || this_token(own)->form != IMAGINARY_NUMBER) reject_file(own);
    Ref right = read_number_token(own);
    return with_form(own, make_node(own, BINARY, first, left, right, 0), sign);
}

static Ref read_literal_strings(Reader *own) {
    Ref strings = read_strings(own);
    if (node_at(own, strings)->kind == JOINED) decline_file(own);
    return strings;
}

static Ref read_path(Reader *own) {
    int32_t first = own->at;
    Ref path = read_name_token(own);
    while (take(own, '.')) {
        int32_t name = demand_name(own);
        path = with_name(own, make_node(own, ATTRIBUTE, first, path, 0, 0), name);
    }
    return path;
}

/* -- what has parts ------------------------------------------------------------------------------ */

static Ref read_starred_pattern(Reader *own) {
    int32_t first = own->at++, name = NO_NAME;
    if (is_wildcard(own)) own->at++;
    else name = read_capture(own);
    return with_name(own, make_node(own, MATCH_STAR, first, 0, 0, 0), name);
}

static Ref read_sequence_part(Reader *own) { return this_type(own) == '*' ? read_starred_pattern(own) : read_pattern(own); }

static Ref read_sequence(Reader *own, uint8_t end) {
    int32_t first = own->at++;
    int64_t mark = own->stack.used;
    if (this_type(own) != end) {
        Ref part = read_sequence_part(own);
        if (end == ')' && this_type(own) == ')') { /* a single pattern in brackets is that pattern */
            if (node_at(own, part)->kind == MATCH_STAR) reject_file(own);
            own->at++;
            return part;
        }
        push_item(own, part);
        while (this_type(own) != end) {
            demand(own, ',');
            if (this_type(own) != end) push_item(own, read_sequence_part(own));
        }
    }
    own->at++;
    Run parts = taken_items(own, mark);
    return make_listing(own, MATCH_SEQUENCE, first, 0, 0, parts, NO_RUN);
}

static Ref read_key(Reader *own) {
    switch (this_type(own)) {
    case NAME_TOKEN: {
        Ref path = read_path(own);
        if (node_at(own, path)->kind == NAME) reject_file(own);
        return path;
    }
    case STRING_TOKEN: return read_literal_strings(own);
    case IS(None): case IS(True): case IS(False): own->at++; return make_node(own, OTHER, own->at - 1, 0, 0, 0);
    default: return read_literal_number(own);
    }
}

/* Separate items that were pushed alternately since `mark`: return the first of each pair, and store the second in `seconds`. */
static Run part_items(Reader *own, int64_t mark, Run *seconds) {
    int64_t count = (own->stack.used - mark) / 2;
    for (int64_t i = 0; i < count; i++) push_item(own, own->stack.items[mark + 2 * i + 1]);
    *seconds = taken_items(own, mark + 2 * count);
    for (int64_t i = 0; i < count; i++) own->stack.items[mark + i] = own->stack.items[mark + 2 * i];
    own->stack.used = mark + count;
    return taken_items(own, mark);
}

static Ref read_mapping(Reader *own) {
    int32_t first = own->at++, rest = NO_NAME;
    int64_t mark = own->stack.used;
    while (this_type(own) != '}') {
        if (take(own, POWER_SIGN)) {
            rest = read_capture(own);
            take(own, ',');
            break;
        }
        push_item(own, read_key(own));
        demand(own, ':');
        push_item(own, read_pattern(own));
        if (this_type(own) != '}') demand(own, ',');
    }
    demand(own, '}');
    Run patterns, keys = part_items(own, mark, &patterns);
    return with_name(own, make_listing(own, MATCH_MAPPING, first, 0, 0, keys, patterns), rest);
}

static Ref read_class_pattern(Reader *own, int32_t first, Ref path) {
    int64_t mark = own->stack.used;
    own->at++;
    while (this_type(own) != ')' && !(this_type(own) == NAME_TOKEN && next_type(own) == '=')) {
        push_item(own, read_pattern(own));
        if (this_type(own) != ')') demand(own, ',');
    }
    Run positional = taken_items(own, mark);
    while (this_type(own) != ')') {
        int32_t start = own->at, name = demand_name(own);
        demand(own, '=');
        Ref pattern = read_pattern(own);
        push_item(own, with_name(own, make_node(own, KEYWORD, start, pattern, 0, 0), name));
        if (this_type(own) != ')') demand(own, ',');
    }
    own->at++;
    Run keywords = taken_items(own, mark);
    return make_listing(own, MATCH_CLASS, first, path, 0, positional, keywords);
}

/* -- all of them --------------------------------------------------------------------------------- */

static Ref read_name_pattern(Reader *own) {
    int32_t first = own->at;
    uint8_t next = next_type(own);
    if (next == '.' || next == '(') {
        Ref path = read_path(own);
        if (this_type(own) == '(') return read_class_pattern(own, first, path);
        if (this_type(own) == '=') reject_file(own);
        return make_node(own, MATCH_VALUE, first, path, 0, 0);
    }
    int32_t name = NO_NAME;
    if (is_wildcard(own)) own->at++;
    else name = read_capture(own);
    return with_name(own, make_node(own, MATCH_AS, first, 0, 0, 0), name);
}

static Ref read_closed_pattern(Reader *own) {
    int32_t first = own->at;
    Ref value;
    switch (this_type(own)) {
    case NAME_TOKEN: return read_name_pattern(own);
    case '(': return read_sequence(own, ')');
    case '[': return read_sequence(own, ']');
    case '{': return read_mapping(own);
    case IS(None): case IS(True): case IS(False): own->at++; return make_node(own, MATCH_SINGLETON, first, 0, 0, 0);
    case STRING_TOKEN: value = read_literal_strings(own); break;
    default: value = read_literal_number(own); break;
    }
    return make_node(own, MATCH_VALUE, first, value, 0, 0);
}

static Ref read_pattern(Reader *own) {
    int32_t first = own->at;
    int64_t mark = own->stack.used;
    go_deeper(own);
    Ref pattern = read_closed_pattern(own);
    if (this_type(own) == '|') {
        push_item(own, pattern);
        while (take(own, '|')) push_item(own, read_closed_pattern(own));
        Run options = taken_items(own, mark);
        pattern = make_listing(own, MATCH_OR, first, 0, 0, options, NO_RUN);
    }
    if (take(own, IS(as))) {
        int32_t name = read_capture(own);
        pattern = with_name(own, make_node(own, MATCH_AS, first, pattern, 0, 0), name);
    }
    own->depth--;
    return pattern;
}

Ref read_case_pattern(Reader *own) {
    int32_t first = own->at;
    int64_t mark = own->stack.used;
    Ref part = read_sequence_part(own);
    if (this_type(own) != ',') {
        if (node_at(own, part)->kind == MATCH_STAR) reject_file(own);
        return part;
    }
    push_item(own, part);
    while (take(own, ',') && this_type(own) != ':' && this_type(own) != IS(if)) push_item(own, read_sequence_part(own));
    Run parts = taken_items(own, mark);
    return make_listing(own, MATCH_SEQUENCE, first, 0, 0, parts, NO_RUN);
}
