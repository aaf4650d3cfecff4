/* The tokens of a Python file, and the numbers of its names. */

#ifndef SCRUBJAY_PYTHON_TOKENS_H
#define SCRUBJAY_PYTHON_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "python_tree.h"

/* The type of a single-character operator is that character. */
enum {
    END_TOKEN = 1,
    NAME_TOKEN, /* extra: the number of the name */
    NUMBER_TOKEN,
    STRING_TOKEN, /* extra: the length of its prefix; form: see below */
    NEWLINE_TOKEN,
    INDENT_TOKEN,
    DEDENT_TOKEN,
    POWER_SIGN = 128, /* ** */
    FLOOR_SIGN,       /* // */
    LEFT_SIGN,        /* << */
    RIGHT_SIGN,       /* >> */
    EQUAL_SIGN,       /* == */
    UNEQUAL_SIGN,     /* != */
    AT_MOST_SIGN,     /* <= */
    AT_LEAST_SIGN,    /* >= */
    ARROW_SIGN,       /* -> */
    WALRUS_SIGN,      /* := */
    DOTS_SIGN,        /* ... */
    CHANGE_SIGN,      /* += and similar; form: as of AUGMENTED */
    FIRST_KEYWORD
};

/* The keywords are the first names of every file, in this order. */
#define EACH_KEYWORD(DO)                                                                                                             \
    DO(False) DO(None) DO(True) DO(and) DO(as) DO(assert) DO(async) DO(await) DO(break) DO(class) DO(continue) DO(def) DO(del)       \
    DO(elif) DO(else) DO(except) DO(finally) DO(for) DO(from) DO(global) DO(if) DO(import) DO(in) DO(is) DO(lambda) DO(nonlocal)     \
    DO(not) DO(or) DO(pass) DO(raise) DO(return) DO(try) DO(while) DO(with) DO(yield)

#define KEYWORD_NUMBER(word) word##_number,
enum { EACH_KEYWORD(KEYWORD_NUMBER) KEYWORD_COUNT };
#define IS(word) (FIRST_KEYWORD + word##_number)

/* ESCAPED_STRING: contains a backslash */
enum { RAW_STRING = 1, BYTES_STRING = 2, FORMATTED_STRING = 4, TRIPLE_STRING = 8, ESCAPED_STRING = 16 };

enum { WHOLE_NUMBER, REAL_NUMBER, IMAGINARY_NUMBER };

typedef struct {
    int32_t start, end, line, end_line;
    int32_t extra;
    uint8_t type, form;
} Token;

typedef struct {
    Token *items;
    int32_t used, room;
} Tokens;

typedef struct Block Block;

typedef struct {
    Block *last;
} Arena;

void *arena_bytes(Arena *arena, int32_t length); /* NULL when out of memory; never moves */
void end_arena(Arena *arena);

typedef struct {
    Text *items;
    uint32_t *hashes;
    int32_t *slots; /* number of a name plus one, at the first free slot after its hash */
    int32_t used, room, slot_room;
} Names;

/* Return the number of a name, or -1 when out of memory. With an arena the name is copied, otherwise its bytes must outlive `names`. */
int32_t name_number(Names *names, Arena *arena, const uint8_t *bytes, int32_t length);
int start_names(Names *names); /* adds the keywords; 0 when out of memory */
void end_names(Names *names);

enum { TOKENS_READ, TOKENS_DOUBTFUL, TOKENS_INVALID }; /* TOKENS_INVALID: CPython certainly rejects it too */

typedef struct {
    Tokens *tokens;
    Names *names;
    Arena *arena; /* for names, or NULL */
    const uint8_t *content;
    int32_t at, end, line;
    int is_inside; /* of an f-string: as within brackets, so line ends do not count */
} Tokenizing;

int read_tokens(Tokenizing *own); /* appends them, and an END_TOKEN */

#endif
