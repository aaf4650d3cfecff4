/* What a Python file defines and uses: one walk through its tree, in the order of the text.

It does what `recollect.codebase.parsing.python_syntax` does, with the parts of `scopes`, `python_forms` and `nodes` that this needs,
and comes to the same. Whoever changes something there changes it here; `test_python_compiled.py` compares both. */

#include "python_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "name_map.h"

#define LONGEST_DOC 2000       /* letters, as all of these but the paths */
#define LONGEST_SIGNATURE 300
#define LONGEST_CHAIN 16       /* of `a.b().c()…` no more links are written into a path */
#define LONGEST_PATH 200       /* bytes, of a type */
#define DEEPEST_SCOPE 64       /* with more scopes around it a name is taken for a global one */
#define DEEPEST 500            /* the tree is less deep; it is made sure of here because this walk calls itself */
#define LONGEST_MODULE 1000    /* bytes, and that many dots: it is written for each of the names that are imported of it */
#define TAB 8

typedef enum { USES_CALL, USES_INHERIT, USES_DECORATE, USES_RAISE, USES_CATCH, USES_TYPE, USES_READ, USES_WRITE } UseKind;
static const char *const USE_KINDS[] = {"\"call\"", "\"inherit\"", "\"decorate\"", "\"raise\"", "\"catch\"", "\"type\"", "\"read\"", "\"write\""};

typedef enum { IS_CLASS, IS_ENUM, IS_MEMBER, IS_TYPE, IS_FUNCTION, IS_METHOD, IS_CONSTRUCTOR, IS_SIGNATURE, IS_FIELD, IS_VARIABLE, IS_CONSTANT } SymbolKind;
static const char *const SYMBOL_KINDS[] = {"\"class\"", "\"enum\"", "\"member\"", "\"type\"", "\"function\"", "\"method\"", "\"constructor\"", "\"signature\"", "\"field\"", "\"variable\"", "\"constant\""};

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

static void expression(Reading *reading, Ref ref);
static void body(Reading *reading, Run statements);

/* -- lists, nodes, texts ------------------------------------------------------------------------- */

/* Where one more goes; NULL when there is no memory, which is then told. */
static void *one_more(Reading *reading, List *list, size_t size) {
    if (list->used == list->room) {
        int64_t room = list->room ? list->room * 2 : 64;
        void *items = realloc(list->items, (size_t)room * size);
        if (!items) {
            reading->failed = 1;
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + (size_t)list->used++ * size;
}

static inline const Node *node_at(const Reading *reading, Ref ref) { return reading->tree->nodes + ref; }
static inline const Text *name_at(const Reading *reading, int32_t name) { return reading->tree->names + name; }
static inline Ref item_of(const Reading *reading, Run run, int32_t place) { return reading->tree->items[run.first + place]; }
static inline Scope *scope_at(const Reading *reading, int32_t scope) { return (Scope *)reading->scopes.items + scope; }

/* The line that a byte is on. A mark at the beginning of the file is on the first. */
static int32_t line_at(const Reading *reading, int32_t byte) {
    const int32_t *starts = reading->tree->line_starts;
    int32_t low = 1, behind = reading->tree->line_count;
    while (low < behind) {
        int32_t middle = low + (behind - low) / 2;
        if (starts[middle] <= byte) low = middle + 1;
        else behind = middle;
    }
    return low > 1 ? low - 1 : 1;
}

/* The first byte of a line, which may be such a mark. */
static inline int32_t line_start(const Reading *reading, int32_t line) { return line > 1 ? reading->tree->line_starts[line] : 0; }

static inline int is_letter(uint8_t byte) { return (byte | 32) >= 'a' && (byte | 32) <= 'z'; }
static inline int is_word(uint8_t byte) { return is_letter(byte) || byte == '_' || (byte >= '0' && byte <= '9'); }

/* How many bytes a letter of UTF-8 has that begins so. */
static inline int32_t letter_length(uint8_t first) { return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

/* The bytes of the blank that is here, by all that Python takes for one; 0 when there is none. */
static inline int32_t blank(const uint8_t *at, const uint8_t *end) {
    uint8_t first = *at;
    if (first < 0x80) return first == ' ' || (first >= 9 && first <= 13) || (first >= 28 && first <= 31);
    if (first == 0xC2) return end - at >= 2 && (at[1] == 0x85 || at[1] == 0xA0) ? 2 : 0;
    if (end - at < 3) return 0;
    if (first == 0xE1) return at[1] == 0x9A && at[2] == 0x80 ? 3 : 0;
    if (first == 0xE3) return at[1] == 0x80 && at[2] == 0x80 ? 3 : 0;
    if (first != 0xE2) return 0;
    if (at[1] == 0x81) return at[2] == 0x9F ? 3 : 0;
    return at[1] == 0x80 && (at[2] <= 0x8A || at[2] == 0xA8 || at[2] == 0xA9 || at[2] == 0xAF) ? 3 : 0;
}

/* The end of a text without the blanks there. */
static const uint8_t *without_blanks_behind(const uint8_t *start, const uint8_t *end) {
    while (end > start) {
        const uint8_t *last = end - 1;
        while (last > start && (*last & 0xC0) == 0x80) last--;
        int32_t length = blank(last, end);
        if (!length || last + length != end) break;
        end = last;
    }
    return end;
}

static int ends_with(const uint8_t *bytes, int32_t length, const char *wanted) {
    int32_t size = (int32_t)strlen(wanted);
    return length >= size && !memcmp(bytes + length - size, wanted, (size_t)size);
}

static int is_same(const uint8_t *bytes, int64_t length, const char *wanted) {
    return length == (int64_t)strlen(wanted) && !memcmp(bytes, wanted, (size_t)length);
}

/* What was written to an output since. */
static Piece since(const Output *output, int64_t start) { return (Piece){start, (int32_t)(output->used - start)}; }

static Piece text_of(Reading *reading, const uint8_t *bytes, int32_t length) {
    int64_t start = reading->texts.used;
    put_text(&reading->texts, bytes, length);
    return since(&reading->texts, start);
}

/* -- what is said of a definition ---------------------------------------------------------------- */

/* A signature: the text between two places in one line, without the mark that opens a body; it is then in `head`. */
static void read_head(Reading *reading, int32_t start, int32_t end) {
    const uint8_t *at = reading->tree->content + start;
    const uint8_t *behind = at + (end - start < 4 * LONGEST_SIGNATURE ? end - start : 4 * LONGEST_SIGNATURE);
    uint8_t *head = reading->head;
    int32_t used = 0, is_apart = 0;
    while (at < behind) {
        int32_t length = blank(at, behind);
        if (length) {
            is_apart = used > 0;
            at += length;
            continue;
        }
        if (is_apart) head[used++] = ' ';
        is_apart = 0;
        length = letter_length(*at);
        if (behind - at < length) { /* cut within a letter */
            memcpy(head + used, "\xEF\xBF\xBD", 3);
            used += 3;
            break;
        }
        for (int32_t i = 0; i < length; i++) head[used++] = *at++;
    }
    for (;;) {
        if (ends_with(head, used, "=>")) used -= 2;
        else if (used && strchr(":{=;", head[used - 1]) && head[used - 1]) used -= 1;
        else break;
        if (used && head[used - 1] == ' ') used--;
    }
    int32_t letters = 0, cut = 0;
    for (int32_t i = 0; i < used; i++)
        if ((head[i] & 0xC0) != 0x80 && letters++ == LONGEST_SIGNATURE - 1) cut = i;
    if (letters > LONGEST_SIGNATURE) {
        memcpy(head + cut, "\xE2\x80\xA6", 3);
        used = cut + 3;
    }
    reading->head_length = used;
}

static Piece head_of(Reading *reading, int32_t start, int32_t end) {
    read_head(reading, start, end);
    return text_of(reading, reading->head, reading->head_length);
}

/* Add a line to `doc`: what of it is from a column on, without the blanks behind it and those before the first line. */
static void say_line(Reading *reading, const uint8_t *at, const uint8_t *end, int32_t column, int expands_tabs) {
    end = without_blanks_behind(at, end);
    if (at < end) {
        if (reading->doc_length)
            for (; reading->doc_breaks && reading->doc_letters < LONGEST_DOC; reading->doc_breaks--) {
                reading->doc[reading->doc_length++] = '\n';
                reading->doc_letters++;
            }
        reading->doc_breaks = 0;
    }
    for (int32_t now = 0; at < end && reading->doc_letters < LONGEST_DOC;) {
        int32_t length = letter_length(*at) < end - at ? letter_length(*at) : (int32_t)(end - at);
        int is_expanded = expands_tabs && *at == '\t';
        int32_t next = is_expanded ? now - now % TAB + TAB : now + 1;
        if (reading->doc_length || !blank(at, end)) {
            for (int32_t i = now > column ? now : column; i < next && reading->doc_letters < LONGEST_DOC; i++) {
                if (is_expanded) reading->doc[reading->doc_length++] = ' ';
                else
                    for (int32_t part = 0; part < length; part++) reading->doc[reading->doc_length++] = at[part];
                reading->doc_letters++;
            }
        }
        now = next;
        at += length;
    }
    reading->doc_breaks++;
}

static void say_nothing(Reading *reading) { reading->doc_length = reading->doc_letters = reading->doc_breaks = 0; }

static Piece said(Reading *reading) {
    return reading->doc_length ? text_of(reading, reading->doc, reading->doc_length) : NOTHING_SAID;
}

/* What a literal says, as it is written; 0 when it is no plain one. */
static int written_text(const Reading *reading, int32_t start, int32_t end, Piece *found) {
    const uint8_t *content = reading->tree->content;
    for (int32_t i = 0; i < 2 && start < end && content[start] && strchr("rubRUB", content[start]); i++) start++;
    if (end - start < 2 || (content[start] != '"' && content[start] != '\'')) return 0;
    uint8_t quote = content[start];
    int32_t quotes = 1;
    if (end - start >= 6 && content[start + 1] == quote && content[start + 2] == quote && content[end - 1] == quote &&
        content[end - 2] == quote && content[end - 3] == quote)
        quotes = 3;
    if (content[end - 1] != quote) return 0;
    *found = (Piece){start + quotes, end - start - 2 * quotes};
    return 1;
}

/* What a literal says of a definition, without the indentation that its place gave it. */
static Piece said_in(Reading *reading, const Node *literal) {
    Piece text;
    if (!written_text(reading, literal->start, literal->end, &text)) return NOTHING_SAID;
    const uint8_t *start = reading->tree->content + text.start, *end = start + text.length;
    int32_t cut = INT32_MAX;
    for (const uint8_t *at = start; (at = memchr(at, '\n', (size_t)(end - at)));) {
        int32_t column = 0, length;
        for (at++; at < end && *at != '\n' && (length = blank(at, end)); at += length)
            column += *at == '\t' ? TAB - column % TAB : 1;
        if (at < end && *at != '\n' && column < cut) cut = column;
    }
    if (cut == INT32_MAX) cut = 0;
    say_nothing(reading);
    for (const uint8_t *at = start; reading->doc_letters < LONGEST_DOC;) {
        const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));
        say_line(reading, at, line_end ? line_end : end, at == start ? 0 : cut, 1);
        if (!line_end) break;
        at = line_end + 1;
    }
    return said(reading);
}

static int is_directive(const uint8_t *at, const uint8_t *end) {
    static const char *const directives[] = {
        "go:", "+build", "eslint", "@ts-", "prettier-", "noqa", "type:ignore", "type: ignore", "pylint", "pyright:", "mypy:", "istanbul", "biome-", "clang-"};
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        size_t length = strlen(directives[i]);
        if ((size_t)(end - at) >= length && !memcmp(at, directives[i], length)) return 1;
    }
    return 0;
}

