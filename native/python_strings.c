/* Reads Python string literals: their escapes, and the expressions in f-strings. */

#include "python_reader.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BRACKETS 100

/* An unfinished string literal: its bytes are those of the reader from `mark` on. */
typedef struct {
    int32_t mark, start, end; /* positions of its first and last part */
} Part;

static uint8_t *room_for_bytes(Reader *own, int32_t length) {
    if (own->bytes_room - own->bytes_used < length) {
        int32_t room = own->bytes_room * 2 > own->bytes_used + length ? own->bytes_room * 2 : own->bytes_used + length + 256;
        uint8_t *bytes = realloc(own->bytes, (size_t)room);
        if (!bytes) decline_file(own);
        own->bytes = bytes;
        own->bytes_room = room;
    }
    return own->bytes + own->bytes_used;
}

static void add_bytes(Reader *own, const uint8_t *bytes, int32_t length) {
    if (!length) return;
    memcpy(room_for_bytes(own, length), bytes, (size_t)length);
    own->bytes_used += length;
}

static void add_letter(Reader *own, uint32_t letter) {
    uint8_t *to = room_for_bytes(own, 4);
    if (letter < 0x80) {
        to[0] = (uint8_t)letter;
        own->bytes_used += 1;
    } else if (letter < 0x800) {
        to[0] = (uint8_t)(0xC0 | letter >> 6);
        to[1] = (uint8_t)(0x80 | (letter & 63));
        own->bytes_used += 2;
    } else if (letter < 0x10000) {
        to[0] = (uint8_t)(0xE0 | letter >> 12);
        to[1] = (uint8_t)(0x80 | (letter >> 6 & 63));
        to[2] = (uint8_t)(0x80 | (letter & 63));
        own->bytes_used += 3;
    } else {
        to[0] = (uint8_t)(0xF0 | letter >> 18);
        to[1] = (uint8_t)(0x80 | (letter >> 12 & 63));
        to[2] = (uint8_t)(0x80 | (letter >> 6 & 63));
        to[3] = (uint8_t)(0x80 | (letter & 63));
        own->bytes_used += 4;
    }
}

/* -- escapes ------------------------------------------------------------------------------------- */

static int hex_digit(uint8_t byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte |= 32;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static uint32_t read_hex(Reader *own, const uint8_t *content, int32_t at, int32_t end, int32_t count) {
    uint32_t value = 0;
    if (end - at < count) reject_file(own);
    for (int32_t i = 0; i < count; i++) {
        int digit = hex_digit(content[at + i]);
        if (digit < 0) reject_file(own);
        value = value << 4 | (uint32_t)digit;
    }
    return value;
}

/* Add the value of an escape sequence, and return the position after it. */
static int32_t read_escape(Reader *own, const uint8_t *content, int32_t at, int32_t end, int is_bytes) {
    static const char simple[] = "\\'\"abfnrtv", meaning[] = "\\'\"\a\b\f\n\r\t\v";
    if (at >= end) decline_file(own);
    uint8_t byte = content[at++];
    if (byte == '\n') return at;
    const char *known = byte ? strchr(simple, byte) : NULL;
    if (known) {
        add_letter(own, (uint8_t)meaning[known - simple]);
    } else if (byte >= '0' && byte <= '7') {
        uint32_t value = byte - '0';
        for (int i = 0; i < 2 && at < end && content[at] >= '0' && content[at] <= '7'; i++) value = value << 3 | (uint32_t)(content[at++] - '0');
        if (value > 255) decline_file(own);
        add_letter(own, value);
    } else if (byte == 'x') {
        add_letter(own, read_hex(own, content, at, end, 2));
        at += 2;
    } else if (!is_bytes && (byte == 'u' || byte == 'U')) {
        int32_t count = byte == 'u' ? 4 : 8;
        uint32_t letter = read_hex(own, content, at, end, count);
        if (letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000)) decline_file(own);
        add_letter(own, letter);
        at += count;
    } else if (!is_bytes && byte == 'N') {
        decline_file(own);
    } else {
        add_letter(own, '\\');
        add_bytes(own, &byte, 1);
    }
    return at;
}

/* Add the text between two positions of the content. */
static void add_literal(Reader *own, int32_t at, int32_t end, uint8_t form) {
    const uint8_t *content = own->tree->content;
    if (form & BYTES_STRING)
        for (int32_t i = at; i < end; i++)
            if (content[i] >= 0x80) reject_file(own);
    if (form & RAW_STRING || !(form & ESCAPED_STRING)) {
        add_bytes(own, content + at, end - at);
        return;
    }
    while (at < end) {
        const uint8_t *escape = memchr(content + at, '\\', (size_t)(end - at));
        int32_t to = escape ? (int32_t)(escape - content) : end;
        add_bytes(own, content + at, to - at);
        at = escape ? read_escape(own, content, to + 1, end, form & BYTES_STRING) : end;
    }
}

