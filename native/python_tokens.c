/* Tokenizes a Python file like the tokenizer of CPython 3.11; doubtful input is declined. */

#include "python_tokens.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BRACKETS 100
#define MAX_INDENTS 90
#define MAX_DECIMAL 4000 /* CPython rejects longer ones, since converting them takes quadratic time */
#define MIN_BLOCK 4096

/* -- memory that is let go of at once ------------------------------------------------------------ */

struct Block {
    Block *before;
    size_t used, room;
    uint8_t bytes[];
};

void *arena_bytes(Arena *arena, int32_t length) {
    Block *block = arena->last;
    size_t wanted = (size_t)length;
    if (!block || block->room - block->used < wanted) {
        size_t room = wanted > MIN_BLOCK ? wanted : MIN_BLOCK;
        block = malloc(sizeof *block + room);
        if (!block) return NULL;
        *block = (Block){arena->last, 0, room};
        arena->last = block;
    }
    void *place = block->bytes + block->used;
    block->used += wanted;
    return place;
}

void end_arena(Arena *arena) {
    for (Block *block = arena->last; block;) {
        Block *before = block->before;
        free(block);
        block = before;
    }
    arena->last = NULL;
}

/* -- names and their numbers --------------------------------------------------------------------- */

#define HASH_START 2166136261u
static inline uint32_t hash_on(uint32_t hash, uint8_t byte) { return (hash ^ byte) * 16777619u; }
static inline int32_t slot_of(const Names *names, uint32_t hash) {
    return (int32_t)((hash ^ hash >> 15) & (uint32_t)(names->slot_room - 1));
}

static int widen_names(Names *names) {
    int32_t room = names->room ? names->room * 2 : 256;
    Text *items = realloc(names->items, (size_t)room * sizeof *items);
    if (!items) return 0;
    names->items = items;
    uint32_t *hashes = realloc(names->hashes, (size_t)room * sizeof *hashes);
    if (!hashes) return 0;
    names->hashes = hashes;
    int32_t *slots = calloc((size_t)room * 2, sizeof *slots);
    if (!slots) return 0;
    free(names->slots);
    names->slots = slots;
    names->room = room;
    names->slot_room = room * 2;
    for (int32_t number = 0; number < names->used; number++) {
        int32_t slot = slot_of(names, hashes[number]);
        while (slots[slot]) slot = (slot + 1) & (names->slot_room - 1);
        slots[slot] = number + 1;
    }
    return 1;
}

static int32_t add_name(Names *names, Arena *arena, const uint8_t *bytes, int32_t length, uint32_t hash) {
    if (names->used == names->room && !widen_names(names)) return -1;
    if (arena) {
        uint8_t *copy = arena_bytes(arena, length);
        if (!copy) return -1;
        memcpy(copy, bytes, (size_t)length);
        bytes = copy;
    }
    int32_t slot = slot_of(names, hash);
    while (names->slots[slot]) slot = (slot + 1) & (names->slot_room - 1);
    names->items[names->used] = (Text){bytes, length, length};
    names->hashes[names->used] = hash;
    names->slots[slot] = ++names->used;
    return names->used - 1;
}

static int32_t hashed_number(Names *names, Arena *arena, const uint8_t *bytes, int32_t length, uint32_t hash) {
    for (int32_t slot = slot_of(names, hash); names->slots[slot]; slot = (slot + 1) & (names->slot_room - 1)) {
        int32_t number = names->slots[slot] - 1;
        if (names->hashes[number] == hash && names->items[number].length == length &&
            !memcmp(names->items[number].bytes, bytes, (size_t)length))
            return number;
    }
    return add_name(names, arena, bytes, length, hash);
}

int32_t name_number(Names *names, Arena *arena, const uint8_t *bytes, int32_t length) {
    uint32_t hash = HASH_START;
    for (int32_t i = 0; i < length; i++) hash = hash_on(hash, bytes[i]);
    return hashed_number(names, arena, bytes, length, hash);
}

int start_names(Names *names) {
#define KEYWORD_TEXT(word) #word,
    static const char *const keywords[] = {EACH_KEYWORD(KEYWORD_TEXT)};
    if (!widen_names(names)) return 0;
    for (int i = 0; i < KEYWORD_COUNT; i++)
        if (name_number(names, NULL, (const uint8_t *)keywords[i], (int32_t)strlen(keywords[i])) != i) return 0;
    return 1;
}

void end_names(Names *names) {
    free(names->items);
    free(names->hashes);
    free(names->slots);
    *names = (Names){0};
}