/* What the comments between two places say, without their marks. */
static Piece uncommented(Reading *reading, int32_t start, int32_t behind) {
    const uint8_t *at = reading->tree->content + start, *end = at;
    const uint8_t *last = reading->tree->content + behind;
    for (int32_t letters = 0; end < last && letters < 2 * LONGEST_DOC; letters++) {
        end += letter_length(*end);
        if (end > last) end = last;
    }
    say_nothing(reading);
    while (at < end) {
        const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        const uint8_t *bare_end = without_blanks_behind(at, line_end);
        for (int32_t length; at < bare_end && (length = blank(at, bare_end));) at += length;
        if (at < bare_end && *at != '#') reading->failed = 1;
        if (ends_with(at, (int32_t)(bare_end - at), "*/")) {
            while (bare_end > at && (bare_end[-1] == '*' || bare_end[-1] == '/')) bare_end--;
            bare_end = without_blanks_behind(at, bare_end);
        }
        if (at < bare_end) {
            while (at < bare_end && *at == '#') at++;
            if (at < bare_end && (*at == '!' || *at == ':')) at++;
            if (at < bare_end && (*at == ' ' || *at == '\t')) at++;
        }
        if (!is_directive(at, bare_end)) say_line(reading, at, bare_end, 0, 0);
        at = line_end + 1;
    }
    return said(reading);
}

/* Where a definition begins together with the comments right above it. What they say is between there and `comments_end`, which
is 0 when there are none. */
static int32_t take_above(Reading *reading, int32_t start, int32_t *comments_end) {
    const uint8_t *content = reading->tree->content;
    int32_t line = line_at(reading, start), first = line_start(reading, line);
    *comments_end = 0;
    if (start == reading->taken || start - first > LONGEST_SIGNATURE) return start;
    for (int32_t i = first; i < start; i++)
        if (content[i] != ' ' && content[i] != '\t') return start;
    reading->taken = start;
    int32_t top = first, begin = start;
    while (top > reading->floor) {
        int32_t above = line_start(reading, --line), at = above;
        while (at < top && (content[at] == ' ' || content[at] == '\t' || content[at] == 0xEF || content[at] == 0xBB || content[at] == 0xBF)) at++;
        if (above < reading->floor || at == top || content[at] != '#') break;
        top = above;
        begin = at;
    }
    if (begin < first) *comments_end = first;
    return begin;
}

/* -- symbols ------------------------------------------------------------------------------------- */

static int is_public(const Reading *reading, int32_t name) {
    const Text *text = name_at(reading, name);
    const uint8_t *bytes = text->bytes;
    if (text->length < 1 || bytes[0] != '_') return 1;
    return text->length >= 2 && bytes[1] == '_' && ends_with(bytes, text->length, "__");
}

/* Its place among the symbols. */
static int32_t add_symbol(Reading *reading, Symbol symbol) {
    Symbol *place = one_more(reading, &reading->symbols, sizeof *place);
    if (!place) return -1;
    *place = symbol;
    return (int32_t)reading->symbols.used - 1;
}

static inline int is_text(const Node *node) { return node->kind == TEXT || node->kind == BYTES; }

static Piece docstring(Reading *reading, Run statements) {
    if (!statements.count) return NOTHING_SAID;
    const Node *first = node_at(reading, item_of(reading, statements, 0));
    if (first->kind != EXPRESSION || !is_text(node_at(reading, first->a))) return NOTHING_SAID;
    return said_in(reading, node_at(reading, first->a));
}

/* Where a statement begins, with its decorators. */
static int32_t outer_start(const Reading *reading, const Node *statement) {
    int32_t start = statement->start;
    if ((statement->kind != FUNCTION && statement->kind != CLASS) || !statement->more.count) return start;
    int32_t at = node_at(reading, item_of(reading, statement->more, 0))->start;
    do at--;
    while (at >= 0 && reading->tree->content[at] != '@');
    return at < 0 ? start : at;
}

/* -- names with what they are taken of ----------------------------------------------------------- */

/* A path, and what in it is more than names. */
typedef struct {
    Piece path;
    int32_t start; /* where its last part begins */
    int32_t root;  /* the name that it begins with, or NO_NAME */
    Ref inner;     /* what is to be read too, or 0 */
} Path;

