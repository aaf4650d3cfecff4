/* What is noted while the flow of a Python file is read: nodes, scopes, calls, and what names are bound to.

Whatever finds no memory, or more work than a file is worth, leaves by `decline`: it does not return to whoever called. */

#ifndef SCRUBJAY_FLOW_NOTES_H
#define SCRUBJAY_FLOW_NOTES_H

#include <setjmp.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "name_map.h"
#include "output.h"
#include "python_tree.h"

/* What value a node stands for; node 0 is one of which nothing is known. */
enum {
    A_FUNCTION = 'f', A_CLASS = 'c', A_MODULE = 'm', IMPORTED = 'i', AN_ATTRIBUTE = 'a', RESULT = 'k', PARAMETER = 'p', CONSTANT = 's',
    SEQUENCE = 'l', MAPPING = 'd', ITEM = 'x', A_SLICE = 'h', REPLACED = 'u', GROWN = '+', MERGED = 'U', ELEMENT = 'e',
    ENTERED = 'w', EITHER = 'j', A_GLOBAL = 'g', INSTANCE = 'z', SUPER = 'y', UNPACKED = 't', REST = 'T', SPREAD = '*',
    DECORATED = 'D'
};

/* How a place calls what its node stands for, and how a parameter takes what is passed. */
enum { CALLED, DECORATING, RAISED, ITERATED, ENTERING };
enum { POSITIONAL, ANY_POSITIONAL, ONLY_KEYWORD, ANY_KEYWORD };

#define NOT_BOUND (-1)

typedef struct Bindings Bindings;
struct Bindings { /* the node that each name has at a place of the file */
    NameMap map;
    Bindings *before, *behind; /* among all that are alive */
    Bindings *next;            /* among the ends of some branches */
};

typedef struct {
    int32_t first, last; /* of `links`; 0 is none */
} Chain;

typedef struct {
    int32_t node, key; /* key: of a late change only */
    int32_t next;
} Link;

typedef struct Scope Scope;
struct Scope { /* a module, class or function */
    char kind;
    int32_t index, name, line, self_name, result;
    Scope *parent;
    Bindings *env;
    NameMap globals;              /* names that are variables of a scope outside */
    NameMap declared, attributes; /* by name the number of a chain of all nodes that were ever bound to it */
    Run params;                   /* of `params`, four numbers each */
    Run bases;                    /* of `bases` */
    Chain returns, yields;
};

typedef struct {
    int32_t *items;
    int32_t used, room;
} Numbers;

typedef struct {
    uint32_t start, hash; /* start: in the text of all nodes; hash: of those only that are the same wherever their parts are */
    int32_t seen;
    char kind;
} Value;

typedef struct {
    Tree *tree; /* of the file */
    jmp_buf declined;
    Scope *scope; /* the one that is read */
    Scope **scopes;
    int32_t scope_count, scope_room;
    Bindings *alive;
    int64_t copied; /* names in all copies of bindings */
    Output nodes, calls, stores, stars;
    int32_t call_count;
    Value *values;
    int32_t value_count, value_room;
    int32_t *slots; /* the numbers of interned nodes, at the first free slot behind their hash */
    int32_t slot_room, interned;
    int32_t either_count;
    Link *links;
    int32_t link_count, link_room;
    Chain *chains;
    int32_t chain_count, chain_room;
    NameMap late; /* by node the number of a chain */
    Numbers params, bases;
    Numbers exports; /* among the texts of the tree: what others may take by `*`, if that is told */
    int has_exports;
    Numbers stack; /* what is known of an expression that is not read to its end */
} Notes;

/* Of interest to python_flow.c alone: no name of another library is to be taken for one of these. */
#ifdef __GNUC__
#endif

int begin_notes(Notes *notes, Tree *tree); /* 0 without memory; `declined` must be set before anything else is called */
void write_notes(Notes *notes, Output *flow);
void end_notes(Notes *notes);

noreturn void decline(Notes *notes);
void *enlarged(Notes *notes, void *items, int32_t used, int32_t *room, size_t size); /* room for at least one more */
void push(Notes *notes, Numbers *numbers, int32_t number);

/* Nodes. Their parts are put one after the other; nothing else may be made between their beginning and their end. */
void begin_node(Notes *notes, char kind);
void put_part(Notes *notes, int64_t number);
void put_none(Notes *notes);
void put_name(Notes *notes, int32_t name); /* NO_NAME is an empty text */
void put_literal(Notes *notes, const uint8_t *bytes, int32_t length);
void put_parts(Notes *notes, const int32_t *parts, int32_t count, int32_t most); /* a list of its own */
int32_t new_node(Notes *notes);
int32_t same_node(Notes *notes); /* the one that was there before, if there was one */
int32_t node_of(Notes *notes, char kind, int32_t part);
int32_t node_of_two(Notes *notes, char kind, int32_t part, int32_t other);
int32_t global_node(Notes *notes, const char *name);
int32_t either_of(Notes *notes, int32_t first, int32_t second);
int32_t either_from(Notes *notes, int32_t place); /* of what is on the stack from a place on, which is taken off */
int32_t result_of_call(Notes *notes, int32_t function, int32_t line, int32_t start, int how, const int32_t *args, int32_t count,
                       const int32_t *named, int32_t named_count);
static inline char kind_of(const Notes *notes, int32_t node) { return notes->values[node].kind; }

/* Scopes, and what their names are bound to. */
Scope *open_scope(Notes *notes, char kind, int32_t name, Scope *parent, int32_t line);
Bindings *copied(Notes *notes, const Bindings *bindings);
void drop(Notes *notes, Bindings *bindings);
void set_name(Notes *notes, Bindings *bindings, int32_t name, int32_t node);
void join(Notes *notes, Bindings *bindings, const Bindings *other); /* a name may then be what it is in any of them */
int32_t value_of(Notes *notes, int32_t name);
Scope *home_of(Notes *notes, int32_t name);
Scope *own_of(Notes *notes, int32_t owner);
void bind_name(Notes *notes, int32_t name, int32_t node);
static inline int32_t bound_to(const Bindings *bindings, int32_t name) { return map_get(&bindings->map, name, NOT_BOUND); }
static inline int is_outside(const Scope *scope, int32_t name) { return scope->globals.count && map_has(&scope->globals, name); }

/* Lists that grow while others do. */
void link_to(Notes *notes, Chain *chain, int32_t node, int32_t key);
void note_in(Notes *notes, NameMap *map, int32_t name, int32_t node, int32_t key); /* at the end of the chain that a name has there */
int32_t first_in(const Notes *notes, const NameMap *map, int32_t name);            /* its first link; 0 is none */
void note_store(Notes *notes, int32_t base, int32_t name, int32_t node);
void note_star(Notes *notes, int32_t module, int32_t level);

#ifdef __GNUC__
#endif

#endif
