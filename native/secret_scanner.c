/* Checks in one pass over a file whether it may contain a secret. Most files do not, and need no closer look.
   Only `scrubjay.core.secrets` defines secrets. This scanner looks for what every match of its rules must contain: it may report too
   much, but never
   too little, and reports whatever is not plain. */

#include "api.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 1024
#define MAX_BUCKETS 64
#define MIN_FORM_LENGTH 12     /* a form has at least this many characters after its start */
#define MIN_SHORT_LENGTH 6     /* or this many, one of them a digit */
#define MAX_SUFFIX 11   /* "_production" */
#define MAX_CLOSING 4      /* quotes and brackets after a name */
#define MAX_SPACE 8        /* before a separator; less after an option */
#define MAX_TYPE 50     /* between a name and the separator after its type, with the space around it */
#define MAX_OPTION 40   /* before the suffix of its name */
#define MAX_WORDS_BETWEEN 6
#define MAX_WORD_BETWEEN 40
#define MAX_WORDS_AFTER_VERB 3
#define MAX_BEFORE_FIELD 120 /* between a name and the field of its value */
#define MIN_PASSWORD 6
#define MAX_PASSWORD 200
#define MIN_RANDOM 10
#define MAX_RANDOM 4096
#define MIN_SENT 16
#define MAX_IN_ADDRESS 1024 /* 256 characters */
#define SENTRY_KEY 32
#define MAX_NOTE 164 /* 40 characters */
#define MAX_LOGIN 256 /* between the word and the colon, and around the user name */
#define MAX_NEXT 260 /* a password that follows its name without a sign */

/* What a word is searched for. The character before each word selects its kind, in this order. */
enum { WORD, ANYWHERE, PASSWORD, RANDOM, SENT, ADDRESS, ODD, PHRASE, LOGIN, SHORT };
static const char KINDS[] = "waprs/?nlk";

enum { MAY_HAVE_FORM = 1, MAY_HAVE_NAME = 2, MAY_HAVE_OTHER_FORM = 4, MAY_HAVE_ALL = 7 };

enum { LETTER = 1, NUMERAL = 2, WORDLY = 4, SPACE = 8, BODY = 16, BEFORE_VALUE = 32, SYMBOL = 64, CLOSING = 128 };

typedef struct {
    const uint8_t *bytes;
    int64_t length;
    int32_t next; /* next word in the same bucket, or -1 */
    int32_t kind;
} Word;

typedef struct {
    uint64_t first[256], second[256], third[256]; /* by byte: the buckets with a word that has the byte at this position */
    uint8_t classes[256];
    Word all[MAX_WORDS];
    int32_t buckets[MAX_BUCKETS];
    int32_t count;
} SecretScanner;

static inline uint8_t lower(uint8_t letter) { return letter >= 'A' && letter <= 'Z' ? (uint8_t)(letter + 32) : letter; }
static inline int is_folded(int32_t kind) { return kind == PASSWORD || kind == RANDOM || kind == SENT || kind == PHRASE || kind == LOGIN; }

static void classify(uint8_t *classes, const char *signs, uint8_t class) {
    for (; *signs; signs++) classes[(uint8_t)*signs] |= class;
}

/* Return whether a word stands at this position. */
static int stands(const Word *word, const uint8_t *text, int64_t length) {
    if (length < word->length) return 0;
    if (!is_folded(word->kind)) return !memcmp(text, word->bytes, (size_t)word->length);
    for (int64_t i = 0; i < word->length; i++)
        if (lower(text[i]) != word->bytes[i]) return 0;
    return 1;
}

typedef struct {
    const SecretScanner *own;
    const uint8_t *text;
    int64_t length;
} Text;

static inline int is(const Text *in, int64_t at, uint8_t class) { return at < in->length && in->own->classes[in->text[at]] & class; }
static inline int is_odd(const Text *in, int64_t at) { return at < in->length && in->text[at] >= 128; }
static inline int has(const Text *in, int64_t at, uint8_t sign) { return at < in->length && in->text[at] == sign; }