/* -- tokens -------------------------------------------------------------------------------------- */

typedef struct {
    int32_t depth, opened[MAX_BRACKETS];                 /* the tokens of the brackets that are open */
    int32_t indent, columns[MAX_INDENTS], others[MAX_INDENTS]; /* columns with tabs of width eight, and of width one */
} Levels;

enum { STRANGE, LETTER, DIGIT, SPACE, LINE_END, COMMENT, QUOTE, BACKSLASH, SIGN };

static const uint8_t CLASSES[256] = {
    ['\t'] = SPACE,    [' '] = SPACE,     ['\n'] = LINE_END, ['#'] = COMMENT, ['\''] = QUOTE,  ['"'] = QUOTE,  ['\\'] = BACKSLASH,
    ['0'] = DIGIT,     ['1'] = DIGIT,     ['2'] = DIGIT,     ['3'] = DIGIT,   ['4'] = DIGIT,   ['5'] = DIGIT,  ['6'] = DIGIT,
    ['7'] = DIGIT,     ['8'] = DIGIT,     ['9'] = DIGIT,     ['!'] = SIGN,    ['%'] = SIGN,    ['&'] = SIGN,   ['('] = SIGN,
    [')'] = SIGN,      ['*'] = SIGN,      ['+'] = SIGN,      [','] = SIGN,    ['-'] = SIGN,    ['.'] = SIGN,   ['/'] = SIGN,
    [':'] = SIGN,      [';'] = SIGN,      ['<'] = SIGN,      ['='] = SIGN,    ['>'] = SIGN,    ['@'] = SIGN,   ['['] = SIGN,
    [']'] = SIGN,      ['^'] = SIGN,      ['{'] = SIGN,      ['|'] = SIGN,    ['}'] = SIGN,    ['~'] = SIGN,   ['_'] = LETTER,
    ['A'] = LETTER,    ['B'] = LETTER,    ['C'] = LETTER,    ['D'] = LETTER,  ['E'] = LETTER,  ['F'] = LETTER, ['G'] = LETTER,
    ['H'] = LETTER,    ['I'] = LETTER,    ['J'] = LETTER,    ['K'] = LETTER,  ['L'] = LETTER,  ['M'] = LETTER, ['N'] = LETTER,
    ['O'] = LETTER,    ['P'] = LETTER,    ['Q'] = LETTER,    ['R'] = LETTER,  ['S'] = LETTER,  ['T'] = LETTER, ['U'] = LETTER,
    ['V'] = LETTER,    ['W'] = LETTER,    ['X'] = LETTER,    ['Y'] = LETTER,  ['Z'] = LETTER,  ['a'] = LETTER, ['b'] = LETTER,
    ['c'] = LETTER,    ['d'] = LETTER,    ['e'] = LETTER,    ['f'] = LETTER,  ['g'] = LETTER,  ['h'] = LETTER, ['i'] = LETTER,
    ['j'] = LETTER,    ['k'] = LETTER,    ['l'] = LETTER,    ['m'] = LETTER,  ['n'] = LETTER,  ['o'] = LETTER, ['p'] = LETTER,
    ['q'] = LETTER,    ['r'] = LETTER,    ['s'] = LETTER,    ['t'] = LETTER,  ['u'] = LETTER,  ['v'] = LETTER, ['w'] = LETTER,
    ['x'] = LETTER,    ['y'] = LETTER,    ['z'] = LETTER};

static inline int is_of_word(uint8_t byte) { return CLASSES[byte] == LETTER || CLASSES[byte] == DIGIT; }

/* Return the byte `by` positions ahead; 0, which no content contains, beyond the end. */
static inline uint8_t ahead(const Tokenizing *own, int32_t by) { return own->end - own->at > by ? own->content[own->at + by] : 0; }

static Token *add_token(Tokenizing *own, uint8_t type, int32_t start, int32_t line) {
    Tokens *tokens = own->tokens;
    if (tokens->used == tokens->room) {
        int32_t room = tokens->room ? tokens->room * 2 : 64;
        Token *items = realloc(tokens->items, (size_t)room * sizeof *items);
        if (!items) return NULL;
        tokens->items = items;
        tokens->room = room;
    }
    Token *token = tokens->items + tokens->used++;
    *token = (Token){start, own->at, line, own->line, 0, type, 0};
    return token;
}

static int add_sign(Tokenizing *own, uint8_t type, int32_t length) {
    own->at += length;
    return add_token(own, type, own->at - length, own->line) ? TOKENS_READ : TOKENS_DOUBTFUL;
}

