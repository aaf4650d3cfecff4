/* Loops over numbers, compiled once more for processors that do eight of them at once. */

#ifndef SCRUBJAY_CPU_DISPATCH_H
#define SCRUBJAY_CPU_DISPATCH_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

#endif