/* Return whether a secret value may start after a name and a separator: at the first character that is not a separator, space or quote.
   A value
   contains no space and ends with its line. */
static int may_be_value(const Text *in, int64_t at, int32_t kind) {
    int64_t size = 0, most = kind == PASSWORD ? MAX_PASSWORD : MAX_RANDOM, least = kind == PASSWORD ? MIN_PASSWORD : MIN_RANDOM;
    int is_telling = 0;
    for (; is(in, at, BEFORE_VALUE); at++) {
        if (in->text[at] != ' ' && in->text[at] != '\n') size++;
        if (kind == PASSWORD && is(in, at, SYMBOL)) is_telling = 1;
    }
    for (int64_t end = at + most; at < end && at < in->length && in->text[at] != ' ' && in->text[at] != '\n'; at++, size++) {
        if (is_odd(in, at)) return 1;
        if (is(in, at, NUMERAL) || (kind == PASSWORD && is(in, at, SYMBOL))) is_telling = 1;
        if (is_telling && size + 1 >= least) return 1;
    }
    return 0;
}

static int is_word(const Text *in, int64_t at, int64_t size, const char *words) {
    for (const char *word = words; *word; word += strlen(word) + 1) {
        int64_t i = 0;
        while (i < size && word[i] && lower(in->text[at + i]) == (uint8_t)word[i]) i++;
        if (i == size && !word[i]) return 1;
    }
    return 0;
}

/* Return whether a value may stand here, after "is", "is now" or "was changed to". */
static int may_follow_verb(const Text *in, int64_t at, int32_t kind) {
    for (int32_t count = 0; count <= MAX_WORDS_AFTER_VERB; count++) {
        if (may_be_value(in, at, kind)) return 1;
        int64_t start = at;
        while (at - start < MAX_SPACE && is(in, at, SPACE)) at++;
        if (is_odd(in, at)) return 1;
        int64_t end = at;
        while (end - at <= MAX_WORD_BETWEEN && is(in, end, WORDLY)) end++;
        if (!is_word(in, at, end - at, "now\0set\0reset\0changed\0updated\0to\0")) return 0;
        at = end;
    }
    return 0;
}

/* Like `may_be_value`, where a sentence continues after a name: "is X", "of the server was: X". */
static int may_be_in_sentence(const Text *in, int64_t at, int32_t kind) {
    for (int32_t count = 0; count <= MAX_WORDS_BETWEEN; count++) {
        int64_t end = at;
        while (end - at <= MAX_WORD_BETWEEN && (is(in, end, WORDLY) || has(in, end, '.') || has(in, end, '\'') || has(in, end, '@'))) end++;
        if (is_odd(in, end)) return 1;
        if (is_word(in, at, end - at, "is\0was\0to\0ist\0lautet\0est\0es\0") && (has(in, end, ':') || is(in, end, SPACE)) && may_follow_verb(in, end, kind)) return 1;
        int64_t colon = end;
        while (count && colon - end < 3 && (has(in, colon, ' ') || has(in, colon, '\t'))) colon++;
        if (count && has(in, colon, ':') && may_be_value(in, colon + 1, kind)) return 1;
        if (!count && !is_word(in, at, end - at, "for\0of\0on\0in\0to\0at\0")) return 0;
        if (end == at || !is(in, end, SPACE)) return 0;
        for (at = end; at - end < MAX_SPACE && is(in, at, SPACE);) at++;
        if (is_odd(in, at)) return 1;
    }
    return 0;
}

/* Return whether this is the call of a function that sets the value: "setPassword(". */
static int may_be_setter(const Text *in, int64_t place, int64_t end, int32_t kind) {
    int64_t before = place > 0 && in->text[place - 1] == '_' ? place - 1 : place;
    int is_setter = (place > 0 && in->text[place - 1] == '.') || (before >= 3 && is_word(in, before - 3, 3, "set\0")) || (before >= 4 && is_word(in, before - 4, 4, "with\0"));
    return is_setter && may_be_value(in, end + 1, kind);
}

