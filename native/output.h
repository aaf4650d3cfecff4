/* A text that grows while it is written: JSON, as pydantic's `to_json` writes it. */

#ifndef SCRUBJAY_OUTPUT_H
#define SCRUBJAY_OUTPUT_H

#include <stdint.h>

typedef struct {
    uint8_t *bytes;
    int64_t used, room;
    int failed; /* there was no memory: nothing more is written, and what is there is worth nothing */
} Output;

void put_bytes(Output *output, const void *bytes, int64_t length);
void put_sign(Output *output, char sign);
void put_number(Output *output, int64_t number);
void put_text(Output *output, const uint8_t *bytes, int64_t length); /* with quotes; must be UTF-8 */
void end_output(Output *output);

#endif