static inline void put_name(Reading *reading, int32_t name) {
    const Text *text = name_at(reading, name);
    put_bytes(&reading->paths, text->bytes, text->length);
}

static Path path_of(Reading *reading, Ref ref) {
    Output *paths = &reading->paths;
    const Node *node = node_at(reading, ref);
    int64_t before = paths->used;
    if (node->kind == NAME) {
        put_name(reading, node->name);
        return (Path){since(paths, before), node->start, node->name, 0};
    }
    int32_t parts[LONGEST_CHAIN]; /* names of attributes, or one of these */
    enum { CALLED = -2, ENTRY = -3 };
    int32_t used = 0, start = -1, root = NO_NAME, link = 0;
    Ref inner = 0;
    for (; link < LONGEST_CHAIN; link++) {
        if (node->kind == ATTRIBUTE) {
            if (start < 0) start = node->end - name_at(reading, node->name)->length;
            parts[used++] = node->name;
        } else if (node->kind == NAME) {
            root = node->name;
            break;
        } else {
            if (!inner) inner = ref;
            if (node->kind == CALL) parts[used++] = CALLED;
            else if (node->kind == SUBSCRIPT) parts[used++] = ENTRY;
            else if (node->kind != AWAIT) break;
        }
        ref = node->a;
        node = node_at(reading, ref);
    }
    if (link == LONGEST_CHAIN && !inner) inner = ref;
    if (root != NO_NAME) put_name(reading, root);
    while (used--) {
        if (parts[used] == CALLED) put_bytes(paths, "()", 2);
        else if (parts[used] == ENTRY) put_bytes(paths, "[]", 2);
        else {
            put_sign(paths, '.');
            put_name(reading, parts[used]);
        }
    }
    return (Path){since(paths, before), start < 0 ? node->start : start, root, inner};
}

static inline const uint8_t *bytes_of(const Reading *reading, Piece path) { return reading->paths.bytes + path.start; }

static inline void use(Reading *reading, UseKind kind, Piece path, int32_t start, int32_t container) {
    Use *place = one_more(reading, &reading->uses, sizeof *place);
    if (place) *place = (Use){start, container, path, NO_NAME, 0, kind};
}

/* Something that counts unless its name turns out to be a variable. */
static inline void read_use(Reading *reading, UseKind kind, const Path *path) {
    Use *place = one_more(reading, &reading->reads, sizeof *place);
    if (place) *place = (Use){path->start, reading->container, path->path, path->root, reading->scope, kind};
}

/* Add a use of a path, if it is one, and read what else is in it. */
static Path note(Reading *reading, UseKind kind, Ref ref, int32_t container) {
    Path path = path_of(reading, ref);
    if (path.path.length) use(reading, kind, path.path, path.start, container);
    if (path.inner) expression(reading, path.inner);
    return path;
}

static void note_read(Reading *reading, UseKind kind, Ref ref) {
    Path path = path_of(reading, ref);
    if (path.path.length) read_use(reading, kind, &path);
    if (path.inner) expression(reading, path.inner);
}

static void use_name(Reading *reading, UseKind kind, int32_t name, int32_t start, int32_t container) {
    int64_t before = reading->paths.used;
    put_name(reading, name);
    use(reading, kind, since(&reading->paths, before), start, container);
}

/* -- scopes -------------------------------------------------------------------------------------- */

static int32_t open_scope(Reading *reading, int32_t symbol, int is_class) {
    Scope *scope = one_more(reading, &reading->scopes, sizeof *scope);
    if (!scope) return reading->scope;
    *scope = (Scope){.parent = reading->scope, .symbol = symbol, .receiver = NO_NAME, .is_class = is_class != 0, .is_function = !is_class};
    return (int32_t)reading->scopes.used - 1;
}

static void hold(Reading *reading, int32_t scope, int32_t name) {
    if (!map_set(&scope_at(reading, scope)->names, name, 1)) reading->failed = 1;
}

/* -- types --------------------------------------------------------------------------------------- */

static void types(Reading *reading, Ref ref, int32_t container);

static void types_in(Reading *reading, Run run, int32_t container) {
    for (int32_t i = 0; i < run.count; i++) types(reading, item_of(reading, run, i), container);
}

/* The end of the path that begins here; `at` itself when none does. */
static int32_t path_end(const uint8_t *content, int32_t at, int32_t end, int32_t *last_name) {
    while (at < end && (is_letter(content[at]) || content[at] == '_')) {
        *last_name = at;
        while (at < end && is_word(content[at])) at++;
        if (end - at < 2 || content[at] != '.' || !(is_letter(content[at + 1]) || content[at + 1] == '_')) break;
        at++;
    }
    return at;
}

static void type_between(Reading *reading, int32_t start, int32_t end, int32_t last_name, int32_t container) {
    int64_t before = reading->paths.used;
    put_bytes(&reading->paths, reading->tree->content + start, end - start);
    use(reading, USES_TYPE, since(&reading->paths, before), last_name, container);
}

/* Add the names in an annotation, also in one that is written as a text. */
static void types(Reading *reading, Ref ref, int32_t container) {
    if (!ref || reading->failed) return;
    if (++reading->depth > DEEPEST) reading->failed = 1;
    const Node *node = node_at(reading, ref);
    const uint8_t *content = reading->tree->content;
    int32_t start = node->start, end = node->end, last_name = 0;
    switch (reading->failed ? NOTHING : (Kind)node->kind) {
    case NAME:
        use_name(reading, USES_TYPE, node->name, start, container);
        break;
    case ATTRIBUTE:
        if (end - start <= LONGEST_PATH && path_end(content, start, end, &last_name) == end)
            type_between(reading, start, end, last_name, container);
        break;
    case TEXT:
        if (end - start > LONGEST_PATH) end = start + LONGEST_PATH;
        while (start < end) {
            int32_t behind = path_end(content, start, end, &last_name);
            if (behind > start) type_between(reading, start, behind, last_name, container);
            start = behind > start ? behind : start + 1;
        }
        break;
    case CALL:
        expression(reading, ref);
        break;
    case BYTES:
    case WHOLE:
    case OTHER:
    case NOTHING:
        break;
    case LAMBDA: /* its arguments are no expressions */
        types(reading, node->b, container);
        break;
    case LIST_OF:
    case SET_OF:
    case GENERATOR: /* nor is what is gone through */
        types(reading, node->a, container);
        break;
    case DICT_OF:
    case STARRED:
    case SUBSCRIPT:
    case SLICE:
    case BINARY:
    case UNARY:
    case IF_ELSE:
    case AWAIT:
    case YIELD:
    case YIELD_FROM:
    case NAMED:
        types(reading, node->a, container);
        types(reading, node->b, container);
        types(reading, node->c, container);
        break;
    case LIST:
    case TUPLE:
    case SET:
    case DICT:
    case COMPARE:
    case BOOLEAN:
        types(reading, node->a, container);
        types_in(reading, node->items, container);
        types_in(reading, node->more, container);
        break;
    default: /* a formatted text, of whose parts Python tells other places */
        reading->failed = 1;
    }
    reading->depth--;
}

/* -- what binds names ---------------------------------------------------------------------------- */

static void add_variable(Reading *reading, int32_t name, SymbolKind kind, const Node *node, int32_t start, int32_t end, int32_t container) {
    int32_t comments_end, above = take_above(reading, start, &comments_end);
    Symbol symbol = {
        .name = name,
        .start = above,
        .end = end,
        .line = line_at(reading, node->end - 1),
        .container = container,
        .kind = (uint8_t)kind,
        .exported = (uint8_t)is_public(reading, name),
        .bases = NONE_OF_THEM,
        .decorators = NONE_OF_THEM,
    };
    symbol.doc = comments_end ? uncommented(reading, above, comments_end) : NOTHING_SAID;
    symbol.signature = head_of(reading, start, end);
    add_symbol(reading, symbol);
}