/* Return whether a value may stand on a line of its own, after "password: |" of YAML. */
static int may_be_block(const Text *in, int64_t at, int32_t kind) {
    while (has(in, at, ' ') || has(in, at, '\t')) at++;
    if (!has(in, at, '|') && !has(in, at, '>')) return 0;
    for (at++; has(in, at, '-') || has(in, at, '+') || is(in, at, NUMERAL);) at++;
    while (has(in, at, ' ') || has(in, at, '\t') || has(in, at, '\r')) at++;
    if (!has(in, at, '\n')) return 0;
    at++;
    if (has(in, at, '-') || has(in, at, '+')) at++;
    return may_be_value(in, at, kind);
}

/* Return whether a password may follow its name without a sign: "with password X", "the password from X to Y". */
static int may_be_next(const Text *in, int64_t at) {
    while (has(in, at, ' ') || has(in, at, '\t')) at++;
    if (is_odd(in, at)) return 1;
    if (at + 4 < in->length && is_word(in, at, 4, "from\0")) return 1;
    int lowers = 0, capitals = 0, numerals = 0, others = 0;
    for (int64_t end = at + MAX_NEXT; at < end && at < in->length && !is(in, at, SPACE); at++) {
        uint8_t sign = in->text[at];
        if (sign >= 'a' && sign <= 'z') lowers = 1;
        else if (sign >= 'A' && sign <= 'Z') capitals = 1;
        else if (sign >= '0' && sign <= '9') numerals = 1;
        else others = 1;
        if (sign >= 128 || (lowers && capitals && numerals && others)) return 1;
    }
    return 0;
}

/* Matches "login: X / Y", after the first word. */
static int may_be_login(const Text *in, int64_t at) {
    int64_t end = at + MAX_LOGIN;
    while (at < end && at < in->length && !strchr("\n/:", in->text[at] ? in->text[at] : 1)) at++;
    if (!has(in, at, ':')) return 0;
    for (end = at + MAX_LOGIN; at < end && at < in->length && in->text[at] != '\n'; at++)
        if (in->text[at] == '/' && in->text[at - 1] == ' ' && has(in, at + 1, ' ')) return 1;
    return 0;
}

/* Matches "name: PASSWORD", then "value: X", after the name. */
static int may_be_field(const Text *in, int64_t at, int32_t kind) {
    for (int64_t end = at + MAX_BEFORE_FIELD; at < end && at < in->length; at++) {
        if (is_odd(in, at)) return 1;
        if (at + 5 < in->length && !memcmp(in->text + at, "value", 5)) return may_be_value(in, at + 5, kind);
        if (!is(in, at, SPACE | CLOSING) && !strchr(",-+", in->text[at] ? in->text[at] : 1)) return 0;
    }
    return 0;
}

/* Return the end of a note in parentheses that may follow a name, or the same position. */
static int64_t after_note(const Text *in, int64_t at) {
    int64_t open = at;
    while (open - at < 3 && (has(in, open, ' ') || has(in, open, '\t'))) open++;
    if (!has(in, open, '(')) return at;
    for (int64_t end = open + 1; end - open < MAX_NOTE && end < in->length && in->text[end] != '\n'; end++)
        if (in->text[end] == ')') return end + 1;
    return at;
}

