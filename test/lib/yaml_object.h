/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_object.h - objects that tests write as YAML. */
#ifndef MUSTER_TEST_YAML_OBJECT_H
#define MUSTER_TEST_YAML_OBJECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "k8s/encoding/yaml_to_json.h"
#include "workload/json_field.h"

/* The first document as a tree, which the caller owns. Fails the test if the YAML is invalid. */
static inline json_t *yaml_object(const char *yaml)
{
    struct err err;
    cleanup_json json_t *documents = yaml_parse("test", yaml, strlen(yaml), &err);
    if (!documents)
        fail_msg("%s in %s", err.text, yaml);
    return json_incref(json_array_get(documents, 0));
}

#endif
