/* Reads the expressions, annotations and targets of a Python file into its flow. */

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
    Tree *tree; /* of the file, or of a string annotation in it */
    Tree **annotations;
    int32_t annotation_count, annotation_room;
    Waiting *waiting; /* bodies, which are read after the enclosing one */
    int32_t waiting_count, waiting_room;
    int32_t depth;
    int64_t steps; /* remaining steps */
} Reading;

static inline const Node *node_at(const Reading *reading, Ref ref) { return reading->tree->nodes + ref; }
static inline const int32_t *items_of(const Reading *reading, Run run) { return reading->tree->items + run.first; }

#ifdef __GNUC__
#endif

/* Descend `levels` of nesting; declines if that is too deep or takes too many steps. */
void enter(Reading *reading, int32_t levels);
static inline void leave(Reading *reading, int32_t levels) { reading->depth -= levels; }

int is_named(const Reading *reading, int32_t name, const char *wanted);
int32_t last_name(const Reading *reading, Ref ref);                                         /* of a callee or an attribute */
const int32_t *options_of(const Reading *reading, const Ref *ref, int32_t *count); /* the elements of a tuple, or the node itself */

int32_t follow_expression(Reading *reading, Ref ref);
void follow_all(Reading *reading, Run run, int32_t most);   /* pushes onto the stack */
void follow_instances(Reading *reading, const Ref *ref);    /* pushes the instance of a type, or of each in a tuple of types */
int32_t follow_lambda(Reading *reading, const Node *node, int32_t name, int32_t line);
void follow_parameters(Reading *reading, Scope *scope, Ref ref);
void name_self(Reading *reading, Scope *scope);
void follow_later(Reading *reading, Scope *scope, Run body, Ref expression);
int32_t follow_annotation_of(Reading *reading, Ref ref); /* the value of an annotated name */
void assign(Reading *reading, Ref target, int32_t node);

int32_t attribute_node(Reading *reading, int32_t base, int32_t name);
int32_t merged(Reading *reading, int32_t left, int32_t right);
int32_t call(Reading *reading, int32_t function, Ref place, int how);
void iterate(Reading *reading, int32_t node, Ref place);
int32_t decorate(Reading *reading, int32_t decorator, Ref place, int32_t decorated);

#ifdef __GNUC__
#endif

#endif