/* Return whether a secret may follow the name that ends here. */
static int may_be_named(const Text *in, int64_t place, int64_t end, int32_t kind) {
    int64_t at = end;
    if (has(in, at, '(')) return may_be_setter(in, place, end, kind);
    while (at - end <= MAX_SUFFIX && is(in, at, WORDLY)) at++;
    if (is_odd(in, at)) return 1;
    if (kind == PASSWORD && at == end && (has(in, at, ' ') || has(in, at, '\t')) && may_be_next(in, at)) return 1;
    if (at > end && (at - end > MAX_SUFFIX || !strchr("sS_-0123456789", in->text[end]))) return 0;
    int64_t start = place;
    while (start > 0 && place - start < MAX_OPTION && is(in, start - 1, WORDLY)) start--;
    int may_be_option = (start < place && in->text[start] == '-') || (start > 0 && is_odd(in, start - 1));
    if (may_be_option && (has(in, at, ' ') || has(in, at, '\t')) && may_be_value(in, at, kind)) return 1;
    if (!has(in, at, ' ') && may_be_field(in, at, kind)) return 1;
    for (int32_t count = 0; count < MAX_CLOSING && is(in, at, CLOSING); count++) at++;
    if (has(in, at, ' ') || has(in, at, '\t')) at = after_note(in, at);
    int64_t sign = at;
    while (sign - at < MAX_SPACE && is(in, sign, SPACE)) sign++;
    if (is_odd(in, sign)) return 1;
    if (has(in, sign, '=')) return may_be_value(in, sign + 1, kind);
    if (!has(in, sign, ':')) return sign > at && is(in, sign, LETTER) && may_be_in_sentence(in, sign, kind);
    if (may_be_value(in, sign + 1, kind) || may_be_block(in, sign + 1, kind)) return 1;
    int64_t type = sign + 1;
    while (type - sign <= MAX_TYPE && type < in->length && (is(in, type, LETTER | NUMERAL | SPACE) || strchr("_.[],|", in->text[type]))) type++;
    return is_odd(in, type) || (has(in, type, '=') && may_be_value(in, type + 1, kind));
}

/* Matches "Bearer X". */
static int may_be_sent(const Text *in, int64_t place, int64_t end) {
    if (place > 0 && (is(in, place - 1, LETTER | NUMERAL) || in->text[place - 1] == '_')) return 0;
    int64_t at = end;
    while (at - end < MAX_SPACE && is(in, at, SPACE)) at++;
    if (is_odd(in, at)) return 1;
    int has_numeral = 0;
    for (int64_t start = at; at > end && at - start < MAX_RANDOM && (is(in, at, BODY) || has(in, at, '~')); at++) {
        if (is(in, at, NUMERAL)) has_numeral = 1;
        if (has_numeral && at - start + 1 >= MIN_SENT) return 1;
    }
    return 0;
}

/* Matches "://user:X@host", after the slashes. */
static int may_be_in_address(const Text *in, int64_t at) {
    int64_t start = at, end = at + MAX_IN_ADDRESS;
    while (at < end && at < in->length && !is(in, at, SPACE) && !strchr("/@:\"'<>", in->text[at] ? in->text[at] : 1)) at++;
    if (has(in, at, '@') && at - start == SENTRY_KEY) return 1;
    if (!has(in, at, ':')) return 0;
    for (end = at + MAX_IN_ADDRESS; at < end && at < in->length && !is(in, at, SPACE) && !strchr("/\"'<>", in->text[at] ? in->text[at] : 1); at++)
        if (in->text[at] == '@') return 1;
    return 0;
}

/* Return whether a secret that is recognized by its form may start here. */
static int may_have_form(const Text *in, int64_t place, int64_t end, int is_short) {
    if (place > 0 && (is(in, place - 1, LETTER | NUMERAL) || in->text[place - 1] == '_')) return 0;
    int64_t at = end;
    int has_numeral = 0;
    for (; at < end + MIN_FORM_LENGTH && is(in, at, BODY); at++)
        if (is(in, at, NUMERAL)) has_numeral = 1;
    return at - end == MIN_FORM_LENGTH || (is_short && has_numeral && at - end >= MIN_SHORT_LENGTH);
}