static int add_change(Tokenizing *own, uint8_t operator, int32_t length) {
    int outcome = add_sign(own, CHANGE_SIGN, length);
    if (outcome == TOKENS_READ) own->tokens->items[own->tokens->used - 1].form = operator;
    return outcome;
}

/* Read an operator that may be doubled or followed by `=`. */
static int read_operator(Tokenizing *own, uint8_t doubled, uint8_t of_two) {
    uint8_t sign = ahead(own, 0);
    if (doubled && ahead(own, 1) == sign)
        return ahead(own, 2) == '=' ? add_change(own, of_two, 3) : add_sign(own, doubled, 2);
    return ahead(own, 1) == '=' ? add_change(own, sign, 2) : add_sign(own, sign, 1);
}

static int open_bracket(Tokenizing *own, Levels *levels, uint8_t sign) {
    if (levels->depth == MAX_BRACKETS) return TOKENS_DOUBTFUL;
    levels->opened[levels->depth++] = own->tokens->used;
    return add_sign(own, sign, 1);
}

static int close_bracket(Tokenizing *own, Levels *levels, uint8_t sign) {
    if (!levels->depth) return TOKENS_INVALID;
    Token *opening = own->tokens->items + levels->opened[--levels->depth];
    if (opening->type != (sign == ')' ? '(' : sign == ']' ? '[' : '{')) return TOKENS_INVALID;
    opening->extra = own->tokens->used;
    return add_sign(own, sign, 1);
}

static int read_number(Tokenizing *own);

static int read_sign(Tokenizing *own, Levels *levels) {
    uint8_t sign = ahead(own, 0), next = ahead(own, 1);
    switch (sign) {
    case '(': case '[': case '{': return open_bracket(own, levels, sign);
    case ')': case ']': case '}': return close_bracket(own, levels, sign);
    case ',': case ';': case '~': return add_sign(own, sign, 1);
    case '.':
        if (CLASSES[next] == DIGIT) return read_number(own);
        return next == '.' && ahead(own, 2) == '.' ? add_sign(own, DOTS_SIGN, 3) : add_sign(own, sign, 1);
    case ':': return next == '=' ? add_sign(own, WALRUS_SIGN, 2) : add_sign(own, sign, 1);
    case '=': return next == '=' ? add_sign(own, EQUAL_SIGN, 2) : add_sign(own, sign, 1);
    case '!': return next == '=' ? add_sign(own, UNEQUAL_SIGN, 2) : TOKENS_INVALID;
    case '<':
        if (next == '>') return TOKENS_DOUBTFUL;
        return next == '=' ? add_sign(own, AT_MOST_SIGN, 2) : next == '<' ? read_operator(own, LEFT_SIGN, SHIFT_LEFT) : add_sign(own, sign, 1);
    case '>':
        return next == '=' ? add_sign(own, AT_LEAST_SIGN, 2) : next == '>' ? read_operator(own, RIGHT_SIGN, SHIFT_RIGHT) : add_sign(own, sign, 1);
    case '-': return next == '>' ? add_sign(own, ARROW_SIGN, 2) : read_operator(own, 0, 0);
    case '*': return read_operator(own, POWER_SIGN, POWER);
    case '/': return read_operator(own, FLOOR_SIGN, FLOOR);
    default: return read_operator(own, 0, 0); /* + % & @ ^ | */
    }
}

