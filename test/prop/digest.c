/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/digest.h"

#include <inttypes.h>

#include "base/hash.h"
#include "base/map.h"
#include "test/prop/event_text.h"

struct digest {
    struct map objects; /* key of a call or object -> struct story */
};

/* The replies to one call, or the writes to one object, in order. */
struct story {
    uint64_t hash;
};

struct digest *digest_new(void)
{
    return xcalloc(1, sizeof(struct digest));
}

/* The key of the call or object that the effect belongs to. The caller frees it. */
static char *whose(const struct gang_effect *e)
{
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        return xasprintf("#%" PRIu64, e->filter.id);
    case GANG_REPLY_PRIORITIZE:
        return xasprintf("#%" PRIu64, e->prioritize.id);
    case GANG_REPLY_PREEMPT:
        return xasprintf("#%" PRIu64, e->preempt.id);
    case GANG_REPLY_BIND:
        return xasprintf("#%" PRIu64, e->bind_reply.id);
    case GANG_STATUS:
        return xasprintf("status %s/%s", e->status.ref->api_group, e->status.ref->name);
    case GANG_QUEUE_STATUS:
        return xasprintf("queue %s/%s", e->queue.ref->api_group, e->queue.ref->name);
    case GANG_SUSPEND:
    case GANG_RESUME:
        return xasprintf("workload of %s/%s", e->workload.ref->api_group, e->workload.ref->name);
    case GANG_EVENT:
        return xasprintf("event %s/%s", e->event.kind, e->event.name);
    default:
        return xasprintf("pod %s", e->pod.uid);
    }
}

/* A hash of the effect without its message texts. Of a quoted text, only whether it is empty
 * counts. */
static uint64_t without_words(const struct gang_effect *e)
{
    cleanup_buf struct buf b = BUF_INIT;
    uint64_t hash = HASH_START;
    bool quoted = false;
    size_t begun = 0;
    effect_text(&b, e);
    for (size_t i = 0; i < b.len; i++) {
        if (b.data[i] != '"') {
            hash = quoted ? hash : hash_byte(hash, (unsigned char)b.data[i]);
            continue;
        }
        if (quoted)
            hash = hash_byte(hash, i > begun + 1);
        begun = i;
        quoted = !quoted;
    }
    return hash;
}

void digest_step(struct digest *d, uint64_t line, const struct gang_effect *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cleanup_free char *key = whose(&e[i]);
        struct story *story = map_get(&d->objects, key);
        if (!story) {
            story = xcalloc(1, sizeof *story);
            story->hash = hash_text(HASH_START, key);
            map_set(&d->objects, key, story);
        }
        story->hash = hash_u64(hash_u64(story->hash, line), without_words(&e[i]));
    }
}

uint64_t digest_end(struct digest *d)
{
    uint64_t sum = 0;
    map_for_each (e, &d->objects) {
        struct story *story = e->value;
        sum += story->hash;
        free(story);
    }
    map_done(&d->objects);
    free(d);
    return sum;
}
