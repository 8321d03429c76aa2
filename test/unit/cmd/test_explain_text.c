/* SPDX-License-Identifier: Apache-2.0 */
/* What muster explain prints about evictions and moves, from replies of the API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cmd/explain_text.h"

static const struct {
    const char *reply, *line; /* NULL: no line about it */
} lines[] = {
    {"'eviction':{'makesRoom':'yes','victims':[{'kind':'gang','namespace':'ml','name':'low'}],"
     "'highestPriority':7,'gangsAndPods':1,'lostDeviceSeconds':7200}",
     "would fit:  without gang ml/low, which may be evicted (highest priority: 7, gangs and pods "
     "hit: 1, lost work: "},
    {"'eviction':{'makesRoom':'unknown','victims':[]}",
     "evictions:  muster stopped the search for gangs and pods to evict, because it takes too "
     "long\n"},
    {"'eviction':{'makesRoom':'no','victims':[]}", NULL},
    {"'eviction':{'makesRoom':'no','victims':[],'deservingQueue':'b'}",
     "evictions:  would not make enough room; queue b would have less than it deserves\n"},
    {"'eviction':{'makesRoom':'no','victims':[],'deservingQueue':'b','protectedBy':'ml/guard'}",
     "evictions:  would not make enough room; queue b would have less than it deserves; some pods "
     "are protected by PodDisruptionBudget ml/guard\n"},
    {"'eviction':{'makesRoom':'no','victims':[],'limitedQueue':'b'}",
     "evictions:  would not make enough room; the limit on reclaim protects queue b\n"},
    {"'eviction':{'makesRoom':'no','victims':[],'limitedQueue':'b',"
     "'limitedUntil':'2199-01-01T00:00:00Z'}",
     "evictions:  would not make enough room; the limit on reclaim protects queue b for another "},
    {"'eviction':{'makesRoom':'no','victims':[],'protectedBy':'several'}",
     "evictions:  would not make enough room; some pods are protected by several "
     "PodDisruptionBudgets\n"},
    {"'consolidation':{'makesRoom':'yes','moves':["
     "{'kind':'gang','namespace':'ml','name':'x','pods':2,'restarts':8,'from':'a','to':'b'},"
     "{'kind':'pod','namespace':'ml','name':'y','pods':1,'restarts':1,'from':'c','to':'d'}]}",
     "would fit:  after moving 2 pods of gang ml/x (all 8 pods restart) from a to b and pod ml/y "
     "from c to d\n"},
    {"'consolidation':{'makesRoom':'yes','protectedBy':'ml/guard','moves':["
     "{'kind':'gang','namespace':'ml','name':'x','pods':1,'restarts':2,'from':'a','to':'b'}]}",
     "would fit:  after moving 1 pod of gang ml/x (all 2 pods restart) from a to b, which is "
     "forbidden by PodDisruptionBudget ml/guard\n"},
    {"'consolidation':{'makesRoom':'no','moves':[]}", NULL},
};

static void evictions_and_moves_are_printed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        cleanup_free char *text = xasprintf(
            "{'namespace':'ml','name':'g','state':'Waiting','reason':'NotEnoughResources',%s}",
            lines[i].reply);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        json_t *gang = json_loads(text, 0, NULL);
        assert_non_null(gang);
        cleanup_buf struct buf out = BUF_INIT;
        explain_text(gang, &out);
        const char *is = buf_str(&out);
        bool has = lines[i].line ? strstr(is, lines[i].line) != NULL
                                 : !strstr(is, "evictions:") && !strstr(is, "would fit:");
        if (!has)
            fail_msg("%s\nis printed as\n%s", text, is);
        json_decref(gang);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evictions_and_moves_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