static int is_upper(const Text *text) {
    int has_letter = 0;
    for (int32_t i = 0; i < text->length; i++) {
        if (text->bytes[i] >= 'a' && text->bytes[i] <= 'z') return 0;
        has_letter |= is_letter(text->bytes[i]);
    }
    return has_letter;
}

static void bind_name(Reading *reading, int32_t name, const Node *node, int32_t start, int32_t end, Ref annotation) {
    Scope *scope = scope_at(reading, reading->scope);
    if (scope->is_function) {
        if (map_has(&scope->elsewhere, name)) use_name(reading, USES_WRITE, name, node->start, reading->container);
        else hold(reading, reading->scope, name);
        return;
    }
    if (start < 0 || map_has(&scope->names, name)) return;
    hold(reading, reading->scope, name);
    const Text *text = name_at(reading, name);
    SymbolKind kind;
    if (scope->is_class) {
        kind = scope->is_enum && text->bytes[0] != '_' ? IS_MEMBER : IS_FIELD;
    } else {
        kind = is_upper(text) ? IS_CONSTANT : IS_VARIABLE;
        if (annotation) {
            const Node *written = node_at(reading, annotation);
            int32_t from = written->start;
            if (ends_with(reading->tree->content + from, written->end - from, "TypeAlias")) kind = IS_TYPE;
        }
    }
    add_variable(reading, name, kind, node, start, end, reading->container);
}

/* Take what a method sets on its object as a field of the class, the first time. */
static void bind_field(Reading *reading, Piece path, const Node *node, int32_t start, int32_t end) {
    const Scope *scope = scope_at(reading, reading->scope);
    int32_t of = path.length - name_at(reading, node->name)->length - 1; /* so long is what it is set on */
    if (start < 0 || scope->parent < 0 || !scope_at(reading, scope->parent)->is_class || of < 0 || reading->paths.failed) return;
    static const uint8_t nothing[1] = {0};
    const Text *receiver = scope->receiver == NO_NAME ? NULL : name_at(reading, scope->receiver);
    const uint8_t *expected = receiver ? receiver->bytes : nothing;
    if (of != (receiver ? receiver->length : 0) || memcmp(bytes_of(reading, path), expected, (size_t)of)) return;
    int32_t owner = scope->parent;
    if (map_has(&scope_at(reading, owner)->names, node->name)) return;
    hold(reading, owner, node->name);
    add_variable(reading, node->name, IS_FIELD, node, start, end, scope_at(reading, owner)->symbol);
}

/* Take the names in a target; in an assignment, which has a beginning and an end, they may be symbols. */
static void bind(Reading *reading, Ref target, int32_t start, int32_t end, Ref annotation) {
    if (reading->failed) return;
    if (++reading->depth > DEEPEST) reading->failed = 1;
    const Node *node = node_at(reading, target);
    switch (reading->failed ? NOTHING : (Kind)node->kind) {
    case NOTHING:
        break;
    case NAME:
        bind_name(reading, node->name, node, start, end, annotation);
        break;
    case ATTRIBUTE:
        bind_field(reading, note(reading, USES_WRITE, target, reading->container).path, node, start, end);
        break;
    case TUPLE:
    case LIST:
        for (int32_t i = 0; i < node->items.count; i++) bind(reading, item_of(reading, node->items, i), start, end, 0);
        break;
    case STARRED:
        bind(reading, node->a, start, end, 0);
        break;
    default:
        expression(reading, target);
    }
    reading->depth--;
}

/* -- expressions --------------------------------------------------------------------------------- */

static void expressions(Reading *reading, Run run) {
    for (int32_t i = 0; i < run.count; i++) expression(reading, item_of(reading, run, i));
}

static void add_export(Reading *reading, Ref value) {
    const Node *node = node_at(reading, value);
    if (++reading->depth > DEEPEST) reading->failed = 1;
    if (reading->failed) return;
    if (node->kind == TEXT) {
        Piece name;
        if (written_text(reading, node->start, node->end, &name)) {
            Piece *place = one_more(reading, &reading->exports, sizeof *place);
            if (place) *place = name;
        }
    } else if (node->kind == TUPLE || node->kind == LIST) {
        for (int32_t i = 0; i < node->items.count; i++) add_export(reading, item_of(reading, node->items, i));
    } else if (node->kind == BINARY) {
        add_export(reading, node->a);
        add_export(reading, node->b);
    }
    reading->depth--;
}

static void add_import(Reading *reading, Piece module, int32_t name, int32_t alias, int32_t line, int is_exported) {
    Import *place = one_more(reading, &reading->imports, sizeof *place);
    if (place) *place = (Import){module, name, alias, line, reading->container, is_exported != 0};
}

static Piece plain(Reading *reading, const uint8_t *bytes, int64_t length) {
    int64_t start = reading->texts.used;
    put_bytes(&reading->texts, bytes, length);
    return since(&reading->texts, start);
}

static void import_by_text(Reading *reading, Run arguments) {
    if (!arguments.count) return;
    const Node *node = node_at(reading, item_of(reading, arguments, 0));
    Piece module;
    int32_t start = node->start;
    if (!is_text(node) || !written_text(reading, start, node->end, &module)) return;
    add_import(reading, plain(reading, reading->tree->content + module.start, module.length), NO_NAME, NO_NAME, line_at(reading, start), 0);
}

static void read_call(Reading *reading, const Node *node) {
    Path called = path_of(reading, node->a);
    Piece path = called.path;
    int imports = 0, exports = 0;
    if (path.length && !reading->paths.failed) {
        use(reading, USES_CALL, path, called.start, reading->container);
        const uint8_t *bytes = bytes_of(reading, path);
        imports = is_same(bytes, path.length, "importlib.import_module") || is_same(bytes, path.length, "import_module") ||
                  is_same(bytes, path.length, "__import__");
        exports = reading->container < 0 && path.length >= 8 && !memcmp(bytes, "__all__.", 8);
    }
    if (called.inner) expression(reading, called.inner);
    if (imports) import_by_text(reading, node->items);
    for (int32_t i = 0; exports && i < node->items.count; i++) add_export(reading, item_of(reading, node->items, i));
    expressions(reading, node->items);
    for (int32_t i = 0; i < node->more.count; i++) expression(reading, node_at(reading, item_of(reading, node->more, i))->a);
}

/* Bind parameters inside; their types are the function's, their defaults are read outside. */
static void take_parameters(Reading *reading, Ref arguments, int32_t inside, int32_t symbol) {
    if (!arguments) return;
    const Node *node = node_at(reading, arguments);
    Run runs[2] = {node->items, node->more};
    Ref several[2] = {node->a, node->b};
    for (int32_t r = 0; r < 2; r++)
        for (int32_t i = 0; i < runs[r].count; i++) {
            const Node *argument = node_at(reading, item_of(reading, runs[r], i));
            hold(reading, inside, argument->name);
            types(reading, argument->a, symbol);
        }
    for (int32_t i = 0; i < 2; i++)
        if (several[i]) {
            hold(reading, inside, node_at(reading, several[i])->name);
            types(reading, node_at(reading, several[i])->a, symbol);
        }
    for (int32_t r = 0; r < 2; r++)
        for (int32_t i = 0; i < runs[r].count; i++) expression(reading, node_at(reading, item_of(reading, runs[r], i))->b);
}

static void lambda_inside(Reading *reading, const Node *node, int32_t symbol) {
    int32_t inside = open_scope(reading, symbol, 0), outer = reading->scope, container = reading->container;
    take_parameters(reading, node->a, inside, symbol);
    reading->scope = inside;
    reading->container = symbol;
    expression(reading, node->b);
    reading->scope = outer;
    reading->container = container;
}

static void read_comprehension(Reading *reading, const Node *node) {
    int32_t outer = reading->scope;
    reading->scope = open_scope(reading, reading->container, 0);
    for (int32_t i = 0; i < node->items.count; i++) {
        const Node *generator = node_at(reading, item_of(reading, node->items, i));
        bind(reading, generator->a, -1, -1, 0);
        expression(reading, generator->b);
        expressions(reading, generator->items);
    }
    expression(reading, node->a);
    if (node->kind == DICT_OF) expression(reading, node->b);
    reading->scope = outer;
}

