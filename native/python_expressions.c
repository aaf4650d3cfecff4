/* Reads Python expressions by the grammar of CPython 3.11. */

#include "python_reader.h"

#define MAX_POSITIONAL_ONLY 255

static Ref read_or(Reader *own);
static Ref read_binary(Reader *own, int least);
static Ref read_primary(Reader *own);

static int is_for(const Reader *own) {
    return this_type(own) == IS(for) || (this_type(own) == IS(async) && next_type(own) == IS(for));
}

/* -- names and numbers --------------------------------------------------------------------------- */

Ref read_name_token(Reader *own) {
    int32_t first = own->at, name = demand_name(own);
    return with_name(own, make_node(own, NAME, first, 0, 0, 0), name);
}

static int64_t whole_number(const uint8_t *digits, int32_t length) {
    int64_t value = 0;
    int base = 10;
    int32_t i = 0;
    if (length > 2 && digits[0] == '0' && digits[1] > '9' && digits[1] != '_') {
        base = (digits[1] | 32) == 'x' ? 16 : (digits[1] | 32) == 'o' ? 8 : 2;
        i = 2;
    }
    for (; i < length; i++) {
        if (digits[i] == '_') continue;
        value = value * base + (digits[i] <= '9' ? digits[i] - '0' : (digits[i] | 32) - 'a' + 10);
        if (value >= 1000000000) return -1;
    }
    return value;
}

Ref read_number_token(Reader *own) {
    Token token = *this_token(own);
    own->at++;
    if (token.form != WHOLE_NUMBER) return make_node(own, OTHER, own->at - 1, 0, 0, 0);
    Ref ref = make_node(own, WHOLE, own->at - 1, 0, 0, 0);
    node_at(own, ref)->number = whole_number(own->tree->content + token.start, token.end - token.start);
    return ref;
}

/* -- what stands in brackets --------------------------------------------------------------------- */

static Ref read_starred(Reader *own, int is_argument) {
    int32_t first = own->at++;
    Ref value = is_argument ? read_expression(own) : read_binary(own, 1);
    return make_node(own, STARRED, first, value, 0, 0);
}

static Ref read_star_named(Reader *own) { return this_type(own) == '*' ? read_starred(own, 0) : read_named_expression(own); }

static Run read_clauses(Reader *own) {
    int64_t mark = own->stack.used;
    while (is_for(own)) {
        int32_t first = own->at;
        uint8_t form = this_type(own) == IS(async);
        own->at += form + 1;
        Ref target = read_targets(own);
        demand(own, IS(in));
        Ref iterated = read_or(own);
        int64_t inner = own->stack.used;
        while (take(own, IS(if))) push_item(own, read_or(own));
        Run conditions = taken_items(own, inner);
        push_item(own, with_form(own, make_listing(own, FOR_EACH, first, target, iterated, conditions, NO_RUN), form));
    }
    return taken_items(own, mark);
}

/* Read the rest of a display after its first element, which was pushed, up to the closing bracket, which is not consumed. */
static void read_more_elements(Reader *own, uint8_t end) {
    while (this_type(own) != end) {
        demand(own, ',');
        if (this_type(own) == end) return;
        push_item(own, read_star_named(own));
    }
}

static Ref read_parenthesised(Reader *own) {
    int32_t first = own->at++;
    int64_t mark = own->stack.used;
    if (take(own, ')')) return make_listing(own, TUPLE, first, 0, 0, NO_RUN, NO_RUN);
    if (this_type(own) == IS(yield)) {
        Ref inner = read_values(own);
        demand(own, ')');
        return inner;
    }
    Ref element = read_star_named(own);
    if (this_type(own) == ')' && node_at(own, element)->kind != STARRED) return own->at++, element;
    if (is_for(own) && node_at(own, element)->kind != STARRED) {
        Run clauses = read_clauses(own);
        demand(own, ')');
        return make_listing(own, GENERATOR, first, element, 0, clauses, NO_RUN);
    }
    if (this_type(own) != ',') reject_file(own);
    push_item(own, element);
    read_more_elements(own, ')');
    own->at++;
    Run elements = taken_items(own, mark);
    return make_listing(own, TUPLE, first, 0, 0, elements, NO_RUN);
}

