/* A growing text buffer for JSON. */

#include "output.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *room_for(Output *output, int64_t length) {
    if (output->failed) return NULL;
    if (output->room - output->used < length) {
        int64_t room = output->room * 2 > output->used + length ? output->room * 2 : output->used + length + 1024;
        uint8_t *bytes = realloc(output->bytes, (size_t)room);
        if (!bytes) {
            output->failed = 1;
            return NULL;
        }
        output->bytes = bytes;
        output->room = room;
    }
    return output->bytes + output->used;
}

void put_bytes(Output *output, const void *bytes, int64_t length) {
    uint8_t *place = room_for(output, length);
    if (!place || !length) return;
    memcpy(place, bytes, (size_t)length);
    output->used += length;
}

void put_sign(Output *output, char sign) {
    uint8_t *place = room_for(output, 1);
    if (!place) return;
    *place = (uint8_t)sign;
    output->used++;
}

void put_number(Output *output, int64_t number) {
    char digits[24];
    size_t used = 0;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do digits[sizeof digits - 1 - used++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) digits[sizeof digits - 1 - used++] = '-';
    put_bytes(output, digits + sizeof digits - used, (int64_t)used);
}

void put_text(Output *output, const uint8_t *bytes, int64_t length) {
    static const char hex[] = "0123456789abcdef", shortened[] = "btn\0fr"; /* escapes of the characters from 8 on */
    put_sign(output, '"');
    int64_t plain = 0; /* start of the bytes not yet written, which need no escape */
    for (int64_t i = 0; i < length; i++) {
        uint8_t byte = bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        put_bytes(output, bytes + plain, i - plain);
        plain = i + 1;
        put_sign(output, '\\');
        if (byte >= 0x20) {
            put_sign(output, (char)byte);
        } else if (byte >= 8 && byte <= 13 && shortened[byte - 8]) {
            put_sign(output, shortened[byte - 8]);
        } else {
            put_bytes(output, "u00", 3);
            put_sign(output, hex[byte >> 4]);
            put_sign(output, hex[byte & 15]);
        }
    }
    put_bytes(output, bytes + plain, length - plain);
    put_sign(output, '"');
}

void end_output(Output *output) {
    free(output->bytes);
    *output = (Output){0};
}
