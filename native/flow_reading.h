/* Reads expressions, annotations and targets of a Python file for what they do with values. */

#ifndef SCRUBJAY_FLOW_READING_H
#define SCRUBJAY_FLOW_READING_H

#include "flow_notes.h"

typedef struct {
    Scope *scope;
    Tree *tree;
    Run body;       /* of a function */
    Ref expression; /* of a lambda */
} Waiting;

typedef struct {
    Notes notes;
    Tree *tree; /* of the file, or of an annotation in it that is a text */
    Tree **annotations;
    int32_t annotation_count, annotation_room;
    Waiting *waiting; /* bodies, which are read after what they are in */
    int32_t waiting_count, waiting_room;
    int32_t depth;
    int64_t steps; /* that are left */
} Reading;

static inline const Node *node_at(const Reading *reading, Ref ref) { return reading->tree->nodes + ref; }
static inline const int32_t *items_of(const Reading *reading, Run run) { return reading->tree->items + run.first; }

#ifdef __GNUC__
#endif

/* Into something nested, so many levels deep; declined where that is too deep or takes too long. */
void enter(Reading *reading, int32_t levels);
static inline void leave(Reading *reading, int32_t levels) { reading->depth -= levels; }

int is_named(const Reading *reading, int32_t name, const char *wanted);
int32_t last_name(const Reading *reading, Ref ref);                                         /* of what is called, or of an attribute */
const int32_t *options_of(const Reading *reading, const Ref *ref, int32_t *count); /* the elements of a tuple, or what it is alone */

int32_t follow_expression(Reading *reading, Ref ref);
void follow_all(Reading *reading, Run run, int32_t most);   /* onto the stack */
void follow_instances(Reading *reading, const Ref *ref);    /* onto the stack what a value of a type is, or of each of a tuple of types */
int32_t follow_lambda(Reading *reading, const Node *node, int32_t name, int32_t line);
void follow_parameters(Reading *reading, Scope *scope, Ref ref);
void name_self(Reading *reading, Scope *scope);
void follow_later(Reading *reading, Scope *scope, Run body, Ref expression);
int32_t follow_annotation_of(Reading *reading, Ref ref); /* what a value of the annotated type is */
void assign(Reading *reading, Ref target, int32_t node);

int32_t attribute_node(Reading *reading, int32_t base, int32_t name);
int32_t merged(Reading *reading, int32_t left, int32_t right);
int32_t call(Reading *reading, int32_t function, Ref place, int how);
void iterate(Reading *reading, int32_t node, Ref place);
int32_t decorate(Reading *reading, int32_t decorator, Ref place, int32_t decorated);

#ifdef __GNUC__
#endif

#endif
