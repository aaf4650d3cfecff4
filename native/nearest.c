/* Finds the nearest vectors to a query vector, given their products with it.
   Equivalent to `scrubjay.search_index.vector_codes.encode` for one vector and to `VectorSegments.nearest` for all rows, which use
   numpy. Unusual
   input is declined and handled by numpy. Uses no Python API and keeps no state. */

#include "top_k.h"
#include "api.h"
#include "cpu_dispatch.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define BY_32
#endif

#define DECLINED (-1)
#define LENGTH 65536.0 /* length of the rotated vectors */
#define MAX_DIMENSIONS 1024
#define LANES 8 /* independent sums, which one SIMD instruction adds */
#define MAX_CODE 127.0f
/* Squares of vectors up to this length are summed exactly, so the order does not matter. */
#define MAX_EXACT_LENGTH 16.0

static double of_half(uint16_t half) {
    int sign = half >> 15, exponent = half >> 10 & 31, fraction = half & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent)
        value = ldexp(1024 + fraction, exponent - 25);
    else
        value = ldexp(fraction, -24);
    return sign ? -value : value;
}

/* Multiply by a Hadamard matrix. Sums of integers this small are exact. */
static void hadamard(float *values, int32_t size) {
    for (int32_t half = 1; half < size; half *= 2)
        for (int32_t start = 0; start < size; start += 2 * half)
            for (int32_t i = start; i < start + half; i++) {
                float one = values[i], other = values[i + half];
                values[i] = one + other;
                values[i + half] = one - other;
            }
}

/* Encode one vector, given as float16. `starts` are the first dimensions of each rotation step, `signs` what each step flips first.
   Return 1, or
   DECLINED. */
SCRUBJAY_API int32_t scrubjay_encode_vector(const uint16_t *vector, int32_t dimensions, const int64_t *starts, int32_t steps, const float *signs, int32_t size,
                              float shrink, int8_t *directions, float *scale) {
    if (dimensions > MAX_DIMENSIONS) return DECLINED;
    double exact[MAX_DIMENSIONS], squared = 0;
    float values[MAX_DIMENSIONS], part[MAX_DIMENSIONS];
    for (int32_t i = 0; i < dimensions; i++) {
        exact[i] = of_half(vector[i]);
        squared += exact[i] * exact[i];
    }
    if (!(squared > 0 && squared < MAX_EXACT_LENGTH)) return DECLINED;
    double factor = LENGTH / sqrt(squared);
    for (int32_t i = 0; i < dimensions; i++) values[i] = (float)rint(exact[i] * factor);
    for (int32_t step = 0; step < steps; step++) {
        float *here = values + starts[step];
        for (int32_t i = 0; i < size; i++) part[i] = here[i] * signs[step * size + i];
        hadamard(part, size);
        for (int32_t i = 0; i < size; i++) here[i] = rintf(part[i] * shrink);
    }
    float strongest = 0;
    for (int32_t i = 0; i < dimensions; i++) strongest = fmaxf(strongest, fabsf(values[i]));
    float stretch = MAX_CODE / strongest;
    int32_t sum = 0;
    for (int32_t i = 0; i < dimensions; i++) {
        directions[i] = (int8_t)rintf(values[i] * stretch);
        sum += directions[i] * directions[i];
    }
    *scale = 1 / sqrtf((float)sum);
    return 1;
}

/* -- all rows ------------------------------------------------------------------------------------ */

static int32_t product(const int8_t *one, const int8_t *other, int64_t dimensions) {
    int32_t sum = 0;
    for (int64_t i = 0; i < dimensions; i++) sum += one[i] * other[i];
    return sum;
}

#ifdef BY_32
/* Like `product`, 32 bytes at a time. No code is -128, so the sum of two products fits into 16 bits. */
__attribute__((target("avx2"))) static int32_t product_by_32(const int8_t *one, const int8_t *other, int64_t dimensions) {
    __m256i sums = _mm256_setzero_si256(), ones = _mm256_set1_epi16(1);
    int64_t i = 0;
    for (; i + 32 <= dimensions; i += 32) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(one + i)), b = _mm256_loadu_si256((const __m256i *)(const void *)(other + i));
        __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, ones));
    }
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return _mm_cvtsi128_si32(half) + product(one + i, other + i, dimensions - i);
}
#endif

/* Compute the cosines of all rows with a query; NaN where the scale is NaN. */
SCRUBJAY_API void scrubjay_cosines(const int8_t *directions, const float *scales, int64_t rows, int64_t dimensions, const int8_t *question, double scale,
                            double *cosines) {
    int32_t (*by)(const int8_t *, const int8_t *, int64_t) = product;
#ifdef BY_32
    if (__builtin_cpu_supports("avx2")) by = product_by_32;
#endif
    for (int64_t row = 0; row < rows; row++) cosines[row] = by(question, directions + row * dimensions, dimensions) * (double)scales[row] * scale;
}