static void expression(Reading *reading, Ref ref) {
    if (!ref || reading->failed) return;
    if (++reading->depth > DEEPEST) reading->failed = 1;
    const Node *node = node_at(reading, ref);
    switch (reading->failed ? NOTHING : (Kind)node->kind) {
    case NOTHING:
    case TEXT:
    case BYTES:
    case WHOLE:
    case OTHER:
        break;
    case NAME:
    case ATTRIBUTE:
        note_read(reading, USES_READ, ref);
        break;
    case CALL:
        read_call(reading, node);
        break;
    case LIST:
    case TUPLE:
    case SET:
    case DICT:
    case COMPARE:
    case BOOLEAN:
        expression(reading, node->a);
        expressions(reading, node->items);
        expressions(reading, node->more);
        break;
    case JOINED:
        for (int32_t i = 0; i < node->items.count; i++) {
            Ref part = item_of(reading, node->items, i);
            if (node_at(reading, part)->kind == FORMATTED) expression(reading, part);
        }
        break;
    case FORMATTED:
    case STARRED:
    case SUBSCRIPT:
    case SLICE:
    case BINARY:
    case UNARY:
    case IF_ELSE:
    case AWAIT:
    case YIELD:
    case YIELD_FROM:
        expression(reading, node->a);
        expression(reading, node->b);
        expression(reading, node->c);
        break;
    case NAMED:
        bind(reading, node->a, -1, -1, 0);
        expression(reading, node->b);
        break;
    case LAMBDA:
        lambda_inside(reading, node, reading->container);
        break;
    case LIST_OF:
    case SET_OF:
    case GENERATOR:
    case DICT_OF:
        read_comprehension(reading, node);
        break;
    default: /* no expression that is known here */
        reading->failed = 1;
    }
    reading->depth--;
}

/* -- definitions --------------------------------------------------------------------------------- */

/* How each is written, as a list; `is_special` is asked for each of them in `head`. */
static Piece heads(Reading *reading, Run nodes, int (*is_special)(Reading *reading), int *found) {
    *found = 0;
    if (!nodes.count) return NONE_OF_THEM;
    int64_t before = reading->texts.used;
    put_sign(&reading->texts, '[');
    for (int32_t i = 0; i < nodes.count; i++) {
        const Node *node = node_at(reading, item_of(reading, nodes, i));
        if (i) put_sign(&reading->texts, ',');
        head_of(reading, node->start, node->end);
        *found |= is_special(reading);
    }
    put_sign(&reading->texts, ']');
    return since(&reading->texts, before);
}

static int names_enum(Reading *reading) {
    const uint8_t *head = reading->head;
    int32_t length = reading->head_length, start = length;
    if (!ends_with(head, length, "Enum") && !ends_with(head, length, "Flag") && !ends_with(head, length, "Choices")) return 0;
    while (start && is_word(head[start - 1])) start--;
    return start == 0 || head[start - 1] == '.';
}

enum { OVERLOADS = 1, IS_STATIC = 2 };

static int decorator_meaning(Reading *reading) {
    if (ends_with(reading->head, reading->head_length, "overload")) return OVERLOADS;
    return is_same(reading->head, reading->head_length, "staticmethod") ? IS_STATIC : 0;
}

static int32_t define(Reading *reading, const Node *node, SymbolKind kind, Piece bases, Piece decorators) {
    int32_t start = node->start, comments_end;
    int32_t above = take_above(reading, outer_start(reading, node), &comments_end);
    Symbol symbol = {
        .name = node->name,
        .start = above,
        .end = node->end,
        .line = node->line,
        .container = reading->container,
        .kind = (uint8_t)kind,
        .exported = is_public(reading, node->name) && !scope_at(reading, reading->scope)->is_function,
        .bases = bases,
        .decorators = decorators,
    };
    symbol.signature = head_of(reading, start, outer_start(reading, node_at(reading, item_of(reading, node->items, 0))));
    symbol.doc = docstring(reading, node->items);
    if (symbol.doc.start == NOTHING_SAID.start && comments_end) symbol.doc = uncommented(reading, above, comments_end);
    if (!scope_at(reading, reading->scope)->is_function) hold(reading, reading->scope, node->name);
    return add_symbol(reading, symbol);
}

static void decorate(Reading *reading, Run decorators, int32_t symbol) {
    for (int32_t i = 0; i < decorators.count; i++) {
        Ref decorator = item_of(reading, decorators, i);
        const Node *node = node_at(reading, decorator);
        if (node->kind != CALL) {
            note(reading, USES_DECORATE, decorator, symbol);
            continue;
        }
        Path path = path_of(reading, node->a);
        if (path.path.length) use(reading, USES_DECORATE, path.path, path.start, symbol);
        expression(reading, decorator);
    }
}

static void block(Reading *reading, const Node *statement, Run statements) {
    reading->floor = statement->start;
    body(reading, statements);
}

static void enter(Reading *reading, const Node *node, int32_t symbol, int32_t inside) {
    int32_t outer = reading->scope, container = reading->container;
    reading->scope = inside;
    reading->container = symbol;
    block(reading, node, node->items);
    reading->scope = outer;
    reading->container = container;
}

static void read_function(Reading *reading, const Node *node) {
    int meaning, in_class = scope_at(reading, reading->scope)->is_class;
    Piece written = heads(reading, node->more, decorator_meaning, &meaning);
    SymbolKind kind = IS_FUNCTION;
    if (meaning & OVERLOADS) kind = IS_SIGNATURE;
    else if (in_class) kind = node->name == reading->init ? IS_CONSTRUCTOR : IS_METHOD;
    int32_t symbol = define(reading, node, kind, NONE_OF_THEM, written);
    int32_t inside = open_scope(reading, symbol, 0);
    types(reading, node->b, symbol);
    take_parameters(reading, node->a, inside, symbol);
    Run arguments = node->a ? node_at(reading, node->a)->items : (Run){0, 0};
    if (in_class && !(meaning & IS_STATIC) && arguments.count) {
        /* The one that is passed by itself has no default, and seldom a type. */
        const Node *first = node_at(reading, item_of(reading, arguments, 0));
        if (!first->a && !first->b) scope_at(reading, inside)->receiver = first->name;
    }
    decorate(reading, node->more, symbol);
    enter(reading, node, symbol, inside);
}

static void inherit(Reading *reading, Ref base, int32_t symbol) {
    const Node *node = node_at(reading, base);
    switch ((Kind)node->kind) {
    case SUBSCRIPT: /* `Generic[T]` inherits from Generic, and names T */
        types(reading, node->b, symbol);
        note(reading, USES_INHERIT, node->a, symbol);
        break;
    case NAME:
    case ATTRIBUTE:
    case CALL:
    case AWAIT:
        note(reading, USES_INHERIT, base, symbol);
        break;
    default:
        expression(reading, base);
    }
}

static void read_class(Reading *reading, const Node *node) {
    Run bases = {0, 0}, keywords = {0, 0};
    if (node->a) {
        bases = node_at(reading, node->a)->items;
        keywords = node_at(reading, node->a)->more;
    }
    int enumerates, ignored;
    Piece written_bases = heads(reading, bases, names_enum, &enumerates);
    Piece written = heads(reading, node->more, decorator_meaning, &ignored);
    int32_t symbol = define(reading, node, enumerates ? IS_ENUM : IS_CLASS, written_bases, written);
    int32_t inside = open_scope(reading, symbol, 1);
    scope_at(reading, inside)->is_enum = enumerates != 0;
    for (int32_t i = 0; i < bases.count; i++) inherit(reading, item_of(reading, bases, i), symbol);
    for (int32_t i = 0; i < keywords.count; i++) expression(reading, node_at(reading, item_of(reading, keywords, i))->a);
    decorate(reading, node->more, symbol);
    enter(reading, node, symbol, inside);
}