/* Return the flags of what the word at this position may indicate. */
static int32_t check_word(const Text *in, int64_t place, const Word *word) {
    int64_t end = place + word->length;
    switch (word->kind) {
    case WORD:
    case SHORT: return may_have_form(in, place, end, word->kind == SHORT) ? MAY_HAVE_FORM : 0;
    case ANYWHERE: return MAY_HAVE_OTHER_FORM;
    case PASSWORD:
    case RANDOM: return may_be_named(in, place, end, word->kind) ? MAY_HAVE_NAME : 0;
    case SENT: return may_be_sent(in, place, end) ? MAY_HAVE_NAME : 0;
    case LOGIN: return may_be_login(in, end) ? MAY_HAVE_NAME : 0;
    case ADDRESS: return may_be_in_address(in, end) ? MAY_HAVE_NAME : 0;
    default: return MAY_HAVE_NAME;
    }
}

/* Make a scanner for words of at least three bytes, each preceded by the character of its kind and followed by a line end. They must
   outlive the
   scanner. Return NULL when out of memory, or for words that it cannot search for. */
SCRUBJAY_API SecretScanner *scrubjay_secret_scanner_new(const uint8_t *words, int64_t length) {
    SecretScanner *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    memset(own->buckets, -1, sizeof own->buckets);
    for (int sign = 0; sign < 128; sign++) {
        int is_letter = (sign >= 'A' && sign <= 'Z') || (sign >= 'a' && sign <= 'z'), is_numeral = sign >= '0' && sign <= '9';
        own->classes[sign] = (uint8_t)(is_letter * (LETTER | WORDLY | BODY) | is_numeral * (NUMERAL | WORDLY | BODY));
    }
    classify(own->classes, "_-", WORDLY);
    classify(own->classes, "_-+/=.", BODY);
    classify(own->classes, " \t\n\r\f\v\x1c\x1d\x1e\x1f", SPACE);
    classify(own->classes, " \t\n\r\f\v\x1c\x1d\x1e\x1f:=>*(\\\"'`", BEFORE_VALUE);
    classify(own->classes, "!#$%^&*+=?~@|", SYMBOL);
    classify(own->classes, "\\\"'`])*", CLOSING);
    int64_t total = 0;
    for (int64_t i = 0; i < length; i++) total += words[i] == '\n';
    for (int64_t start = 0; start < length;) {
        const uint8_t *line = words + start, *end = memchr(line, '\n', (size_t)(length - start));
        int64_t size = (end ? end - line : length - start) - 1;
        const char *kind = strchr(KINDS, *line);
        if (own->count == MAX_WORDS || size < 3 || !kind || !*kind) {
            free(own);
            return NULL;
        }
        int64_t which = own->count < total ? own->count * MAX_BUCKETS / total : MAX_BUCKETS - 1;
        Word word = {line + 1, size, own->buckets[which], (int32_t)(kind - KINDS)};
        uint64_t bucket = 1ull << which;
        for (int byte = 0; byte < 256; byte++) {
            uint8_t letter = is_folded(word.kind) ? lower((uint8_t)byte) : (uint8_t)byte;
            if (letter == line[1]) own->first[byte] |= bucket;
            if (letter == line[2]) own->second[byte] |= bucket;
            if (letter == line[3]) own->third[byte] |= bucket;
        }
        own->buckets[which] = own->count;
        own->all[own->count++] = word;
        start += size + 2;
    }
    return own;
}

/* Return the flags of what a text may contain: secrets recognized by form, and those recognized by the name next to them. */
SCRUBJAY_API int32_t scrubjay_secret_scanner_scan(const SecretScanner *own, const uint8_t *text, int64_t length) {
    Text in = {own, text, length};
    int32_t found = 0;
    for (int64_t i = 0; i + 2 < length && found != MAY_HAVE_ALL; i++) {
        uint64_t buckets = own->first[text[i]] & own->second[text[i + 1]] & own->third[text[i + 2]];
        for (; buckets; buckets &= buckets - 1)
            for (int32_t which = own->buckets[__builtin_ctzll(buckets)]; which >= 0; which = own->all[which].next)
                if (stands(own->all + which, text + i, length - i)) found |= check_word(&in, i, own->all + which);
    }
    return found;
}
