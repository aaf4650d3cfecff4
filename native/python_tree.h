/* The syntax tree of a Python file, in memory that is freed at once.
   `read_tree` reads what it certainly understands as CPython does, with the same positions, and declines everything else: broken syntax,
   encodings
   other than UTF-8, carriage returns, names beyond ASCII, newer syntax, and deep nesting. The caller then reads the file by other means,
   so declining
   is always safe and guessing never is. */

#ifndef SCRUBJAY_PYTHON_TREE_H
#define SCRUBJAY_PYTHON_TREE_H

#include <stdint.h>

typedef int32_t Ref; /* the number of a node; 0 is none */

typedef struct {
    int32_t first, count; /* in `items` of the tree */
} Run;

/* The comment on each kind names the parts of a node that it uses; all others are 0, and `name` is NO_NAME. */
typedef enum {
    NOTHING,
    /* expressions */
    NAME,       /* name */
    TEXT,       /* text: a literal of one or more parts, none of them an f-string */
    BYTES,      /* a bytes literal */
    WHOLE,      /* number: an int below 10**9, else -1 */
    OTHER,      /* None, True, False, ..., a float, a complex number */
    JOINED,     /* items: TEXT and FORMATTED in order, without empty TEXT, like ast.JoinedStr */
    FORMATTED,  /* a: value, b: format specification, which is JOINED, or 0 */
    ATTRIBUTE,  /* a: object, name */
    CALL,       /* a: function, items: arguments, more: KEYWORD */
    KEYWORD,    /* name or NO_NAME for `**`, a: value */
    LAMBDA,     /* a: ARGUMENTS, b: body */
    LIST, TUPLE, SET, /* items */
    DICT,       /* items: keys, 0 for `**`; more: the same number of values */
    STARRED,    /* a */
    SUBSCRIPT,  /* a: object, b: content of the brackets */
    SLICE,      /* a: lower, b: upper, c: step; each may be 0 */
    BINARY,     /* a, b, form: the character of the operator, + - * / % @ & | ^, or one of the doubled operators below */
    UNARY,      /* a, form: + - ~ or ! for `not` */
    COMPARE,    /* a: left, items: comparators */
    BOOLEAN,    /* items; form: & or | */
    IF_ELSE,    /* a: test, b: body, c: orelse */
    AWAIT, YIELD, YIELD_FROM, /* a; YIELD's may be 0 */
    NAMED,      /* a: target, b: value */
    LIST_OF, SET_OF, GENERATOR, /* a: element, items: FOR_EACH */
    DICT_OF,    /* a: key, b: value, items: FOR_EACH */
    FOR_EACH,   /* a: target, b: iter, items: ifs */
    /* items: positional parameters (ARGUMENT), more: keyword-only ones, a: vararg, b: kwarg; form: number of positional-only ones (at
       most 255) */
    ARGUMENTS,
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
    IF,         /* a: test, items: body, more: orelse (an elif is a single IF in it, as in CPython) */
    WITH,       /* form: 1 if async, items: WITH_ITEM, more: body */
    WITH_ITEM,  /* a: context, b: target or 0 */
    RAISE,      /* a, b: cause; each may be 0 */
    TRY,        /* form: 1 for `except*`, items: body, more: HANDLER, a: BLOCK of orelse or 0, b: BLOCK of finalbody or 0 */
    HANDLER,    /* a: type or 0, name or NO_NAME, items: body */
    BLOCK,      /* items */
    ASSERT,     /* a: test, b: message or 0 */
    IMPORT,     /* items: ALIAS */
    IMPORT_FROM, /* name: module or NO_NAME, number: level, items: ALIAS */
    ALIAS,      /* name: all of `a.b.c`, or `*`; other: the name after `as`, or NO_NAME */
    GLOBAL, NONLOCAL, /* items: names, not nodes */
    EXPRESSION, /* a */
    PASS, BREAK, CONTINUE,
    MATCH,      /* a: subject, items: CASE */
    CASE,       /* a: pattern, b: guard or 0, items: body */
    /* patterns */
    MATCH_VALUE, /* a */
    MATCH_SINGLETON,
    MATCH_SEQUENCE, /* items */
    MATCH_MAPPING, /* items: keys, more: the same number of patterns; name: the rest, or NO_NAME */
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
#define MAX_HEIGHT 400

typedef struct {
    uint8_t kind, form;
    uint16_t height;        /* levels of nodes, including this one; at most MAX_HEIGHT, so that walks may recurse */
    int32_t start, end;     /* bytes of the file, at lineno and col_offset */
    int32_t line, end_line; /* from 1 */
    int32_t name;           /* in `names` */
    int32_t other;          /* of ALIAS only, else NO_NAME */
    int32_t text;           /* in `texts`, only for TEXT */
    int64_t number;
    Ref a, b, c;
    Run items, more;
} Node;

typedef struct {
    const uint8_t *bytes; /* UTF-8; in the file or owned by the tree */
    int32_t length;
    int32_t letters; /* code points */
} Text; /* the value of a literal, with escapes replaced and parts joined; also a name */

typedef struct Tree Tree;
struct Tree {
    const uint8_t *content;
    int32_t length;
    int32_t *line_starts; /* line n starts at [n]; [0] is 0, as in `python_line_starts`; the end of the file is last */
    int32_t line_count;   /* entries of line_starts */
    Node *nodes;
    int32_t *items;
    Text *names;
    Text *texts;
    int32_t node_count, item_count, name_count, text_count;
    Run body;       /* of a file: its statements */
    Ref expression; /* of an annotation: its expression */
    void *own;      /* private to python_tree.c */
};

/* Return the tree of a file; NULL if it is declined or memory is exhausted. The content must outlive it. */
Tree *read_tree(const uint8_t *content, int32_t length);

/* Return the tree of one expression, as `ast.parse(..., mode="eval")` reads a string annotation; NULL if it is declined. `is_wrong` is
   set if CPython
   would certainly reject it too. Names belong to the surrounding tree. */
Tree *read_annotation(Tree *around, const uint8_t *content, int32_t length, int *is_wrong);

void end_tree(Tree *tree); /* call it before the surrounding tree of an annotation is freed */

/* Return the number of a name that may not be in the file; -1 when out of memory. May move `names`. */
int32_t named(Tree *tree, const char *name);

#endif
