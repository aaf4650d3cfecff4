/* The syntax of a Python file as a tree, in memory that is let go of at once.

`read_tree` reads what it surely understands as CPython does, with the same places, and declines everything else: broken syntax,
an encoding other than UTF-8, carriage returns, letters beyond ASCII in names, syntax that is newer, or nesting that is deep. Whoever
asked then reads the file by other means, so that to decline is never wrong and to guess always is. */

#ifndef SCRUBJAY_PYTHON_TREE_H
#define SCRUBJAY_PYTHON_TREE_H

#include <stdint.h>

typedef int32_t Ref; /* the number of a node; 0 is none */

typedef struct {
    int32_t first, count; /* of `items` of the tree */
} Run;

/* What stands behind a kind tells which parts of a node it uses; all others are 0, and `name` is NO_NAME. */
typedef enum {
    NOTHING,
    /* expressions */
    NAME,       /* name */
    TEXT,       /* text: a literal of one or more parts, none of them formatted */
    BYTES,      /* a literal of bytes */
    WHOLE,      /* number: an int below 10**9, else -1 */
    OTHER,      /* None, True, False, ..., a float, a complex number */
    JOINED,     /* items: TEXT and FORMATTED in their order, no TEXT that is empty, as ast.JoinedStr has them */
    FORMATTED,  /* a: value, b: the format, which is JOINED, or 0 */
    ATTRIBUTE,  /* a: of what, name */
    CALL,       /* a: function, items: arguments, more: KEYWORD */
    KEYWORD,    /* name or NO_NAME for `**`, a: value */
    LAMBDA,     /* a: ARGUMENTS, b: body */
    LIST, TUPLE, SET, /* items */
    DICT,       /* items: keys, 0 for `**`; more: values, as many */
    STARRED,    /* a */
    SUBSCRIPT,  /* a: of what, b: what is between the brackets */
    SLICE,      /* a: lower, b: upper, c: step; each may be 0 */
    BINARY,     /* a, b, form: the operator's sign: + - * / % @ & | ^ or one of the doubled signs below */
    UNARY,      /* a, form: + - ~ or ! for `not` */
    COMPARE,    /* a: left, items: comparators */
    BOOLEAN,    /* items; form: & or | */
    IF_ELSE,    /* a: test, b: body, c: orelse */
    AWAIT, YIELD, YIELD_FROM, /* a; YIELD's may be 0 */
    NAMED,      /* a: target, b: value */
    LIST_OF, SET_OF, GENERATOR, /* a: element, items: FOR_EACH */
    DICT_OF,    /* a: key, b: value, items: FOR_EACH */
    FOR_EACH,   /* a: target, b: iter, items: ifs */
    ARGUMENTS,  /* items: ARGUMENT that can be positional, more: keyword-only ones, a: vararg, b: kwarg; form: how many of items are positional-only (no more than 255) */
    ARGUMENT,   /* name, a: annotation, b: default */
    /* statements */
    FUNCTION,   /* name, form: 1 if async, a: ARGUMENTS, b: returns, items: body, more: decorators */
    CLASS,      /* name, a: 0 or a BASES node, items: body, more: decorators */
    BASES,      /* items: bases, more: KEYWORD */
    RETURN,     /* a */
    DELETE,     /* items */
    ASSIGN,     /* items: targets, a: value */
    ANNOTATED,  /* a: target, b: annotation, c: value or 0 */
    AUGMENTED,  /* a: target, b: value, form: as of BINARY */
    FOR,        /* form: 1 if async, a: target, b: iter, items: body, more: orelse */
    WHILE,      /* a: test, items: body, more: orelse */
    IF,         /* a: test, items: body, more: orelse (an elif is an IF alone in it, as in CPython) */
    WITH,       /* form: 1 if async, items: WITH_ITEM, more: body */
    WITH_ITEM,  /* a: context, b: target or 0 */
    RAISE,      /* a, b: cause; each may be 0 */
    TRY,        /* form: 1 for `except*`, items: body, more: HANDLER, a: BLOCK of orelse or 0, b: BLOCK of finalbody or 0 */
    HANDLER,    /* a: type or 0, name or NO_NAME, items: body */
    BLOCK,      /* items */
    ASSERT,     /* a: test, b: message or 0 */
    IMPORT,     /* items: ALIAS */
    IMPORT_FROM, /* name: module or NO_NAME, number: level, items: ALIAS */
    ALIAS,      /* name: all of `a.b.c`, or `*`; other: the name behind `as`, or NO_NAME */
    GLOBAL, NONLOCAL, /* items: names, not nodes */
    EXPRESSION, /* a */
    PASS, BREAK, CONTINUE,
    MATCH,      /* a: subject, items: CASE */
    CASE,       /* a: pattern, b: guard or 0, items: body */
    /* patterns */
    MATCH_VALUE, /* a */
    MATCH_SINGLETON,
    MATCH_SEQUENCE, /* items */
    MATCH_MAPPING, /* items: keys, more: patterns, as many; name: what takes the rest, or NO_NAME */
    MATCH_CLASS, /* a: class, items: patterns, more: KEYWORD whose a is a pattern */
    MATCH_STAR, /* name or NO_NAME for `_` */
    MATCH_AS,   /* a: pattern or 0, name or NO_NAME for `_` */
    MATCH_OR    /* items */
} Kind;

#define POWER 'p'       /* ** */
#define FLOOR 'f'       /* // */
#define SHIFT_LEFT 'l'  /* << */
#define SHIFT_RIGHT 'r' /* >> */

#define NO_NAME (-1)
#define TALLEST 400

typedef struct {
    uint8_t kind, form;
    uint16_t height;        /* how many levels of nodes it is, itself the first: never more than TALLEST, so that a walk may call itself */
    int32_t start, end;     /* bytes of the file, where lineno and col_offset tell */
    int32_t line, end_line; /* from 1 */
    int32_t name;           /* among `names` */
    int32_t other;          /* of ALIAS only, else NO_NAME */
    int32_t text;           /* among `texts`, of TEXT only */
    int64_t number;
    Ref a, b, c;
    Run items, more;
} Node;

typedef struct {
    const uint8_t *bytes; /* UTF-8; of the file itself, or of the tree */
    int32_t length;
    int32_t letters; /* code points */
} Text; /* what a literal means, its escapes replaced and its parts put together; also a name */

typedef struct Tree Tree;
struct Tree {
    const uint8_t *content;
    int32_t length;
    int32_t *line_starts; /* of line 1 at [1], of line 2 at [2]; [0] is 0, as in `python_line_starts`, with the end of the file last */
    int32_t line_count;   /* how many there are in all */
    Node *nodes;
    int32_t *items;
    Text *names;
    Text *texts;
    int32_t node_count, item_count, name_count, text_count;
    Run body;       /* of a file: its statements */
    Ref expression; /* of an annotation: what it is */
    void *own;      /* what only python_tree.c knows */
};

/* The tree of a file; NULL when it is declined or there is no memory. The content must outlive it. */
Tree *read_tree(const uint8_t *content, int32_t length);

/* The tree of one expression, as `ast.parse(..., mode="eval")` reads a text that is an annotation; NULL when it is declined.
`is_wrong` is set when CPython would surely refuse it too; else nobody knows. Its names are those of the tree it stands in. */
Tree *read_annotation(Tree *around, const uint8_t *content, int32_t length, int *is_wrong);

void end_tree(Tree *tree); /* before the tree that an annotation stands in */

/* The number of a name that may not be in the file; -1 when there is no memory. It may move `names`. */
int32_t named(Tree *tree, const char *name);

#endif
