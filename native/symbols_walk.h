/* The state of one walk over the tree of a Python file: the position, and what was found. Implemented in the `symbols_*` files; see
   python_symbols.c. */

#ifndef SCRUBJAY_SYMBOLS_WALK_H
#define SCRUBJAY_SYMBOLS_WALK_H

#include <string.h>

#include "name_map.h"
#include "output.h"
#include "python_tree.h"

#define MAX_DOC 2000      /* characters */
#define MAX_SIGNATURE 300 /* characters */
#define MAX_CHAIN 16      /* links of `a.b().c()…` that are written into a path */
#define MAX_PATH 200      /* bytes, of a type */
#define MAX_SCOPE 64      /* with more enclosing scopes than this, a name is taken as global */
#define MAX_DEPTH (MAX_HEIGHT + 9) /* deeper than any tree; checked because the walk recurses */
#define MAX_MODULE 1000   /* bytes; it is written for each name imported from it */
#define TAB 8

typedef enum { USES_CALL, USES_INHERIT, USES_DECORATE, USES_RAISE, USES_CATCH, USES_TYPE, USES_READ, USES_WRITE } UseKind;

typedef enum {
    IS_CLASS, IS_ENUM, IS_MEMBER, IS_TYPE, IS_FUNCTION, IS_METHOD, IS_CONSTRUCTOR, IS_SIGNATURE, IS_FIELD, IS_VARIABLE, IS_CONSTANT
} SymbolKind;

/* A part of the text in `texts` or `paths`. */
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
    int32_t root;  /* of a read: the first name of its path, or NO_NAME */
    int32_t scope; /* of a read */
    UseKind kind;
} Use;

typedef struct {
    Piece module; /* as written */
    int32_t name, alias; /* or NO_NAME */
    int32_t line, container;
    uint8_t exported;
} Import;

/* A part of the file in which names are bound. */
typedef struct {
    int32_t parent;    /* or -1 */
    int32_t symbol;    /* the symbol whose inside this is */
    int32_t receiver;  /* name of the first parameter of a method, or NO_NAME */
    uint8_t is_class, is_function, is_enum;
    NameMap names;     /* local variables of a function, or symbols of a module or class */
    NameMap elsewhere; /* names declared to be bound in an outer scope */
} Scope;

typedef struct {
    void *items;
    int64_t used, room;
} List;

typedef struct {
    Tree *tree;
    List symbols, imports, uses, reads, scopes;
    List exports;         /* Piece; exports of the file */
    Output texts, paths;
    int32_t scope, container;
    int32_t floor;        /* end of the previous statement; comments on the next one start after it */
    int32_t taken;        /* start of the last definition, which owns the comments above it */
    int32_t all, init;    /* the names `__all__` and `__init__` */
    int32_t depth;
    int failed;           /* declined, or out of memory */
    uint8_t head[4 * MAX_SIGNATURE + 8];
    int32_t head_length;
    uint8_t doc[4 * MAX_DOC];
    int32_t doc_length, doc_letters, doc_breaks;
} Reading;

static const Piece EMPTY_TEXT = {0, 2}; /* `""`, with which `texts` starts */
static const Piece EMPTY_LIST = {2, 2}; /* `[]`, which follows it */

/* A path of names. */
typedef struct {
    Piece path;
    int32_t start; /* first byte of its last part */
    int32_t root;  /* its first name, or NO_NAME */
    Ref inner;     /* the part that must be read separately, or 0 */
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

/* Return the piece written to an output since `start`. */
static inline Piece since(const Output *output, int64_t start) { return (Piece){start, (int32_t)(output->used - start)}; }

/* -- symbols_texts.c ----------------------------------------------------------------------------- */

/* Return the line of a byte. A byte order mark is on the first line. */
int32_t line_of_byte(const Reading *reading, int32_t byte);
/* Return a signature: the text between two positions on one line, without the token that opens a body. It is also left in `head`. */
Piece signature_of(Reading *reading, int32_t start, int32_t end);
/* Set the content of a string literal as written; return 0 if it is not a plain literal. */
int literal_text(const Reading *reading, int32_t start, int32_t end, Piece *found);
/* Return the documentation in a string literal, without its indentation. */
Piece literal_doc(Reading *reading, const Node *literal);
/* Return the comments between two positions, without their marks. */
Piece comment_text(Reading *reading, int32_t start, int32_t behind);
/* Return where a definition starts, including adjacent comments above it. Their text ends at `comments_end`, which is 0 if there are
   none. */
int32_t take_above(Reading *reading, int32_t start, int32_t *comments_end);
int is_public(const Reading *reading, int32_t name);

/* -- symbols_expressions.c ----------------------------------------------------------------------- */

/* Return the place of a new item; NULL when out of memory, which is recorded. */
void *one_more(Reading *reading, List *list, size_t size);
/* Return its index among the symbols. */
int32_t add_symbol(Reading *reading, Symbol symbol);
void add_import(Reading *reading, Piece module, int32_t name, int32_t alias, int32_t line, int is_exported);
Piece kept_text(Reading *reading, const uint8_t *bytes, int64_t length);
/* Record the exported names in a value. */
void export_value(Reading *reading, Ref value);
/* Return the path of a name. */
Path path_of(Reading *reading, Ref ref);
void add_use(Reading *reading, UseKind kind, Piece path, int32_t start, int32_t container);
/* Add a use that counts unless its name turns out to be a local variable. */
void add_read(Reading *reading, UseKind kind, const Path *path);
/* Add a use if the node is a path, and read what else is in it. */
Path add_path_use(Reading *reading, UseKind kind, Ref ref, int32_t container);
void note_read(Reading *reading, UseKind kind, Ref ref);
/* Open the scope of a class or function within the current one. */
int32_t scope_within(Reading *reading, int32_t symbol, int is_class);
void hold_name(Reading *reading, int32_t scope, int32_t name);
/* Add the names in an annotation, including one written as a string. */
void walk_types(Reading *reading, Ref ref, int32_t container);
/* Bind the names in a target. In an assignment, which has a start and an end, they may become symbols. */
void bind_target(Reading *reading, Ref target, int32_t start, int32_t end, Ref annotation);
/* Bind a name. The node may start elsewhere. */
void take_name(Reading *reading, int32_t name, const Node *node, int32_t start, int32_t end, Ref annotation);
/* Recursive; no tree is as deep as the limit. */
void walk_expression(Reading *reading, Ref ref);
void walk_expressions(Reading *reading, Run run);
/* Bind parameters in the function's scope. Their types belong to the function; defaults are read outside. */
void take_parameters(Reading *reading, Ref arguments, int32_t inside, int32_t symbol);
void walk_lambda(Reading *reading, const Node *node, int32_t symbol);

/* -- symbols_writing.c --------------------------------------------------------------------------- */

/* Sort the results, without reads of local variables. */
void sort_results(Reading *reading);
void write_outline(Reading *reading, Piece doc, Output *out);
void write_uses(Reading *reading, Output *out);

#endif