static Ref read_list(Reader *own) {
    int32_t first = own->at++;
    int64_t mark = own->stack.used;
    if (take(own, ']')) return make_listing(own, LIST, first, 0, 0, NO_RUN, NO_RUN);
    Ref element = read_star_named(own);
    if (is_for(own) && node_at(own, element)->kind != STARRED) {
        Run clauses = read_clauses(own);
        demand(own, ']');
        return make_listing(own, LIST_OF, first, element, 0, clauses, NO_RUN);
    }
    push_item(own, element);
    read_more_elements(own, ']');
    own->at++;
    Run elements = taken_items(own, mark);
    return make_listing(own, LIST, first, 0, 0, elements, NO_RUN);
}

/* Push a key, or 0 for `**`, and return the value. */
static Ref read_pair(Reader *own) {
    if (take(own, POWER_SIGN)) {
        push_item(own, 0);
        return read_binary(own, 1);
    }
    push_item(own, read_expression(own));
    demand(own, ':');
    return read_expression(own);
}

/* Read a dictionary after its first pair. Keys and values are pushed alternately and separated at the end. */
static Ref read_dictionary(Reader *own, int32_t first, int64_t mark, Ref value) {
    push_item(own, value);
    while (this_type(own) != '}') {
        demand(own, ',');
        if (this_type(own) == '}') break;
        push_item(own, read_pair(own));
    }
    own->at++;
    int64_t count = (own->stack.used - mark) / 2;
    for (int64_t i = 0; i < count; i++) push_item(own, own->stack.items[mark + 2 * i + 1]);
    Run values = taken_items(own, mark + 2 * count);
    for (int64_t i = 0; i < count; i++) own->stack.items[mark + i] = own->stack.items[mark + 2 * i];
    own->stack.used = mark + count;
    Run keys = taken_items(own, mark);
    return make_listing(own, DICT, first, 0, 0, keys, values);
}

static Ref read_braces(Reader *own) {
    int32_t first = own->at++;
    int64_t mark = own->stack.used;
    if (take(own, '}')) return make_listing(own, DICT, first, 0, 0, NO_RUN, NO_RUN);
    if (this_type(own) == POWER_SIGN) {
        Ref value = read_pair(own);
        return read_dictionary(own, first, mark, value);
    }
    int32_t before = own->at;
    Ref element = read_star_named(own);
    if (this_type(own) == ':' && node_at(own, element)->kind != STARRED && own->tokens.items[before + 1].type != WALRUS_SIGN) {
        own->at++;
        Ref value = read_expression(own);
        if (!is_for(own)) {
            push_item(own, element);
            return read_dictionary(own, first, mark, value);
        }
        Run clauses = read_clauses(own);
        demand(own, '}');
        return make_listing(own, DICT_OF, first, element, value, clauses, NO_RUN);
    }
    if (is_for(own) && node_at(own, element)->kind != STARRED) {
        Run clauses = read_clauses(own);
        demand(own, '}');
        return make_listing(own, SET_OF, first, element, 0, clauses, NO_RUN);
    }
    push_item(own, element);
    read_more_elements(own, '}');
    own->at++;
    Run elements = taken_items(own, mark);
    return make_listing(own, SET, first, 0, 0, elements, NO_RUN);
}

static Ref read_atom(Reader *own) {
    switch (this_type(own)) {
    case NAME_TOKEN: return read_name_token(own);
    case STRING_TOKEN: return read_strings(own);
    case NUMBER_TOKEN: return read_number_token(own);
    case '(': return read_parenthesised(own);
    case '[': return read_list(own);
    case '{': return read_braces(own);
    case IS(None): case IS(True): case IS(False): case DOTS_SIGN: own->at++; return make_node(own, OTHER, own->at - 1, 0, 0, 0);
    default: reject_file(own);
    }
}

/* -- calls and subscripts ------------------------------------------------------------------------ */