static void lambda_with_name(Reading *reading, const Node *target, const Node *value, int32_t end, Ref annotation) {
    const Scope *scope = scope_at(reading, reading->scope);
    int32_t start = target->start, comments_end, above = take_above(reading, start, &comments_end);
    Symbol symbol = {
        .name = target->name,
        .start = above,
        .end = end,
        .line = target->line,
        .container = reading->container,
        .kind = scope->is_class ? IS_METHOD : IS_FUNCTION,
        .exported = is_public(reading, target->name) && !scope->is_function,
        .bases = NONE_OF_THEM,
        .decorators = NONE_OF_THEM,
    };
    symbol.doc = comments_end ? uncommented(reading, above, comments_end) : NOTHING_SAID;
    symbol.signature = head_of(reading, start, end);
    int32_t place = add_symbol(reading, symbol);
    if (!scope->is_function) hold(reading, reading->scope, target->name);
    types(reading, annotation, place);
    lambda_inside(reading, value, place);
}

/* -- statements ---------------------------------------------------------------------------------- */

/* Whether nothing but one line end and blanks is between. */
static int is_next(const Reading *reading, int32_t end, int32_t start) {
    if (start - end > LONGEST_SIGNATURE) return 0;
    int32_t lines = 0;
    for (int32_t i = end; i < start; i++) {
        uint8_t byte = reading->tree->content[i];
        if (byte != ' ' && (byte < 9 || byte > 13)) return 0;
        lines += byte == '\n';
    }
    return lines <= 1;
}

static void read_expression_statement(Reading *reading, const Node *statement) {
    const Node *value = node_at(reading, statement->a);
    if (!is_text(value)) {
        expression(reading, statement->a);
        return;
    }
    /* A text right below a field says what the field is. */
    if (!reading->symbols.used || scope_at(reading, reading->scope)->is_function) return;
    Symbol *last = (Symbol *)reading->symbols.items + reading->symbols.used - 1;
    int is_documented_below = last->kind == IS_FIELD || last->kind == IS_VARIABLE || last->kind == IS_CONSTANT ||
                              last->kind == IS_MEMBER || last->kind == IS_TYPE;
    if (!is_documented_below || !is_next(reading, last->end, statement->start)) return;
    last->doc = said_in(reading, value);
    last->end = statement->end;
}

static int is_all(const Reading *reading, const Node *target) {
    return target->kind == NAME && target->name == reading->all && !scope_at(reading, reading->scope)->is_function;
}

static void read_assignment(Reading *reading, const Node *statement) {
    int32_t end = statement->end, count = statement->items.count;
    for (int32_t i = 0; i < count; i++) {
        Ref target = item_of(reading, statement->items, i);
        const Node *node = node_at(reading, target), *value = node_at(reading, statement->a);
        if (i == count - 1 && value->kind == LAMBDA && node->kind == NAME) {
            lambda_with_name(reading, node, value, end, 0);
            return;
        }
        bind(reading, target, node->start, end, 0);
    }
    expression(reading, statement->a);
    if (count && is_all(reading, node_at(reading, item_of(reading, statement->items, count - 1)))) add_export(reading, statement->a);
}

static void read_annotated(Reading *reading, const Node *statement) {
    const Node *target = node_at(reading, statement->a), *value = node_at(reading, statement->c);
    int32_t end = statement->end;
    if (statement->c && value->kind == LAMBDA && target->kind == NAME) {
        lambda_with_name(reading, target, value, end, statement->b);
        return;
    }
    bind(reading, statement->a, target->start, end, statement->b);
    types(reading, statement->b, reading->container);
    if (!statement->c) return;
    expression(reading, statement->c);
    if (is_all(reading, target)) add_export(reading, statement->c);
}

static void read_augmented(Reading *reading, const Node *statement) {
    bind(reading, statement->a, statement->start, statement->end, 0);
    expression(reading, statement->b);
    if (is_all(reading, node_at(reading, statement->a))) add_export(reading, statement->b);
}

static void read_raise(Reading *reading, const Node *statement) {
    const Node *raised = node_at(reading, statement->a);
    switch (statement->a ? (Kind)raised->kind : NOTHING) {
    case NOTHING:
        break;
    case CALL: {
        expression(reading, statement->a);
        Path path = path_of(reading, raised->a);
        if (path.path.length) read_use(reading, USES_RAISE, &path);
        break;
    }
    case NAME:
    case ATTRIBUTE:
    case SUBSCRIPT:
    case AWAIT:
        note_read(reading, USES_RAISE, statement->a);
        break;
    default:
        expression(reading, statement->a);
    }
    expression(reading, statement->b);
}

static void read_with(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *item = node_at(reading, item_of(reading, statement->items, i));
        expression(reading, item->a);
        if (item->b) bind(reading, item->b, -1, -1, 0);
    }
    block(reading, statement, statement->more);
}

static void catch_one(Reading *reading, Ref caught) {
    Kind kind = (Kind)node_at(reading, caught)->kind;
    if (kind == NAME || kind == ATTRIBUTE) note(reading, USES_CATCH, caught, reading->container);
    else expression(reading, caught);
}

static void read_try(Reading *reading, const Node *statement) {
    block(reading, statement, statement->items);
    for (int32_t i = 0; i < statement->more.count; i++) {
        const Node *handler = node_at(reading, item_of(reading, statement->more, i));
        if (handler->a) {
            const Node *caught = node_at(reading, handler->a);
            if (caught->kind == TUPLE || caught->kind == LIST)
                for (int32_t each = 0; each < caught->items.count; each++) catch_one(reading, item_of(reading, caught->items, each));
            else catch_one(reading, handler->a);
        }
        if (handler->name != NO_NAME) bind_name(reading, handler->name, handler, -1, -1, 0);
        body(reading, handler->items);
    }
    if (statement->a) body(reading, node_at(reading, statement->a)->items);
    if (statement->b) body(reading, node_at(reading, statement->b)->items);
}

static void read_pattern(Reading *reading, Ref pattern);

static void read_patterns(Reading *reading, Run patterns) {
    for (int32_t i = 0; i < patterns.count; i++) read_pattern(reading, item_of(reading, patterns, i));
}

static void read_pattern(Reading *reading, Ref pattern) {
    if (!pattern || reading->failed) return;
    if (++reading->depth > DEEPEST) reading->failed = 1;
    const Node *node = node_at(reading, pattern);
    switch (reading->failed ? MATCH_SINGLETON : (Kind)node->kind) {
    case MATCH_SINGLETON:
        break;
    case MATCH_VALUE:
        expression(reading, node->a);
        break;
    case MATCH_AS:
    case MATCH_STAR:
        read_pattern(reading, node->a);
        if (node->name != NO_NAME) bind_name(reading, node->name, node, -1, -1, 0);
        break;
    case MATCH_CLASS:
        types(reading, node->a, reading->container);
        read_patterns(reading, node->items);
        for (int32_t i = 0; i < node->more.count; i++) read_pattern(reading, node_at(reading, item_of(reading, node->more, i))->a);
        break;
    case MATCH_MAPPING:
        expressions(reading, node->items);
        read_patterns(reading, node->more);
        if (node->name != NO_NAME) bind_name(reading, node->name, node, -1, -1, 0);
        break;
    case MATCH_SEQUENCE:
    case MATCH_OR:
        read_patterns(reading, node->items);
        break;
    default:
        reading->failed = 1;
    }
    reading->depth--;
}

static void read_match(Reading *reading, const Node *statement) {
    expression(reading, statement->a);
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *one = node_at(reading, item_of(reading, statement->items, i));
        read_pattern(reading, one->a);
        expression(reading, one->b);
        body(reading, one->items);
    }
}

static void read_import(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *alias = node_at(reading, item_of(reading, statement->items, i));
        const Text *name = name_at(reading, alias->name);
        add_import(reading, plain(reading, name->bytes, name->length), NO_NAME, alias->other, statement->line, 0);
    }
}

