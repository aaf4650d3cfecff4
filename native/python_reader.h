/* Shared declarations of the Python parser. */

#ifndef SCRUBJAY_PYTHON_READER_H
#define SCRUBJAY_PYTHON_READER_H

#include <setjmp.h>
#include <stdint.h>

#include "python_tokens.h"
#include "python_tree.h"

typedef struct {
    int32_t *items;
    int64_t used, room;
} Stack;

typedef struct {
    Tree *tree;
    Names *names;       /* of the file, also while an annotation is read */
    Arena *name_arena;  /* for names that are not in the file; NULL for a file */
    Arena *arena;
    Tokens tokens;      /* of the file, followed by those of the current formatted value */
    int32_t at;         /* index of the next token */
    int32_t depth;      /* recursion depth */
    Stack stack;        /* future items of unfinished nodes */
    uint8_t *bytes;     /* of unfinished string literals */
    int32_t bytes_used, bytes_room;
    int32_t node_room, item_room, text_room;
    int is_wrong;       /* CPython certainly rejects the file too */
    jmp_buf *way_out;   /* target of all declines */
} Reader;

/* Both decline the file and do not return. `reject_file` is for errors that CPython certainly rejects too; `decline_file` for anything
   uncertain. */
_Noreturn void reject_file(Reader *own);
_Noreturn void decline_file(Reader *own);

static inline const Token *this_token(const Reader *own) { return own->tokens.items + own->at; }
static inline uint8_t this_type(const Reader *own) { return own->tokens.items[own->at].type; }
/* There is always an END_TOKEN, and the parser never goes past it. */
static inline uint8_t next_type(const Reader *own) { return this_type(own) == END_TOKEN ? END_TOKEN : own->tokens.items[own->at + 1].type; }

static inline int take(Reader *own, uint8_t type) {
    if (this_type(own) != type) return 0;
    own->at++;
    return 1;
}

static inline void demand(Reader *own, uint8_t type) {
    if (!take(own, type)) reject_file(own);
}

int32_t demand_name(Reader *own); /* the number of the name that must be next */

void go_deeper(Reader *own); /* decrement `depth` afterwards */

/* Make a node that spans from its first token to the token before the current one. */
Ref make_node(Reader *own, Kind kind, int32_t first, Ref a, Ref b, Ref c);
Ref make_listing(Reader *own, Kind kind, int32_t first, Ref a, Ref b, Run items, Run more);
static inline Node *node_at(const Reader *own, Ref ref) { return own->tree->nodes + ref; }
static inline Ref with_form(const Reader *own, Ref ref, uint8_t form) { return node_at(own, ref)->form = form, ref; }
static inline Ref with_name(const Reader *own, Ref ref, int32_t name) { return node_at(own, ref)->name = name, ref; }

void push_item(Reader *own, int32_t item);
Run taken_items(Reader *own, int64_t from); /* the items pushed since the stack had `from` items */
#define NO_RUN ((Run){0, 0})

void add_tokens(Reader *own, int32_t from, int32_t to, int32_t line, int is_inside);
int32_t make_text(Reader *own, const uint8_t *bytes, int32_t length);

/* Expressions, as the grammar names them */
Ref read_expression(Reader *own);
Ref read_named_expression(Reader *own);
Ref read_star_expressions(Reader *own);
Ref read_values(Reader *own);         /* yield_expr or star_expressions */
Ref read_subject(Reader *own);        /* of a match statement */
Ref read_expressions(Reader *own);    /* as with `mode="eval"` */
Ref read_targets(Reader *own);        /* of a loop */
Ref read_target(Reader *own);         /* of a with statement */
Ref read_parameters(Reader *own, uint8_t end, int is_lambda);
Run read_arguments(Reader *own, Run *keywords); /* up to the closing bracket */
Ref read_number_token(Reader *own);
Ref read_name_token(Reader *own);
enum { FOR_ASSIGNING, FOR_CHANGING, FOR_DELETING };
void demand_target(Reader *own, Ref ref, int purpose);

Ref read_strings(Reader *own);

/* The pattern between `case` and its guard. */
Ref read_case_pattern(Reader *own);

#endif