static int is_digit_of(uint8_t byte, int base) {
    if (base <= 10) return byte >= '0' && byte < '0' + base;
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

/* Skip digits, each optionally preceded by `_`, the first only if that is allowed. Return 0 if there are none. */
static int skip_digits(Tokenizing *own, int base, int may_begin_so) {
    if (may_begin_so && ahead(own, 0) == '_') own->at++;
    if (!is_digit_of(ahead(own, 0), base)) return 0;
    for (;;) {
        while (is_digit_of(ahead(own, 0), base)) own->at++;
        if (ahead(own, 0) != '_') return 1;
        own->at++;
        if (!is_digit_of(ahead(own, 0), base)) return 0;
    }
}

/* End a number. A letter after it is an error, unless a keyword may start there, which is doubtful. */
static int end_number(Tokenizing *own, int32_t start, uint8_t form) {
    uint8_t next = ahead(own, 0);
    if (is_of_word(next) || next >= 128) return next < 128 && !strchr("aefino", next) ? TOKENS_INVALID : TOKENS_DOUBTFUL;
    Token *token = add_token(own, NUMBER_TOKEN, start, own->line);
    if (!token) return TOKENS_DOUBTFUL;
    token->form = form;
    return TOKENS_READ;
}

static int read_number(Tokenizing *own) {
    int32_t start = own->at;
    uint8_t form = WHOLE_NUMBER, mark = ahead(own, 1) | 32;
    int is_zero = 1;
    if (ahead(own, 0) == '0' && (mark == 'x' || mark == 'o' || mark == 'b')) {
        own->at += 2;
        return skip_digits(own, mark == 'x' ? 16 : mark == 'o' ? 8 : 2, 1) ? end_number(own, start, form) : TOKENS_INVALID;
    }
    if (ahead(own, 0) != '.') {
        if (!skip_digits(own, 10, 0)) return TOKENS_INVALID;
        if (own->at - start > MAX_DECIMAL) return TOKENS_DOUBTFUL;
        for (int32_t i = start; i < own->at; i++) is_zero &= own->content[i] == '0' || own->content[i] == '_';
    }
    int32_t whole_end = own->at;
    if (ahead(own, 0) == '.') {
        own->at++;
        form = REAL_NUMBER;
        if (is_digit_of(ahead(own, 0), 10) && !skip_digits(own, 10, 0)) return TOKENS_INVALID;
    }
    if ((ahead(own, 0) | 32) == 'e') {
        own->at++;
        form = REAL_NUMBER;
        if (ahead(own, 0) == '+' || ahead(own, 0) == '-') own->at++;
        if (!skip_digits(own, 10, 0)) return TOKENS_DOUBTFUL;
    }
    if ((ahead(own, 0) | 32) == 'j') {
        own->at++;
        form = IMAGINARY_NUMBER;
    }
    if (form == WHOLE_NUMBER && own->content[start] == '0' && whole_end - start > 1 && !is_zero) return TOKENS_INVALID;
    return end_number(own, start, form);
}

/* Return the form of a string by the letters before its quote; -1 if they are not a prefix. */
static int string_form(const uint8_t *prefix, int32_t length) {
    int form = 0, is_old = 0;
    for (int32_t i = 0; i < length; i++) {
        uint8_t letter = prefix[i] | 32;
        int means = letter == 'r' ? RAW_STRING : letter == 'b' ? BYTES_STRING : letter == 'f' ? FORMATTED_STRING : 0;
        if (letter == 'u') is_old = 1;
        else if (!means || form & means) return -1;
        form |= means;
    }
    if ((is_old && length > 1) || ((form & BYTES_STRING) && (form & FORMATTED_STRING))) return -1;
    return form;
}

/* Read a string at its opening quote, after the prefix. */
static int read_string(Tokenizing *own, int32_t prefix, int form) {
    int32_t start = own->at - prefix, line = own->line;
    const uint8_t *content = own->content;
    uint8_t quote = content[own->at];
    int32_t at = own->at + 1, end = own->end;
    int is_triple = ahead(own, 1) == quote && ahead(own, 2) == quote;
    if (is_triple) at += 2, form |= TRIPLE_STRING;
    for (;; at++) {
        if (at >= end) return TOKENS_INVALID;
        uint8_t byte = content[at];
        if (byte == '\\') {
            form |= ESCAPED_STRING;
            if (++at >= end) return TOKENS_INVALID;
            if (content[at] == '\n') own->line++;
        } else if (byte == '\n') {
            if (!is_triple) return TOKENS_INVALID;
            own->line++;
        } else if (byte == quote) {
            if (!is_triple) break;
            if (end - at > 2 && content[at + 1] == quote && content[at + 2] == quote) {
                at += 2;
                break;
            }
        }
    }
    own->at = at + 1;
    Token *token = add_token(own, STRING_TOKEN, start, line);
    if (!token) return TOKENS_DOUBTFUL;
    token->form = (uint8_t)form;
    token->extra = prefix;
    return TOKENS_READ;
}

static int read_word(Tokenizing *own) {
    int32_t start = own->at;
    uint32_t hash = HASH_START;
    do hash = hash_on(hash, own->content[own->at++]);
    while (own->at < own->end && is_of_word(own->content[own->at]));
    int32_t length = own->at - start;
    if (length < 3 && CLASSES[ahead(own, 0)] == QUOTE) {
        int form = string_form(own->content + start, length);
        if (form >= 0) return read_string(own, length, form);
    }
    if (ahead(own, 0) >= 128) return TOKENS_DOUBTFUL;
    int32_t number = hashed_number(own->names, own->arena, own->content + start, length, hash);
    Token *token = number < 0 ? NULL : add_token(own, number < KEYWORD_COUNT ? (uint8_t)(FIRST_KEYWORD + number) : NAME_TOKEN, start, own->line);
    if (!token) return TOKENS_DOUBTFUL;
    token->extra = number;
    return TOKENS_READ;
}

/* Update the indentation levels before the first token of a line. The nesting must not depend on the width of tabs. */
static int change_level(Tokenizing *own, Levels *levels, int32_t column, int32_t other) {
    if (column == levels->columns[levels->indent]) return other == levels->others[levels->indent] ? TOKENS_READ : TOKENS_DOUBTFUL;
    if (column > levels->columns[levels->indent]) {
        if (levels->indent + 1 == MAX_INDENTS || other <= levels->others[levels->indent]) return TOKENS_DOUBTFUL;
        levels->indent++;
        levels->columns[levels->indent] = column;
        levels->others[levels->indent] = other;
        return add_token(own, INDENT_TOKEN, own->at, own->line) ? TOKENS_READ : TOKENS_DOUBTFUL;
    }
    while (levels->indent && column < levels->columns[levels->indent]) {
        levels->indent--;
        if (!add_token(own, DEDENT_TOKEN, own->at, own->line)) return TOKENS_DOUBTFUL;
    }
    return column == levels->columns[levels->indent] && other == levels->others[levels->indent] ? TOKENS_READ : TOKENS_DOUBTFUL;
}

/* Read the indentation of a line; that of a blank line is ignored. */
static int read_indentation(Tokenizing *own, Levels *levels) {
    int32_t column = 0, other = 0;
    for (; CLASSES[ahead(own, 0)] == SPACE; own->at++) {
        column = own->content[own->at] == ' ' ? column + 1 : (column / 8 + 1) * 8;
        other++;
    }
    if (own->at == own->end) return TOKENS_READ;
    uint8_t class = CLASSES[own->content[own->at]];
    if (class == LINE_END || class == COMMENT) return TOKENS_READ;
    return class == BACKSLASH ? TOKENS_DOUBTFUL : change_level(own, levels, column, other);
}

static void skip_comment(Tokenizing *own) {
    const uint8_t *from = own->content + own->at, *end = memchr(from, '\n', (size_t)(own->end - own->at));
    own->at = end ? (int32_t)(end - own->content) : own->end;
}

static int end_line(Tokenizing *own, int *is_begun) {
    if (*is_begun && !add_token(own, NEWLINE_TOKEN, own->at, own->line)) return TOKENS_DOUBTFUL;
    *is_begun = 0;
    return TOKENS_READ;
}

static int end_tokens(Tokenizing *own, Levels *levels, int is_begun) {
    if (levels->depth) return TOKENS_INVALID;
    if (!own->is_inside && end_line(own, &is_begun) != TOKENS_READ) return TOKENS_DOUBTFUL;
    while (levels->indent--)
        if (!add_token(own, DEDENT_TOKEN, own->at, own->line)) return TOKENS_DOUBTFUL;
    return add_token(own, END_TOKEN, own->at, own->line) ? TOKENS_READ : TOKENS_DOUBTFUL;
}

int read_tokens(Tokenizing *own) {
    Levels levels;
    levels.depth = levels.indent = levels.columns[0] = levels.others[0] = 0;
    int is_begun = 0, outcome = own->is_inside ? TOKENS_READ : read_indentation(own, &levels);
    while (outcome == TOKENS_READ) {
        while (own->at < own->end && CLASSES[own->content[own->at]] == SPACE) own->at++;
        if (own->at == own->end) return end_tokens(own, &levels, is_begun);
        switch (CLASSES[own->content[own->at]]) {
        case LETTER: is_begun = 1; outcome = read_word(own); break;
        case DIGIT: is_begun = 1; outcome = read_number(own); break;
        case QUOTE: is_begun = 1; outcome = read_string(own, 0, 0); break;
        case SIGN: is_begun = 1; outcome = read_sign(own, &levels); break;
        case COMMENT: skip_comment(own); break;
        case BACKSLASH:
            if (ahead(own, 1) != '\n' || own->end - own->at < 3) return TOKENS_DOUBTFUL;
            own->at += 2;
            own->line++;
            break;
        case LINE_END:
            if (levels.depth || own->is_inside) {
                own->at++;
                own->line++;
                break;
            }
            outcome = end_line(own, &is_begun);
            own->at++;
            own->line++;
            if (outcome == TOKENS_READ) outcome = read_indentation(own, &levels);
            break;
        default: return strchr("$?`", own->content[own->at]) ? TOKENS_INVALID : TOKENS_DOUBTFUL;
        }
    }
    return outcome;
}