/* -- the nearest --------------------------------------------------------------------------------- */

typedef struct {
    const float *values; /* the known vectors, row by row */
    const uint8_t *is_known;
    const double *asked;
    int64_t dimensions, rows;
} Exact;

FOR_EACH_PROCESSOR static double cosine(const Exact *exact, int64_t row, double asked_length) {
    const float *values = exact->values + row * exact->dimensions;
    double products[LANES] = {0}, squares[LANES] = {0}, product = 0, squared = 0;
    int64_t i = 0;
    for (; i + LANES <= exact->dimensions; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            double value = values[i + lane];
            products[lane] += value * exact->asked[i + lane];
            squares[lane] += value * value;
        }
    for (; i < exact->dimensions; i++) {
        product += values[i] * exact->asked[i];
        squared += (double)values[i] * values[i];
    }
    for (int lane = 0; lane < LANES; lane++) {
        product += products[lane];
        squared += squares[lane];
    }
    return squared > 0 && squared < INFINITY ? product / (sqrt(squared) * asked_length) : (double)NAN;
}

static int by_row(const void *one, const void *other) {
    int64_t a = ((const Best *)one)->row, b = ((const Best *)other)->row;
    return (a > b) - (a < b);
}

/* Remove rows that are among the first `limit` only due to rounding. Return how many are left, or DECLINED if a vector is unknown. */
static int64_t drop_rounding_ties(Best *near, int64_t count, int64_t limit, double surely, const Exact *exact) {
    double asked_squared = 0;
    for (int64_t i = 0; i < exact->dimensions; i++) asked_squared += exact->asked[i] * exact->asked[i];
    if (!(asked_squared > 0 && asked_squared < INFINITY)) return DECLINED;
    double asked_length = sqrt(asked_squared);
    int64_t sure = 0;
    for (int64_t i = 0; i < count; i++)
        if (near[i].value > surely) {
            Best moved = near[i];
            near[i] = near[sure];
            near[sure++] = moved;
        }
    for (int64_t i = sure; i < count; i++) {
        if (near[i].row >= exact->rows || !exact->is_known[near[i].row]) return DECLINED;
        near[i].value = cosine(exact, near[i].row, asked_length);
        if (isnan(near[i].value)) return DECLINED;
    }
    qsort(near + sure, (size_t)(count - sure), sizeof *near, best_first);
    return limit;
}

/* Select the rows with the greatest cosines, best first. Return their number, or DECLINED.
   `allowed` may be NULL. With `slack`, rows whose cosine is within it of the last one are compared by their exact vectors, if these are
   at most
   `most_unsure` more; `asked` must then not be NULL. The results have room for `limit` rows and cosines. */
SCRUBJAY_API int64_t scrubjay_nearest(const double *cosines, int64_t rows, const uint8_t *allowed, int64_t limit, double slack, int64_t most_unsure,
                               const double *asked, const float *values, const uint8_t *is_known, int64_t known_rows, int64_t dimensions,
                               int64_t *found_rows, double *found_cosines) {
    if (limit < 1) return DECLINED;
    Best *heap = malloc((size_t)(2 * limit + most_unsure) * sizeof *heap);
    if (!heap) return DECLINED;
    int64_t filled = 0;
    for (int64_t row = 0; row < rows; row++) {
        if (filled == limit && !(cosines[row] > heap[0].value)) continue; /* true for most rows, and for NaN */
        if ((!allowed || allowed[row]) && !isnan(cosines[row])) keep_best(heap, &filled, limit, cosines[row], row);
    }
    int64_t count = filled;
    if (asked && filled == limit) {
        double last = heap[0].value, enough = last - slack;
        Best *near = heap;
        count = 0;
        for (int64_t row = 0; row < rows && count <= limit + most_unsure; row++)
            if (cosines[row] >= enough && (!allowed || allowed[row])) {
                if (count < limit + most_unsure) near[count] = (Best){cosines[row], row};
                count++;
            }
        if (count > limit + most_unsure) {
            free(heap);
            return DECLINED;
        }
        if (count > limit) {
            Exact exact = {values, is_known, asked, dimensions, known_rows};
            count = drop_rounding_ties(near, count, limit, last + slack, &exact);
            if (count < 0) {
                free(heap);
                return DECLINED;
            }
            qsort(near, (size_t)count, sizeof *near, by_row);
        }
    }
    qsort(heap, (size_t)count, sizeof *heap, best_first);
    for (int64_t i = 0; i < count; i++) {
        found_rows[i] = heap[i].row;
        found_cosines[i] = heap[i].value < 1 ? heap[i].value : 1;
    }
    free(heap);
    return count;
}
