/* An insertion-ordered hash map from numbers (mostly of names) to numbers, like a `dict` of Python.
   An empty map is `{0}`. An operation that runs out of memory leaves the map as it was. */

#ifndef SCRUBJAY_NAME_MAP_H
#define SCRUBJAY_NAME_MAP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_KEY INT32_MIN /* key of a removed entry; must not be used as a key */
#define FEW_KEYS 8       /* up to this many entries are searched linearly */

typedef struct {
    int32_t key, value;
} NameEntry;

typedef struct {
    NameEntry *entries; /* in insertion order, including removed ones */
    int32_t *slots;     /* index of an entry plus one, at the first free slot after its hash; NULL while the map is small */
    int32_t used, room; /* entries */
    int32_t slot_room;  /* a power of two greater than twice `room`, or 0 */
    int32_t count;      /* entries that were not removed */
} NameMap;

static inline uint32_t map_slot(const NameMap *map, int32_t key) {
    uint32_t hash = (uint32_t)key * 2654435769u;
    return (hash ^ hash >> 15) & (uint32_t)(map->slot_room - 1);
}

/* Return the index of a key's entry, or -1. */
static inline int32_t map_place(const NameMap *map, int32_t key) {
    if (!map->slot_room) {
        for (int32_t i = 0; i < map->used; i++)
            if (map->entries[i].key == key) return i;
        return -1;
    }
    for (uint32_t slot = map_slot(map, key);; slot = (slot + 1) & (uint32_t)(map->slot_room - 1)) {
        int32_t place = map->slots[slot] - 1;
        if (place < 0 || map->entries[place].key == key) return place;
    }
}

static inline int map_has(const NameMap *map, int32_t key) { return map_place(map, key) >= 0; }

/* Return the value of a key, or `missing`. */
static inline int32_t map_get(const NameMap *map, int32_t key, int32_t missing) {
    int32_t place = map_place(map, key);
    return place < 0 ? missing : map->entries[place].value;
}

/* Make room for at least one more entry, dropping removed ones. Return 0 when out of memory. */
static inline int map_enlarge(NameMap *map) {
    if (map->count > INT32_MAX / 8) return 0;
    int32_t room = map->count < FEW_KEYS / 2 ? FEW_KEYS : map->count * 2;
    int32_t slot_room = 0;
    if (room > FEW_KEYS)
        for (slot_room = 4 * FEW_KEYS; slot_room < 2 * room;) slot_room *= 2;
    NameEntry *entries = malloc((size_t)room * sizeof *entries);
    int32_t *slots = slot_room ? calloc((size_t)slot_room, sizeof *slots) : NULL;
    if (!entries || (slot_room && !slots)) {
        free(entries);
        free(slots);
        return 0;
    }
    int32_t used = 0;
    for (int32_t i = 0; i < map->used; i++)
        if (map->entries[i].key != NO_KEY) entries[used++] = map->entries[i];
    free(map->entries);
    free(map->slots);
    *map = (NameMap){entries, slots, used, room, slot_room, used};
    for (int32_t i = 0; slot_room && i < used; i++) {
        uint32_t slot = map_slot(map, entries[i].key);
        while (slots[slot]) slot = (slot + 1) & (uint32_t)(slot_room - 1);
        slots[slot] = i + 1;
    }
    return 1;
}

/* Set a value. An existing key keeps its position in the order. Return 0 when out of memory. */
static inline int map_set(NameMap *map, int32_t key, int32_t value) {
    int32_t place = map_place(map, key);
    if (place < 0) {
        if (map->used == map->room && !map_enlarge(map)) return 0;
        place = map->used++;
        map->count++;
        map->entries[place].key = key;
        if (map->slot_room) {
            uint32_t slot = map_slot(map, key);
            while (map->slots[slot]) slot = (slot + 1) & (uint32_t)(map->slot_room - 1);
            map->slots[slot] = place + 1;
        }
    }
    map->entries[place].value = value;
    return 1;
}

/* Remove a key, if present. */
static inline void map_remove(NameMap *map, int32_t key) {
    int32_t place = map_place(map, key);
    if (place < 0) return;
    map->entries[place].key = NO_KEY; /* its slot stays in use, so that later slots of a probe sequence are still found */
    map->count--;
}

/* Return the entry at `*place` or after it and advance `*place`, which starts at 0; NULL at the end. The map must not change in between. */
static inline const NameEntry *map_next(const NameMap *map, int32_t *place) {
    while (*place < map->used) {
        const NameEntry *entry = map->entries + (*place)++;
        if (entry->key != NO_KEY) return entry;
    }
    return NULL;
}

/* Make `copy` a copy of `map`. The old content of `copy` is not freed. When out of memory, return 0 and leave `copy` empty. */
static inline int map_copy(NameMap *copy, const NameMap *map) {
    *copy = (NameMap){0};
    if (!map->count) return 1;
    NameEntry *entries = malloc((size_t)map->room * sizeof *entries);
    int32_t *slots = map->slot_room ? malloc((size_t)map->slot_room * sizeof *slots) : NULL;
    if (!entries || (map->slot_room && !slots)) {
        free(entries);
        free(slots);
        return 0;
    }
    memcpy(entries, map->entries, (size_t)map->used * sizeof *entries);
    if (slots) memcpy(slots, map->slots, (size_t)map->slot_room * sizeof *slots);
    *copy = (NameMap){entries, slots, map->used, map->room, map->slot_room, map->count};
    return 1;
}

static inline void map_end(NameMap *map) {
    free(map->entries);
    free(map->slots);
    *map = (NameMap){0};
}

#endif