static Ref read_keyword(Reader *own) {
    int32_t first = own->at, name = NO_NAME;
    if (!take(own, POWER_SIGN)) {
        name = demand_name(own);
        own->at++;
    }
    Ref value = read_expression(own);
    return with_name(own, make_node(own, KEYWORD, first, value, 0, 0), name);
}

/* Read arguments up to the closing bracket; those since `mark` were pushed before. */
static Run read_more_arguments(Reader *own, int64_t mark, Run *keywords) {
    int64_t count = 0;
    int has_mapping = 0;
    Stack *stack = &own->stack;
    while (this_type(own) != ')') {
        int is_keyword = this_type(own) == POWER_SIGN || (this_type(own) == NAME_TOKEN && next_type(own) == '=');
        int is_starred = this_type(own) == '*';
        if ((is_starred && has_mapping) || (!is_starred && !is_keyword && count)) reject_file(own);
        has_mapping |= this_type(own) == POWER_SIGN;
        Ref ref = is_keyword ? read_keyword(own) : is_starred ? read_starred(own, 1) : read_named_expression(own);
        /* keywords are pushed as negative numbers, to separate them from positional arguments */
        push_item(own, is_keyword ? -ref : ref);
        count += is_keyword;
        if (this_type(own) != ')') demand(own, ',');
    }
    *keywords = NO_RUN;
    if (!count) return taken_items(own, mark);
    int64_t end = stack->used, to = mark;
    for (int64_t i = mark; i < end; i++)
        if (stack->items[i] < 0) push_item(own, -stack->items[i]);
    *keywords = taken_items(own, end);
    for (int64_t i = mark; i < end; i++)
        if (stack->items[i] > 0) stack->items[to++] = stack->items[i];
    stack->used = to;
    return taken_items(own, mark);
}

Run read_arguments(Reader *own, Run *keywords) { return read_more_arguments(own, own->stack.used, keywords); }

/* Read a call. A generator as its only argument has no brackets of its own, and gets the position of those of the call. */
static Ref read_call(Reader *own, int32_t first, Ref function) {
    int32_t bracket = own->at++;
    int64_t mark = own->stack.used;
    Run keywords = NO_RUN, arguments;
    if (this_type(own) != ')' && this_type(own) != '*' && this_type(own) != POWER_SIGN && next_type(own) != '=') {
        Ref argument = read_named_expression(own);
        if (is_for(own)) {
            Run clauses = read_clauses(own);
            demand(own, ')');
            push_item(own, make_listing(own, GENERATOR, bracket, argument, 0, clauses, NO_RUN));
            arguments = taken_items(own, mark);
            return make_listing(own, CALL, first, function, 0, arguments, NO_RUN);
        }
        if (this_type(own) != ')') demand(own, ',');
        push_item(own, argument);
    }
    arguments = read_more_arguments(own, mark, &keywords);
    demand(own, ')');
    return make_listing(own, CALL, first, function, 0, arguments, keywords);
}

static int ends_slice(uint8_t type) { return type == ':' || type == ',' || type == ']'; }

static Ref read_slice(Reader *own) {
    int32_t first = own->at;
    Ref lower = 0, upper = 0, step = 0;
    if (this_type(own) == '*') return read_starred(own, 1);
    if (this_type(own) != ':') {
        lower = read_named_expression(own);
        if (this_type(own) != ':' || own->tokens.items[first + 1].type == WALRUS_SIGN) return lower;
    }
    own->at++;
    if (!ends_slice(this_type(own))) upper = read_expression(own);
    if (take(own, ':') && !ends_slice(this_type(own))) step = read_expression(own);
    return make_node(own, SLICE, first, lower, upper, step);
}

static Ref read_subscript(Reader *own, int32_t first, Ref of) {
    int32_t inside = ++own->at;
    int64_t mark = own->stack.used;
    Ref slice = read_slice(own);
    if (this_type(own) == ',' || node_at(own, slice)->kind == STARRED) {
        push_item(own, slice);
        while (take(own, ',') && this_type(own) != ']') push_item(own, read_slice(own));
        Run parts = taken_items(own, mark);
        slice = make_listing(own, TUPLE, inside, 0, 0, parts, NO_RUN);
    }
    demand(own, ']');
    return make_node(own, SUBSCRIPT, first, of, slice, 0);
}

