/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON that is repaired for jansson (base/json_repair.h). jansson accepts valid JSON after the
 * repair. What jansson accepts does not change, also not in a second repair.
 */
#include "base/json_repair.h"

#include "base/json_scan.h"
#include "test/fuzz/fuzz.h"

static bool is_json(const char *text, size_t size)
{
    struct json_scan s = json_scan_new(text, size);
    return json_scan_skip(&s, NULL) && json_scan_end(&s);
}

static json_t *load(const char *text, size_t size)
{
    return json_loadb(text, size, JSON_DECODE_ANY, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *text = fuzz_text(data, size), *before = fuzz_text(data, size);
    bool was_json = is_json(text, size);
    cleanup_tree json_t *was = memchr(text, '\0', size) ? NULL : load(text, size);
    json_repair(text, size);
    cleanup_tree json_t *is = load(text, size);
    HOLDS(!was_json || is, "%s is still refused: %s", before, text);
    HOLDS(!was || is, "%s was taken, and is not any more: %s", before, text);
    HOLDS(!was || !was_json || memcmp(text, before, size) == 0, "%s became %s", before, text);
    cleanup_free char *once = fuzz_text((const uint8_t *)text, size);
    json_repair(text, size);
    HOLDS(!is || memcmp(text, once, size) == 0, "%s, and again %s", once, text);
    json_repair_nul(text, size);
    HOLDS(!is || memcmp(text, once, size) == 0, "an escaped NUL was left in %s", once);
    return 0;
}
