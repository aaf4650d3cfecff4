/* One walk through the tree of a Python file: what was found so far, and where it is. Its parts are in the files that begin with
`symbols_`; see python_symbols.c. */

#ifndef SCRUBJAY_SYMBOLS_WALK_H
#define SCRUBJAY_SYMBOLS_WALK_H

#include <string.h>

#include "name_map.h"
#include "output.h"
#include "python_tree.h"

#define LONGEST_DOC 2000      /* letters */
#define LONGEST_SIGNATURE 300 /* letters */
#define LONGEST_CHAIN 16      /* of `a.b().c()…` no more links are written into a path */
#define LONGEST_PATH 200      /* bytes, of a type */
#define DEEPEST_SCOPE 64      /* with more scopes around it a name is taken for a global one */
#define DEEPEST (TALLEST + 9) /* no tree is as deep; it is made sure of because the walk calls itself */
#define LONGEST_MODULE 1000   /* bytes: it is written for each of the names that are imported of it */
#define TAB 8

typedef enum { USES_CALL, USES_INHERIT, USES_DECORATE, USES_RAISE, USES_CATCH, USES_TYPE, USES_READ, USES_WRITE } UseKind;

typedef enum {
    IS_CLASS, IS_ENUM, IS_MEMBER, IS_TYPE, IS_FUNCTION, IS_METHOD, IS_CONSTRUCTOR, IS_SIGNATURE, IS_FIELD, IS_VARIABLE, IS_CONSTANT
} SymbolKind;

/* A part of what was written to `texts` or `paths`. */
typedef struct {
    int64_t start;
    int32_t length;
} Piece;

typedef struct {
    int32_t name, start, end, line, container;
    uint8_t kind, exported;
    Piece signature, doc, bases, decorators; /* as JSON */
} Symbol;

typedef struct {
    int32_t start, container;
    Piece path;
    int32_t root;  /* of a read: the name that its path begins with, or NO_NAME */
    int32_t scope; /* of a read */
    UseKind kind;
} Use;

typedef struct {
    Piece module; /* as it is */
    int32_t name, alias; /* or NO_NAME */
    int32_t line, container;
    uint8_t exported;
} Import;

/* A part of the file in which names are bound. */
typedef struct {
    int32_t parent;    /* or -1 */
    int32_t symbol;    /* whose inside it is */
    int32_t receiver;  /* how a method calls the object that it is called on; or NO_NAME */
    uint8_t is_class, is_function, is_enum;
    NameMap names;     /* of a function its variables, of others what is already a symbol there */
    NameMap elsewhere; /* of a function the names that are said to be bound further out */
} Scope;

typedef struct {
    void *items;
    int64_t used, room;
} List;

typedef struct {
    Tree *tree;
    List symbols, imports, uses, reads, scopes;
    List exports;         /* Piece, of the file */
    Output texts, paths;
    int32_t scope, container;
    int32_t floor;        /* where the statement before ends: comments about the next one are below */
    int32_t taken;        /* where the last definition begins: what is said above it is said of nothing else */
    int32_t all, init;    /* the names `__all__` and `__init__` */
    int32_t depth;
    int failed;           /* it is declined, or there is no memory */
    uint8_t head[4 * LONGEST_SIGNATURE + 8];
    int32_t head_length;
    uint8_t doc[4 * LONGEST_DOC];
    int32_t doc_length, doc_letters, doc_breaks;
} Reading;

static const Piece NOTHING_SAID = {0, 2}; /* `""`, with which `texts` begins */
static const Piece NONE_OF_THEM = {2, 2}; /* `[]`, which follows */

/* A path, and what in it is more than names. */
typedef struct {
    Piece path;
    int32_t start; /* where its last part begins */
    int32_t root;  /* the name that it begins with, or NO_NAME */
    Ref inner;     /* what is to be read too, or 0 */
} Path;

static inline const Node *node_at(const Reading *reading, Ref ref) { return reading->tree->nodes + ref; }
static inline const Text *name_at(const Reading *reading, int32_t name) { return reading->tree->names + name; }
static inline Ref item_of(const Reading *reading, Run run, int32_t place) { return reading->tree->items[run.first + place]; }
static inline Scope *scope_at(const Reading *reading, int32_t scope) { return (Scope *)reading->scopes.items + scope; }

static inline const uint8_t *bytes_of(const Reading *reading, Piece path) { return reading->paths.bytes + path.start; }
static inline int is_text(const Node *node) { return node->kind == TEXT || node->kind == BYTES; }

