/* The flow of a Python file while it is built: nodes, scopes, calls, and the bindings of names.
   A function that runs out of memory, or exceeds the work limit, leaves by `decline`, which does not return to the caller. */

#ifndef SCRUBJAY_FLOW_NOTES_H
#define SCRUBJAY_FLOW_NOTES_H

#include <setjmp.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "name_map.h"
#include "output.h"
#include "python_tree.h"

/* Kinds of nodes; node 0 is the unknown value. */
enum {
    A_FUNCTION = 'f', A_CLASS = 'c', A_MODULE = 'm', IMPORTED = 'i', AN_ATTRIBUTE = 'a', RESULT = 'k', PARAMETER = 'p', CONSTANT = 's',
    SEQUENCE = 'l', MAPPING = 'd', ITEM = 'x', A_SLICE = 'h', REPLACED = 'u', GROWN = '+', MERGED = 'U', ELEMENT = 'e',
    ENTERED = 'w', EITHER = 'j', A_GLOBAL = 'g', INSTANCE = 'z', SUPER = 'y', UNPACKED = 't', REST = 'T', SPREAD = '*',
    DECORATED = 'D'
};

/* How a call site calls the value of its node, and how a parameter takes arguments. */
enum { CALLED, DECORATING, RAISED, ITERATED, ENTERING };
enum { POSITIONAL, ANY_POSITIONAL, ONLY_KEYWORD, ANY_KEYWORD };

#define NOT_BOUND (-1)

typedef struct Bindings Bindings;
struct Bindings { /* the node of each name at a position of the file */
    NameMap map;
    Bindings *before, *behind; /* neighbours in the list of all live bindings */
    Bindings *next;            /* next in the list of the ends of branches */
};

typedef struct {
    int32_t first, last; /* indexes in `links`; 0 is none */
} Chain;

typedef struct {
    int32_t node, key; /* key: only of a late change */
    int32_t next;
} Link;

typedef struct Scope Scope;
struct Scope { /* a module, class or function */
    char kind;
    int32_t index, name, line, self_name, result;
    Scope *parent;
    Bindings *env;
    NameMap globals;              /* names that are variables of an outer scope */
    NameMap declared, attributes; /* by name: the index of a chain of all nodes ever bound to it */
    Run params;                   /* in `params`, four numbers each */
    Run bases;                    /* in `bases` */
    Chain returns, yields;
};

typedef struct {
    int32_t *items;
    int32_t used, room;
} Numbers;

typedef struct {
    uint32_t start, hash; /* start: offset in the text of all nodes; hash: only of interned nodes */
    int32_t seen;
    char kind;
} Value;

typedef struct {
    Tree *tree; /* the tree of the file */
    jmp_buf declined;
    Scope *scope; /* the current scope */
    Scope **scopes;
    int32_t scope_count, scope_room;
    Bindings *alive;
    int64_t copied; /* names in all copies of bindings */
    Output nodes, calls, stores, stars;
    int32_t call_count;
    Value *values;
    int32_t value_count, value_room;
    int32_t *slots; /* indexes of interned nodes, at the first free slot after their hash */
    int32_t slot_room, interned;
    int32_t either_count;
    Link *links;
    int32_t link_count, link_room;
    Chain *chains;
    int32_t chain_count, chain_room;
    NameMap late; /* by node: the index of a chain */
    Numbers params, bases;
    Numbers exports; /* the names in `__all__`, as texts of the tree, if it is defined */
    int has_exports;
    Numbers stack; /* nodes of expressions that are not read completely yet */
} Notes;

/* Internal to the flow reader: hidden, so that names of other libraries cannot clash. */
#ifdef __GNUC__
#endif

int begin_notes(Notes *notes, Tree *tree); /* 0 when out of memory; set `declined` before calling anything else */
void write_notes(Notes *notes, Output *flow);
void end_notes(Notes *notes);

noreturn void decline(Notes *notes);
void *enlarged(Notes *notes, void *items, int32_t used, int32_t *room, size_t size); /* room for at least one more item */
void push(Notes *notes, Numbers *numbers, int32_t number);

/* Nodes. Append the parts one after the other; no other node may be made between begin and end. */
void begin_node(Notes *notes, char kind);
void put_part(Notes *notes, int64_t number);
void put_none(Notes *notes);
void put_name(Notes *notes, int32_t name); /* NO_NAME is an empty text */
void put_literal(Notes *notes, const uint8_t *bytes, int32_t length);
void put_parts(Notes *notes, const int32_t *parts, int32_t count, int32_t most); /* a nested list */
int32_t new_node(Notes *notes);
int32_t same_node(Notes *notes); /* interned: an equal earlier node, if there is one */
int32_t node_of(Notes *notes, char kind, int32_t part);
int32_t node_of_two(Notes *notes, char kind, int32_t part, int32_t other);
int32_t global_node(Notes *notes, const char *name);
int32_t either_of(Notes *notes, int32_t first, int32_t second);
int32_t either_from(Notes *notes, int32_t place); /* pops the stack down to `place` */
int32_t result_of_call(Notes *notes, int32_t function, int32_t line, int32_t start, int how, const int32_t *args, int32_t count,
                       const int32_t *named, int32_t named_count);
static inline char kind_of(const Notes *notes, int32_t node) { return notes->values[node].kind; }

/* Scopes and bindings of names. */
Scope *open_scope(Notes *notes, char kind, int32_t name, Scope *parent, int32_t line);
Bindings *copied(Notes *notes, const Bindings *bindings);
void drop(Notes *notes, Bindings *bindings);
void set_name(Notes *notes, Bindings *bindings, int32_t name, int32_t node);
void join(Notes *notes, Bindings *bindings, const Bindings *other); /* afterwards a name may have its value from either */
int32_t value_of(Notes *notes, int32_t name);
Scope *enclosing_scope_of(Notes *notes, int32_t name);
Scope *class_of_receiver(Notes *notes, int32_t owner);
void bind_name(Notes *notes, int32_t name, int32_t node);
static inline int32_t bound_to(const Bindings *bindings, int32_t name) { return map_get(&bindings->map, name, NOT_BOUND); }
static inline int is_outside(const Scope *scope, int32_t name) { return scope->globals.count && map_has(&scope->globals, name); }

/* Linked lists that grow concurrently. */
void link_to(Notes *notes, Chain *chain, int32_t node, int32_t key);
void append_in(Notes *notes, NameMap *map, int32_t name, int32_t node, int32_t key); /* append to the chain of a name */
int32_t first_in(const Notes *notes, const NameMap *map, int32_t name);            /* its first link; 0 is none */
void add_store(Notes *notes, int32_t base, int32_t name, int32_t node);
void note_star(Notes *notes, int32_t module, int32_t level);

#ifdef __GNUC__
#endif

#endif