/* -- places -------------------------------------------------------------------------------------- */

static int32_t line_at(const Reader *own, int32_t place) {
    const int32_t *starts = own->tree->line_starts;
    int32_t low = 1, high = own->tree->line_count - 1;
    while (low < high) {
        int32_t middle = low + (high - low + 1) / 2;
        if (starts[middle] <= place) low = middle;
        else high = middle - 1;
    }
    return low;
}

static Ref placed(Reader *own, Ref ref, int32_t start, int32_t end) {
    Node *node = node_at(own, ref);
    node->start = start;
    node->end = end;
    node->line = line_at(own, start);
    node->end_line = line_at(own, end);
    return ref;
}

/* -- what is formatted --------------------------------------------------------------------------- */

static void extend_part(Reader *own, Part *part, int32_t start, int32_t end, uint8_t form) {
    if (own->bytes_used == part->mark) part->start = start;
    part->end = end;
    add_literal(own, start, end, form);
}

/* Push the collected text, unless it is empty. */
static void end_part(Reader *own, Part *part) {
    int32_t length = own->bytes_used - part->mark;
    if (!length) return;
    uint8_t *bytes = arena_bytes(own->arena, length);
    if (!bytes) decline_file(own);
    memcpy(bytes, own->bytes + part->mark, (size_t)length);
    own->bytes_used = part->mark;
    Ref ref = make_node(own, TEXT, own->at - 1, 0, 0, 0);
    int32_t text = make_text(own, bytes, length);
    node_at(own, ref)->text = text;
    push_item(own, placed(own, ref, part->start, part->end));
}

/* Return the end of the expression that starts in braces. What CPython 3.11 rejects in it is rejected. */
static int32_t expression_end(Reader *own, int32_t at, int32_t end) {
    const uint8_t *content = own->tree->content;
    int32_t depth = 0;
    uint8_t quote = 0;
    int is_triple = 0;
    for (; at < end; at++) {
        uint8_t byte = content[at], next = end - at > 1 ? content[at + 1] : 0;
        int is_thrice = end - at > 2 && next == byte && content[at + 2] == byte;
        if (byte == '\\') decline_file(own);
        if (quote) {
            if (byte != quote || (is_triple && !is_thrice)) continue;
            if (is_triple) at += 2;
            quote = 0;
        } else if (byte == '\'' || byte == '"') {
            quote = byte;
            is_triple = is_thrice;
            if (is_triple) at += 2;
        } else if (byte == '#') {
            decline_file(own);
        } else if (byte == '[' || byte == '{' || byte == '(') {
            depth++;
        } else if (!depth && strchr("!=<>", byte) && byte && next == '=') {
            at++;
        } else if (!depth && (byte == '!' || byte == ':' || byte == '}' || byte == '=')) {
            return at;
        } else if (byte == ']' || byte == '}' || byte == ')') {
            if (!depth--) reject_file(own);
        }
    }
    decline_file(own);
}

/* Read the expression between two positions of an f-string as if it were in brackets. */
static Ref read_inside(Reader *own, int32_t start, int32_t end) {
    int32_t before = own->at, used = own->tokens.used;
    add_tokens(own, start, end, line_at(own, start), 1);
    own->at = used;
    if (this_type(own) == END_TOKEN) reject_file(own);
    Ref ref = read_values(own);
    if (this_type(own) != END_TOKEN || node_at(own, ref)->kind == STARRED) decline_file(own);
    own->tokens.used = used;
    own->at = before;
    return ref;
}