static void read_import_from(Reading *reading, const Node *statement) {
    int64_t before = reading->texts.used;
    if (statement->number > LONGEST_MODULE) {
        reading->failed = 1;
        return;
    }
    for (int64_t i = 0; i < statement->number; i++) put_sign(&reading->texts, '.');
    if (statement->name != NO_NAME) put_bytes(&reading->texts, name_at(reading, statement->name)->bytes, name_at(reading, statement->name)->length);
    Piece module = since(&reading->texts, before);
    if (module.length > LONGEST_MODULE) reading->failed = 1;
    for (int32_t i = 0; i < statement->items.count; i++) {
        const Node *alias = node_at(reading, item_of(reading, statement->items, i));
        const Text *name = name_at(reading, alias->name);
        int is_passed_on = alias->name == alias->other || is_same(name->bytes, name->length, "*");
        add_import(reading, module, alias->name, alias->other, alias->line, is_passed_on);
    }
}

static void names_elsewhere(Reading *reading, const Node *statement) {
    for (int32_t i = 0; i < statement->items.count; i++)
        if (!map_set(&scope_at(reading, reading->scope)->elsewhere, item_of(reading, statement->items, i), 1)) reading->failed = 1;
}

static void statement_of(Reading *reading, const Node *statement) {
    switch ((Kind)statement->kind) {
    case PASS:
    case BREAK:
    case CONTINUE:
        break;
    case FUNCTION:
        read_function(reading, statement);
        break;
    case CLASS:
        read_class(reading, statement);
        break;
    case EXPRESSION:
        read_expression_statement(reading, statement);
        break;
    case ASSIGN:
        read_assignment(reading, statement);
        break;
    case ANNOTATED:
        read_annotated(reading, statement);
        break;
    case AUGMENTED:
        read_augmented(reading, statement);
        break;
    case RETURN:
        expression(reading, statement->a);
        break;
    case DELETE:
        expressions(reading, statement->items);
        break;
    case ASSERT:
        expression(reading, statement->a);
        expression(reading, statement->b);
        break;
    case RAISE:
        read_raise(reading, statement);
        break;
    case FOR:
        bind(reading, statement->a, -1, -1, 0);
        expression(reading, statement->b);
        block(reading, statement, statement->items);
        body(reading, statement->more);
        break;
    case WHILE:
    case IF:
        expression(reading, statement->a);
        block(reading, statement, statement->items);
        body(reading, statement->more);
        break;
    case WITH:
        read_with(reading, statement);
        break;
    case TRY:
        read_try(reading, statement);
        break;
    case MATCH:
        read_match(reading, statement);
        break;
    case GLOBAL:
    case NONLOCAL:
        names_elsewhere(reading, statement);
        break;
    case IMPORT:
        read_import(reading, statement);
        break;
    case IMPORT_FROM:
        read_import_from(reading, statement);
        break;
    default:
        reading->failed = 1;
    }
}

static void body(Reading *reading, Run statements) {
    if (++reading->depth > DEEPEST) reading->failed = 1;
    for (int32_t i = 0; i < statements.count && !reading->failed; i++) {
        const Node *statement = node_at(reading, item_of(reading, statements, i));
        statement_of(reading, statement);
        reading->floor = statement->end;
    }
    reading->depth--;
}

/* -- the end ------------------------------------------------------------------------------------- */

/* Whether a name is found to be a variable from where it is read. What is taken of a method's own object counts none the less: it
is a use of the class's field or method. */
static int is_variable(const Reading *reading, const Use *read) {
    if (read->root == NO_NAME) return 0;
    int32_t at = read->scope;
    for (int32_t i = 0; i < DEEPEST_SCOPE && at >= 0; i++) {
        const Scope *scope = scope_at(reading, at);
        if (scope->is_function && map_has(&scope->names, read->root)) {
            int32_t length = name_at(reading, read->root)->length;
            return scope->receiver != read->root || read->path.length <= length || bytes_of(reading, read->path)[length] != '.';
        }
        at = scope->parent;
    }
    return 0;
}

/* Keep of the reads in all scopes those that may mean something defined outside of functions: behind the uses, by their scopes. */
static void settle(Reading *reading) {
    Use *reads = reading->reads.items;
    int64_t kept = 0;
    for (int64_t i = 0; i < reading->reads.used; i++)
        if (!is_variable(reading, reads + i)) reads[kept++] = reads[i];
    if (!kept) return;
    int64_t scopes = reading->scopes.used, all = reading->uses.used + kept;
    int64_t *places = calloc((size_t)scopes + 1, sizeof *places);
    Use *uses = places ? realloc(reading->uses.items, (size_t)all * sizeof *uses) : NULL;
    if (uses) {
        reading->uses.items = uses;
        reading->uses.room = all;
        for (int64_t i = 0; i < kept; i++) places[reads[i].scope + 1]++;
        places[0] = reading->uses.used;
        for (int64_t i = 1; i <= scopes; i++) places[i] += places[i - 1];
        for (int64_t i = 0; i < kept; i++) uses[places[reads[i].scope]++] = reads[i];
        reading->uses.used = all;
    } else {
        reading->failed = 1;
    }
    free(places);
}

/* Uses by their beginnings; those of the same keep their order. */
static void sort_uses(Reading *reading) {
    int64_t count = reading->uses.used;
    if (count < 2) return;
    Use *uses = reading->uses.items, *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted) {
        reading->failed = 1;
        return;
    }
    for (int32_t shift = 0; shift < 32 && reading->tree->length >> shift; shift += 8) {
        int64_t places[257] = {0};
        for (int64_t i = 0; i < count; i++) places[((uint32_t)uses[i].start >> shift & 255) + 1]++;
        for (int32_t i = 1; i < 257; i++) places[i] += places[i - 1];
        for (int64_t i = 0; i < count; i++) sorted[places[(uint32_t)uses[i].start >> shift & 255]++] = uses[i];
        Use *swapped = uses;
        uses = sorted;
        sorted = swapped;
    }
    reading->uses.items = uses;
    reading->uses.room = count;
    free(sorted);
}

typedef struct {
    int32_t start, end, place;
} Order;