static Ref read_primary(Reader *own) {
    int32_t first = own->at;
    Ref ref = read_atom(own);
    for (;;) {
        switch (this_type(own)) {
        case '.': {
            own->at++;
            int32_t name = demand_name(own);
            ref = with_name(own, make_node(own, ATTRIBUTE, first, ref, 0, 0), name);
            break;
        }
        case '(': ref = read_call(own, first, ref); break;
        case '[': ref = read_subscript(own, first, ref); break;
        default: return ref;
        }
    }
}

/* -- operators ----------------------------------------------------------------------------------- */

/* Precedence of operators, from 1 for `|`; 0 for other tokens. */
static const uint8_t STRENGTHS[256] = {['|'] = 1, ['^'] = 2, ['&'] = 3, [LEFT_SIGN] = 4, [RIGHT_SIGN] = 4, ['+'] = 5, ['-'] = 5,
                                       ['*'] = 6, ['/'] = 6, [FLOOR_SIGN] = 6, ['%'] = 6, ['@'] = 6};

static uint8_t operator_form(uint8_t type) {
    return type == FLOOR_SIGN ? FLOOR : type == LEFT_SIGN ? SHIFT_LEFT : type == RIGHT_SIGN ? SHIFT_RIGHT : type;
}

static Ref read_unary(Reader *own) {
    int32_t first = own->at;
    uint8_t type = this_type(own);
    Ref ref;
    go_deeper(own);
    if (type == '-' || type == '+' || type == '~') {
        own->at++;
        Ref operand = read_unary(own);
        ref = with_form(own, make_node(own, UNARY, first, operand, 0, 0), type);
    } else {
        if (take(own, IS(await))) {
            Ref awaited = read_primary(own);
            ref = make_node(own, AWAIT, first, awaited, 0, 0);
        } else {
            ref = read_primary(own);
        }
        if (take(own, POWER_SIGN)) {
            Ref exponent = read_unary(own);
            ref = with_form(own, make_node(own, BINARY, first, ref, exponent, 0), POWER);
        }
    }
    own->depth--;
    return ref;
}

static Ref read_binary(Reader *own, int least) {
    int32_t first = own->at;
    Ref left = read_unary(own);
    for (;;) {
        uint8_t type = this_type(own);
        int strength = STRENGTHS[type];
        if (strength < least) return left;
        own->at++;
        Ref right = read_binary(own, strength + 1);
        left = with_form(own, make_node(own, BINARY, first, left, right, 0), operator_form(type));
    }
}

static int take_comparison(Reader *own) {
    switch (this_type(own)) {
    case '<': case '>': case EQUAL_SIGN: case UNEQUAL_SIGN: case AT_MOST_SIGN: case AT_LEAST_SIGN: case IS(in): own->at++; return 1;
    case IS(is): own->at += 1 + (next_type(own) == IS(not)); return 1;
    case IS(not):
        if (next_type(own) != IS(in)) return 0;
        own->at += 2;
        return 1;
    default: return 0;
    }
}

static Ref read_comparison(Reader *own) {
    int32_t first = own->at;
    Ref left = read_binary(own, 1);
    if (!take_comparison(own)) return left;
    int64_t mark = own->stack.used;
    do push_item(own, read_binary(own, 1));
    while (take_comparison(own));
    Run compared = taken_items(own, mark);
    return make_listing(own, COMPARE, first, left, 0, compared, NO_RUN);
}

static Ref read_not(Reader *own) {
    int32_t first = own->at;
    if (!take(own, IS(not))) return read_comparison(own);
    go_deeper(own);
    Ref operand = read_not(own);
    own->depth--;
    return with_form(own, make_node(own, UNARY, first, operand, 0, 0), '!');
}