static int is_space(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

static int32_t read_formatted(Reader *own, Part *part, int32_t at, int32_t end, uint8_t form, int level);

static Ref read_format(Reader *own, int32_t *at, int32_t end, uint8_t form, int level) {
    int32_t start = *at;
    int64_t mark = own->stack.used;
    Part part = {own->bytes_used, start, start};
    *at = read_formatted(own, &part, start, end, form, level + 1);
    end_part(own, &part);
    Run pieces = taken_items(own, mark);
    return placed(own, make_listing(own, JOINED, own->at - 1, 0, 0, pieces, NO_RUN), start - 1, *at); /* including its colon */
}

/* Read a replacement field and push it; return the position after it. */
static int32_t read_braced(Reader *own, Part *part, int32_t brace, int32_t end, uint8_t form, int level) {
    const uint8_t *content = own->tree->content;
    if (level > 1) reject_file(own);
    int32_t start = brace + 1, at = expression_end(own, start, end), stop = at;
    if (content[at] == '=') {
        for (at++; at < end && is_space(content[at]);) at++;
        extend_part(own, part, start, at, RAW_STRING);
    }
    end_part(own, part);
    Ref value = read_inside(own, start, stop), format = 0;
    if (at < end && content[at] == '!') {
        if (end - at < 2 || !content[at + 1] || !strchr("sra", content[at + 1])) reject_file(own);
        at += 2;
    }
    if (at < end && content[at] == ':') {
        at++;
        format = read_format(own, &at, end, form, level);
    }
    if (at >= end || content[at] != '}') reject_file(own);
    push_item(own, placed(own, make_node(own, FORMATTED, own->at - 1, value, format, 0), brace, at + 1));
    return at + 1;
}

/* Read an f-string to its end, or a format specification to its closing brace. */
static int32_t read_formatted(Reader *own, Part *part, int32_t at, int32_t end, uint8_t form, int level) {
    const uint8_t *content = own->tree->content;
    int32_t start = at;
    while (at < end) {
        uint8_t byte = content[at];
        if (byte == '\\' && !(form & RAW_STRING)) {
            if (end - at < 2 || content[at + 1] == '{' || content[at + 1] == '}' || content[at + 1] == 'N') decline_file(own);
            at += 2;
        } else if (byte == '{' || byte == '}') {
            int is_doubled = !level && end - at > 1 && content[at + 1] == byte;
            extend_part(own, part, start, is_doubled ? at + 1 : at, form);
            if (is_doubled) {
                start = at += 2;
                continue;
            }
            if (byte == '}') {
                if (!level) reject_file(own);
                return at;
            }
            start = at = read_braced(own, part, at, end, form, level);
        } else {
            at++;
        }
    }
    extend_part(own, part, start, end, form);
    return at;
}

/* -- literals ------------------------------------------------------------------------------------ */

static int32_t quote_length(uint8_t form) { return form & TRIPLE_STRING ? 3 : 1; }

static Ref read_joined_strings(Reader *own, int32_t first, int32_t count) {
    int64_t mark = own->stack.used;
    Part part = {own->bytes_used, 0, 0};
    for (int32_t i = first; i < first + count; i++) {
        Token token = own->tokens.items[i];
        int32_t start = token.start + token.extra + quote_length(token.form), end = token.end - quote_length(token.form);
        if (token.form & FORMATTED_STRING) read_formatted(own, &part, start, end, token.form, 0);
        else extend_part(own, &part, start, end, token.form);
    }
    end_part(own, &part);
    Run pieces = taken_items(own, mark);
    return make_listing(own, JOINED, first, 0, 0, pieces, NO_RUN);
}

static Ref read_plain_strings(Reader *own, int32_t first, int32_t count, int is_bytes) {
    int32_t mark = own->bytes_used, length = 0;
    const uint8_t *bytes = NULL;
    Token token = own->tokens.items[first];
    int32_t start = token.start + token.extra + quote_length(token.form), end = token.end - quote_length(token.form);
    if (count == 1 && !is_bytes && (token.form & RAW_STRING || !(token.form & ESCAPED_STRING))) {
        bytes = own->tree->content + start;
        length = end - start;
    } else {
        for (int32_t i = first; i < first + count; i++) {
            token = own->tokens.items[i];
            add_literal(own, token.start + token.extra + quote_length(token.form), token.end - quote_length(token.form), token.form);
        }
        length = own->bytes_used - mark;
        own->bytes_used = mark;
    }
    Ref ref = make_node(own, is_bytes ? BYTES : TEXT, first, 0, 0, 0);
    if (is_bytes) return ref;
    if (!bytes) {
        uint8_t *copy = arena_bytes(own->arena, length);
        if (!copy) decline_file(own);
        if (length) memcpy(copy, own->bytes + mark, (size_t)length);
        bytes = copy;
    }
    int32_t text = make_text(own, bytes, length);
    node_at(own, ref)->text = text;
    return ref;
}

Ref read_strings(Reader *own) {
    int32_t first = own->at;
    int bytes = 0, formatted = 0;
    for (; this_type(own) == STRING_TOKEN; own->at++) {
        bytes += (this_token(own)->form & BYTES_STRING) != 0;
        formatted |= this_token(own)->form & FORMATTED_STRING;
    }
    int32_t count = own->at - first;
    if (bytes && bytes != count) reject_file(own);
    return formatted ? read_joined_strings(own, first, count) : read_plain_strings(own, first, count, bytes > 0);
}
