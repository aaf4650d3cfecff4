/* A growing text buffer for JSON, formatted like pydantic's `to_json`. */

#ifndef SCRUBJAY_OUTPUT_H
#define SCRUBJAY_OUTPUT_H

#include <stdint.h>

typedef struct {
    uint8_t *bytes;
    int64_t used, room;
    int failed; /* out of memory: nothing more is written, and the content is unusable */
} Output;

void put_bytes(Output *output, const void *bytes, int64_t length);
void put_sign(Output *output, char sign);
void put_number(Output *output, int64_t number);
void put_text(Output *output, const uint8_t *bytes, int64_t length); /* in quotes; must be UTF-8 */
void end_output(Output *output);

#endif
