/* Extracts signatures, docstrings and comments of definitions from the text of a Python file. */

#include "symbols_walk.h"

int32_t line_of_byte(const Reading *reading, int32_t byte) {
    const int32_t *starts = reading->tree->line_starts;
    int32_t low = 1, behind = reading->tree->line_count;
    while (low < behind) {
        int32_t middle = low + (behind - low) / 2;
        if (starts[middle] <= byte) low = middle + 1;
        else behind = middle;
    }
    return low > 1 ? low - 1 : 1;
}

/* Return the first byte of a line, including a byte order mark. */
static inline int32_t line_start(const Reading *reading, int32_t line) { return line > 1 ? reading->tree->line_starts[line] : 0; }

/* Return the length of the UTF-8 character with this first byte. */
static inline int32_t letter_length(uint8_t first) { return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

/* Return the length of the whitespace character here, by Python's definition; 0 if there is none. */
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

/* Return the end of a text without trailing whitespace. */
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

static Piece text_of(Reading *reading, const uint8_t *bytes, int32_t length) {
    int64_t start = reading->texts.used;
    put_text(&reading->texts, bytes, length);
    return since(&reading->texts, start);
}

static void read_head(Reading *reading, int32_t start, int32_t end) {
    const uint8_t *at = reading->tree->content + start;
    const uint8_t *behind = at + (end - start < 4 * MAX_SIGNATURE ? end - start : 4 * MAX_SIGNATURE);
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
        if (behind - at < length) { /* cut within a character */
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
        if ((head[i] & 0xC0) != 0x80 && letters++ == MAX_SIGNATURE - 1) cut = i;
    if (letters > MAX_SIGNATURE) {
        memcpy(head + cut, "\xE2\x80\xA6", 3);
        used = cut + 3;
    }
    reading->head_length = used;
}

Piece signature_of(Reading *reading, int32_t start, int32_t end) {
    read_head(reading, start, end);
    return text_of(reading, reading->head, reading->head_length);
}

/* Add a line to `doc`, from a column on, without trailing whitespace and without blank lines at the start. */
static void add_doc_line(Reading *reading, const uint8_t *at, const uint8_t *end, int32_t column, int expands_tabs) {
    end = without_blanks_behind(at, end);
    if (at < end) {
        if (reading->doc_length)
            for (; reading->doc_breaks && reading->doc_letters < MAX_DOC; reading->doc_breaks--) {
                reading->doc[reading->doc_length++] = '\n';
                reading->doc_letters++;
            }
        reading->doc_breaks = 0;
    }
    for (int32_t now = 0; at < end && reading->doc_letters < MAX_DOC;) {
        int32_t length = letter_length(*at) < end - at ? letter_length(*at) : (int32_t)(end - at);
        int is_expanded = expands_tabs && *at == '\t';
        int32_t next = is_expanded ? now - now % TAB + TAB : now + 1;
        if (reading->doc_length || !blank(at, end)) {
            for (int32_t i = now > column ? now : column; i < next && reading->doc_letters < MAX_DOC; i++) {
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
    return reading->doc_length ? text_of(reading, reading->doc, reading->doc_length) : EMPTY_TEXT;
}

int literal_text(const Reading *reading, int32_t start, int32_t end, Piece *found) {
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

Piece literal_doc(Reading *reading, const Node *literal) {
    Piece text;
    if (!literal_text(reading, literal->start, literal->end, &text)) return EMPTY_TEXT;
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
    for (const uint8_t *at = start; reading->doc_letters < MAX_DOC;) {
        const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));
        add_doc_line(reading, at, line_end ? line_end : end, at == start ? 0 : cut, 1);
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

Piece comment_text(Reading *reading, int32_t start, int32_t behind) {
    const uint8_t *at = reading->tree->content + start, *end = at;
    const uint8_t *last = reading->tree->content + behind;
    for (int32_t letters = 0; end < last && letters < 2 * MAX_DOC; letters++) {
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
        if (!is_directive(at, bare_end)) add_doc_line(reading, at, bare_end, 0, 0);
        at = line_end + 1;
    }
    return said(reading);
}

int32_t take_above(Reading *reading, int32_t start, int32_t *comments_end) {
    const uint8_t *content = reading->tree->content;
    int32_t line = line_of_byte(reading, start), first = line_start(reading, line);
    *comments_end = 0;
    if (start == reading->taken || start - first > MAX_SIGNATURE) return start;
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

int is_public(const Reading *reading, int32_t name) {
    const Text *text = name_at(reading, name);
    const uint8_t *bytes = text->bytes;
    if (text->length < 1 || bytes[0] != '_') return 1;
    return text->length >= 2 && bytes[1] == '_' && ends_with(bytes, text->length, "__");
}