static int compare(const void *left, const void *right) {
    const Order *a = left, *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* Symbols by their beginnings, the longer ones first; all that tells of them follows. */
static void sort_symbols(Reading *reading) {
    int64_t count = reading->symbols.used, in_order = 1;
    Symbol *symbols = reading->symbols.items;
    for (; in_order < count; in_order++) {
        const Symbol *before = symbols + in_order - 1, *now = symbols + in_order;
        if (before->start > now->start || (before->start == now->start && before->end < now->end)) break;
    }
    if (in_order >= count) return;
    Order *order = malloc((size_t)count * sizeof *order);
    int32_t *moved = malloc((size_t)count * sizeof *moved);
    Symbol *sorted = malloc((size_t)count * sizeof *sorted);
    if (order && moved && sorted) {
        for (int64_t i = 0; i < count; i++) order[i] = (Order){symbols[i].start, symbols[i].end, (int32_t)i};
        qsort(order, (size_t)count, sizeof *order, compare);
        for (int64_t i = 0; i < count; i++) {
            moved[order[i].place] = (int32_t)i;
            sorted[i] = symbols[order[i].place];
        }
        for (int64_t i = 0; i < count; i++)
            if (sorted[i].container >= 0) sorted[i].container = moved[sorted[i].container];
        memcpy(symbols, sorted, (size_t)count * sizeof *sorted);
        Import *imports = reading->imports.items;
        for (int64_t i = 0; i < reading->imports.used; i++)
            if (imports[i].container >= 0) imports[i].container = moved[imports[i].container];
        Use *uses = reading->uses.items;
        for (int64_t i = 0; i < reading->uses.used; i++)
            if (uses[i].container >= 0) uses[i].container = moved[uses[i].container];
    } else {
        reading->failed = 1;
    }
    free(order);
    free(moved);
    free(sorted);
}

static uint64_t hash_of(const uint8_t *bytes, int64_t length) {
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* The slot of an exported name, or the free one where it would be. */
static uint64_t export_slot(const Reading *reading, const int32_t *slots, uint64_t mask, const uint8_t *bytes, int64_t length) {
    const Piece *exports = reading->exports.items;
    for (uint64_t slot = hash_of(bytes, length) & mask;; slot = (slot + 1) & mask) {
        if (!slots[slot]) return slot;
        const Piece *known = exports + slots[slot] - 1;
        if (known->length == length && !memcmp(reading->tree->content + known->start, bytes, (size_t)length)) return slot;
    }
}

/* Where the file has `__all__`, this alone says what others may use. */
static void tell_exported(Reading *reading) {
    int64_t count = reading->exports.used;
    if (!count) return;
    uint64_t room = 16;
    while (room < (uint64_t)count * 2) room *= 2;
    int32_t *slots = calloc(room, sizeof *slots);
    if (!slots) {
        reading->failed = 1;
        return;
    }
    const Piece *exports = reading->exports.items;
    for (int64_t i = 0; i < count; i++)
        slots[export_slot(reading, slots, room - 1, reading->tree->content + exports[i].start, exports[i].length)] = (int32_t)i + 1;
    Symbol *symbols = reading->symbols.items;
    for (int64_t i = 0; i < reading->symbols.used; i++) {
        const Text *name = name_at(reading, symbols[i].name);
        if (symbols[i].container < 0) symbols[i].exported = slots[export_slot(reading, slots, room - 1, name->bytes, name->length)] != 0;
    }
    Import *imports = reading->imports.items;
    for (int64_t i = 0; i < reading->imports.used; i++) {
        int32_t known_as = imports[i].alias != NO_NAME ? imports[i].alias : imports[i].name;
        const uint8_t *bytes = known_as == NO_NAME ? reading->texts.bytes + imports[i].module.start : name_at(reading, known_as)->bytes;
        int32_t length = known_as == NO_NAME ? imports[i].module.length : name_at(reading, known_as)->length;
        if (slots[export_slot(reading, slots, room - 1, bytes, length)]) imports[i].exported = 1;
    }
    free(slots);
}

/* -- as JSON ------------------------------------------------------------------------------------- */

static void put_plain(Output *output, const char *text) { put_bytes(output, text, (int64_t)strlen(text)); }

static void put_bool(Output *output, int is_true) { put_plain(output, is_true ? "true" : "false"); }

/* A name, or an empty text; none of its letters needs more than quotes. */
static void put_named(Output *output, const Reading *reading, int32_t name) {
    put_sign(output, '"');
    if (name != NO_NAME) put_bytes(output, name_at(reading, name)->bytes, name_at(reading, name)->length);
    put_sign(output, '"');
}

static void put_piece(Output *output, const Reading *reading, Piece piece) { put_bytes(output, reading->texts.bytes + piece.start, piece.length); }

#define COLUMN(output, list, type, each, write)                          \
    do {                                                                 \
        put_sign(output, '[');                                           \
        const type *each = (list).items;                                 \
        for (int64_t left = (list).used; left; left--, each++) {         \
            write;                                                       \
            if (left > 1) put_sign(output, ',');                         \
        }                                                                \
        put_sign(output, ']');                                           \
    } while (0)
#define NEXT_COLUMN(output, list, type, each, write) \
    do {                                             \
        put_sign(output, ',');                       \
        COLUMN(output, list, type, each, write);     \
    } while (0)

static void write_outline(Reading *reading, Piece doc, Output *out) {
    List symbols = reading->symbols;
    put_plain(out, "[\"python\",");
    put_number(out, reading->tree->line_count - 2);
    put_sign(out, ',');
    put_piece(out, reading, doc);
    put_plain(out, ",[");
    COLUMN(out, symbols, Symbol, each, put_named(out, reading, each->name));
    NEXT_COLUMN(out, symbols, Symbol, each, put_plain(out, SYMBOL_KINDS[each->kind]));
    put_plain(out, ",[");
    COLUMN(out, symbols, Symbol, each, put_number(out, each->start));
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, each->end));
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, line_at(reading, each->start)));
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, line_at(reading, each->end - 1 > each->start ? each->end - 1 : each->start)));
    put_sign(out, ']');
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, each->line));
    NEXT_COLUMN(out, symbols, Symbol, each, put_number(out, each->container));
    NEXT_COLUMN(out, symbols, Symbol, each, put_piece(out, reading, each->signature));
    NEXT_COLUMN(out, symbols, Symbol, each, put_piece(out, reading, each->doc));
    NEXT_COLUMN(out, symbols, Symbol, each, put_bool(out, each->exported));
    NEXT_COLUMN(out, symbols, Symbol, each, put_piece(out, reading, each->bases));
    NEXT_COLUMN(out, symbols, Symbol, each, put_piece(out, reading, each->decorators));
    NEXT_COLUMN(out, symbols, Symbol, each, ((void)each, put_plain(out, "\"\"")));
    put_sign(out, ']');
    NEXT_COLUMN(out, reading->imports, Import, each, {
        put_sign(out, '[');
        put_text(out, reading->texts.bytes + each->module.start, each->module.length);
        put_sign(out, ',');
        put_named(out, reading, each->name);
        put_sign(out, ',');
        put_named(out, reading, each->alias);
        put_sign(out, ',');
        put_number(out, each->line);
        put_sign(out, ',');
        put_number(out, each->container);
        put_sign(out, ',');
        put_bool(out, each->exported);
        put_sign(out, ']');
    });
    NEXT_COLUMN(out, reading->exports, Piece, each, {
        put_sign(out, '[');
        put_text(out, reading->tree->content + each->start, each->length);
        put_sign(out, ',');
        put_text(out, reading->tree->content + each->start, each->length);
        put_sign(out, ']');
    });
    put_plain(out, ",[]]");
}

static void write_uses(Reading *reading, Output *out) {
    List uses = reading->uses;
    put_sign(out, '[');
    COLUMN(out, uses, Use, each, put_plain(out, USE_KINDS[each->kind]));
    NEXT_COLUMN(out, uses, Use, each, {
        put_sign(out, '"');
        put_bytes(out, bytes_of(reading, each->path), each->path.length);
        put_sign(out, '"');
    });
    const int32_t *starts = reading->tree->line_starts;
    int32_t line = 1, lines = reading->tree->line_count;
    NEXT_COLUMN(out, uses, Use, each, {
        while (line + 1 < lines && starts[line + 1] <= each->start) line++;
        put_number(out, line);
    });
    NEXT_COLUMN(out, uses, Use, each, put_number(out, each->start));
    NEXT_COLUMN(out, uses, Use, each, put_number(out, each->container));
    put_sign(out, ']');
}

int write_symbols(Tree *tree, Output *outline, Output *uses) {
    Reading reading = {.tree = tree, .scope = -1, .container = -1, .taken = -1};
    reading.all = named(tree, "__all__");
    reading.init = named(tree, "__init__");
    if (reading.all < 0 || reading.init < 0) return 0;
    put_plain(&reading.texts, "\"\"[]");
    reading.scope = open_scope(&reading, -1, 0);
    if (!reading.failed) {
        scope_at(&reading, 0)->is_function = 0;
        Piece doc = docstring(&reading, tree->body);
        body(&reading, tree->body);
        if (!reading.failed && !reading.texts.failed && !reading.paths.failed) {
            settle(&reading);
            tell_exported(&reading);
            sort_uses(&reading);
            sort_symbols(&reading);
        }
        if (!reading.failed && !reading.texts.failed && !reading.paths.failed) {
            write_outline(&reading, doc, outline);
            write_uses(&reading, uses);
        }
    }
    int is_done = !reading.failed && !reading.texts.failed && !reading.paths.failed && !outline->failed && !uses->failed;
    for (int64_t i = 0; i < reading.scopes.used; i++) {
        map_end(&scope_at(&reading, (int32_t)i)->names);
        map_end(&scope_at(&reading, (int32_t)i)->elsewhere);
    }
    free(reading.symbols.items);
    free(reading.imports.items);
    free(reading.uses.items);
    free(reading.reads.items);
    free(reading.scopes.items);
    free(reading.exports.items);
    end_output(&reading.texts);
    end_output(&reading.paths);
    return is_done;
}