static inline int is_letter(uint8_t byte) { return (byte | 32) >= 'a' && (byte | 32) <= 'z'; }
static inline int is_word(uint8_t byte) { return is_letter(byte) || byte == '_' || (byte >= '0' && byte <= '9'); }

static inline int ends_with(const uint8_t *bytes, int32_t length, const char *wanted) {
    int32_t size = (int32_t)strlen(wanted);
    return length >= size && !memcmp(bytes + length - size, wanted, (size_t)size);
}

static inline int is_same(const uint8_t *bytes, int64_t length, const char *wanted) {
    return length == (int64_t)strlen(wanted) && !memcmp(bytes, wanted, (size_t)length);
}

/* What was written to an output since. */
static inline Piece since(const Output *output, int64_t start) { return (Piece){start, (int32_t)(output->used - start)}; }

/* -- symbols_texts.c ----------------------------------------------------------------------------- */

/* The line that a byte is on. A mark at the beginning of the file is on the first. */
int32_t line_of_byte(const Reading *reading, int32_t byte);
/* A signature: the text between two places in one line, without the mark that opens a body; it is then in `head` as well. */
Piece head_of(Reading *reading, int32_t start, int32_t end);
/* What a literal says, as it is written; 0 when it is no plain one. */
int written_text(const Reading *reading, int32_t start, int32_t end, Piece *found);
/* What a literal says of a definition, without the indentation that its place gave it. */
Piece said_in(Reading *reading, const Node *literal);
/* What the comments between two places say, without their marks. */
Piece uncommented(Reading *reading, int32_t start, int32_t behind);
/* Where a definition begins together with the comments right above it. What they say is between there and `comments_end`, which
is 0 when there are none. */
int32_t take_above(Reading *reading, int32_t start, int32_t *comments_end);
int is_public(const Reading *reading, int32_t name);

/* -- symbols_expressions.c ----------------------------------------------------------------------- */

/* Where one more goes; NULL when there is no memory, which is then told. */
void *one_more(Reading *reading, List *list, size_t size);
/* Its place among the symbols. */
int32_t add_symbol(Reading *reading, Symbol symbol);
void add_import(Reading *reading, Piece module, int32_t name, int32_t alias, int32_t line, int is_exported);
Piece kept_text(Reading *reading, const uint8_t *bytes, int64_t length);
/* What of a value is said to be exported. */
void export_value(Reading *reading, Ref value);
/* The path of a name, and what in it is more than names. */
Path path_of(Reading *reading, Ref ref);
void add_use(Reading *reading, UseKind kind, Piece path, int32_t start, int32_t container);
/* Something that counts unless its name turns out to be a variable. */
void add_read(Reading *reading, UseKind kind, const Path *path);
/* Add a use of a path, if it is one, and read what else is in it. */
Path note_path(Reading *reading, UseKind kind, Ref ref, int32_t container);
void note_read(Reading *reading, UseKind kind, Ref ref);
/* A scope within the one that is read: a class's, or a function's. */
int32_t scope_within(Reading *reading, int32_t symbol, int is_class);
void hold_name(Reading *reading, int32_t scope, int32_t name);
/* Add the names in an annotation, also in one that is written as a text. */
void walk_types(Reading *reading, Ref ref, int32_t container);
/* Take the names in a target; in an assignment, which has a beginning and an end, they may be symbols. */
void bind_target(Reading *reading, Ref target, int32_t start, int32_t end, Ref annotation);
/* Take a name that is bound; of a node that may begin elsewhere. */
void take_name(Reading *reading, int32_t name, const Node *node, int32_t start, int32_t end, Ref annotation);
/* It calls itself; no tree is as deep as DEEPEST. */
void walk_expression(Reading *reading, Ref ref);
void walk_expressions(Reading *reading, Run run);
/* Bind parameters inside; their types are the function's, their defaults are read outside. */
void take_parameters(Reading *reading, Ref arguments, int32_t inside, int32_t symbol);
void walk_lambda(Reading *reading, const Node *node, int32_t symbol);

/* -- symbols_writing.c --------------------------------------------------------------------------- */

/* Put what was found in its order, without what are only variables. */
void settle_found(Reading *reading);
void write_outline(Reading *reading, Piece doc, Output *out);
void write_uses(Reading *reading, Output *out);

#endif