static Ref read_and(Reader *own) {
    int32_t first = own->at;
    Ref left = read_not(own);
    if (this_type(own) != IS(and)) return left;
    int64_t mark = own->stack.used;
    push_item(own, left);
    while (take(own, IS(and))) push_item(own, read_not(own));
    Run operands = taken_items(own, mark);
    return with_form(own, make_listing(own, BOOLEAN, first, 0, 0, operands, NO_RUN), '&');
}

static Ref read_or(Reader *own) {
    int32_t first = own->at;
    Ref left = read_and(own);
    if (this_type(own) != IS(or)) return left;
    int64_t mark = own->stack.used;
    push_item(own, left);
    while (take(own, IS(or))) push_item(own, read_and(own));
    Run operands = taken_items(own, mark);
    return with_form(own, make_listing(own, BOOLEAN, first, 0, 0, operands, NO_RUN), '|');
}

static Ref read_lambda(Reader *own) {
    int32_t first = own->at++;
    Ref parameters = read_parameters(own, ':', 1);
    demand(own, ':');
    Ref body = read_expression(own);
    return make_node(own, LAMBDA, first, parameters, body, 0);
}

Ref read_expression(Reader *own) {
    int32_t first = own->at;
    go_deeper(own);
    Ref ref;
    if (this_type(own) == IS(lambda)) {
        ref = read_lambda(own);
    } else {
        ref = read_or(own);
        if (take(own, IS(if))) {
            Ref test = read_or(own);
            demand(own, IS(else));
            Ref otherwise = read_expression(own);
            ref = make_node(own, IF_ELSE, first, test, ref, otherwise);
        }
    }
    own->depth--;
    return ref;
}

Ref read_named_expression(Reader *own) {
    int32_t first = own->at;
    if (this_type(own) != NAME_TOKEN || next_type(own) != WALRUS_SIGN) return read_expression(own);
    Ref target = read_name_token(own);
    own->at++;
    Ref value = read_expression(own);
    return make_node(own, NAMED, first, target, value, 0);
}

/* -- lists without brackets ---------------------------------------------------------------------- */

/* Return whether an expression cannot continue here, so that the comma before was a trailing one. */
static int ends_expressions(uint8_t type) {
    switch (type) {
    case NEWLINE_TOKEN: case END_TOKEN: case ';': case '=': case ':': case ')': case ']': case '}': case CHANGE_SIGN: case IS(in): return 1;
    default: return 0;
    }
}

static Ref read_joined(Reader *own, Ref (*read_one)(Reader *)) {
    int32_t first = own->at;
    Ref element = read_one(own);
    if (this_type(own) != ',') return element;
    int64_t mark = own->stack.used;
    push_item(own, element);
    while (take(own, ',') && !ends_expressions(this_type(own))) push_item(own, read_one(own));
    Run elements = taken_items(own, mark);
    return make_listing(own, TUPLE, first, 0, 0, elements, NO_RUN);
}

static Ref read_star_expression(Reader *own) { return this_type(own) == '*' ? read_starred(own, 0) : read_expression(own); }

Ref read_star_expressions(Reader *own) { return read_joined(own, read_star_expression); }

Ref read_expressions(Reader *own) { return read_joined(own, read_expression); }

Ref read_subject(Reader *own) {
    Ref subject = read_joined(own, read_star_named);
    if (node_at(own, subject)->kind == STARRED) reject_file(own);
    return subject;
}

Ref read_values(Reader *own) {
    int32_t first = own->at;
    if (!take(own, IS(yield))) return read_star_expressions(own);
    if (take(own, IS(from))) {
        Ref source = read_expression(own);
        return make_node(own, YIELD_FROM, first, source, 0, 0);
    }
    Ref value = ends_expressions(this_type(own)) ? 0 : read_star_expressions(own);
    return make_node(own, YIELD, first, value, 0, 0);
}

/* -- targets ------------------------------------------------------------------------------------- */

void demand_target(Reader *own, Ref ref, int purpose) {
    Node node = *node_at(own, ref);
    switch (node.kind) {
    case NAME: case ATTRIBUTE: case SUBSCRIPT: return;
    case STARRED:
        if (purpose != FOR_ASSIGNING || node_at(own, node.a)->kind == STARRED) break;
        demand_target(own, node.a, purpose);
        return;
    case TUPLE: case LIST:
        if (purpose == FOR_CHANGING) break;
        for (int32_t i = 0; i < node.items.count; i++) demand_target(own, own->tree->items[node.items.first + i], purpose);
        return;
    default: break;
    }
    reject_file(own);
}

/* Read a target. It ends before `in`, which an expression would read as an operator. */
static Ref read_star_target(Reader *own) {
    int32_t first = own->at;
    go_deeper(own);
    int is_starred = take(own, '*');
    Ref ref = read_primary(own);
    if (is_starred) ref = make_node(own, STARRED, first, ref, 0, 0);
    demand_target(own, ref, FOR_ASSIGNING);
    own->depth--;
    return ref;
}

Ref read_targets(Reader *own) { return read_joined(own, read_star_target); }

Ref read_target(Reader *own) {
    if (this_type(own) == '*') decline_file(own);
    return read_star_target(own);
}

/* -- parameters ---------------------------------------------------------------------------------- */

static Ref read_parameter(Reader *own, int is_lambda, int is_starred) {
    int32_t first = own->at, name = demand_name(own);
    Ref annotation = 0;
    if (!is_lambda && take(own, ':')) annotation = is_starred && this_type(own) == '*' ? read_starred(own, 0) : read_expression(own);
    return with_name(own, make_node(own, ARGUMENT, first, annotation, 0, 0), name);
}

static int read_default(Reader *own, Ref parameter) {
    if (!take(own, '=')) return 0;
    Ref value = read_expression(own);
    Node *node = node_at(own, parameter);
    node->b = value;
    if (node->height <= node_at(own, value)->height) node->height = (uint16_t)(node_at(own, value)->height + 1);
    return 1;
}

/* Read what can only be followed by named parameters: `*`, `*args`, and keyword-only parameters. */
static Run read_named_parameters(Reader *own, uint8_t end, int is_lambda, Ref *rest) {
    int64_t mark = own->stack.used;
    int is_bare = this_type(own) == ',';
    if (!is_bare) *rest = read_parameter(own, is_lambda, 1);
    while (this_type(own) != end && this_type(own) != POWER_SIGN) {
        demand(own, ',');
        if (this_type(own) == end || this_type(own) == POWER_SIGN) break;
        Ref parameter = read_parameter(own, is_lambda, 0);
        read_default(own, parameter);
        push_item(own, parameter);
        if (this_type(own) != end && this_type(own) != ',') reject_file(own);
    }
    if (is_bare && own->stack.used == mark) reject_file(own);
    return taken_items(own, mark);
}

Ref read_parameters(Reader *own, uint8_t end, int is_lambda) {
    int32_t first = own->at;
    int64_t mark = own->stack.used, before_slash = 0;
    int has_default = 0;
    Ref rest = 0, mapping = 0;
    Run positional = NO_RUN, named_only = NO_RUN;
    while (this_type(own) != end && this_type(own) != '*' && this_type(own) != POWER_SIGN) {
        if (take(own, '/')) {
            if (before_slash || own->stack.used == mark) reject_file(own);
            before_slash = own->stack.used - mark;
            if (before_slash > MAX_POSITIONAL_ONLY) decline_file(own);
        } else {
            Ref parameter = read_parameter(own, is_lambda, 0);
            if (read_default(own, parameter)) has_default = 1;
            else if (has_default) reject_file(own);
            push_item(own, parameter);
        }
        if (this_type(own) != end) demand(own, ',');
    }
    positional = taken_items(own, mark);
    if (take(own, '*')) named_only = read_named_parameters(own, end, is_lambda, &rest);
    if (take(own, POWER_SIGN)) {
        if (own->at - 1 > first && own->tokens.items[own->at - 2].type != ',') reject_file(own);
        mapping = read_parameter(own, is_lambda, 0);
        take(own, ',');
    }
    if (this_type(own) != end) reject_file(own);
    Ref ref = make_listing(own, ARGUMENTS, first, rest, mapping, positional, named_only);
    return with_form(own, ref, (uint8_t)before_slash);
}
