/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_internal.h - what config_keys.c (table and values), config_file.c (YAML) and config.c
 * (loading) share. A load runs in one thread.
 */
#ifndef MUSTER_CONFIG_CONFIG_INTERNAL_H
#define MUSTER_CONFIG_CONFIG_INTERNAL_H

#include "config/config.h"

#define CONFIG_MAX_KEYS 44

/* The entries of a list, named for messages. */
struct config_entry {
    const char *item;                                /* one entry: "a schedulerName" */
    const char *list;                                /* all: "a list of schedulerNames" */
    int (*check)(const char *text, struct err *err); /* NULL: any text */
};
/* NULL: values of this type are not lists. */
const struct config_entry *config_entry(enum config_type type);

/* A load in progress. */
struct config_loading {
    struct config *config;
    const char *path;
    /* Where each setting was set, "FILE:LINE" or "--flag"; NULL: not set. */
    char *where[CONFIG_MAX_KEYS];
    struct buf *mistakes;
    bool failed;
};

/* Appends the line "WHERE: TEXT" to the mistakes. */
void config_mistake(struct config_loading *l, const char *where, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* Checks and stores the value, and records where it was set. A list has n values, others one. */
void config_set(struct config_loading *l, const struct config_key *key, const char *where,
                const char *const *values, size_t n);
/* The same from one text. The entries of a list are separated by commas. */
void config_set_text(struct config_loading *l, const struct config_key *key, const char *where,
                     const char *text);
/* The field of the setting in the struct. */
void *config_field(const struct config *c, const struct config_key *key);
/* Sets the default of the table; frees the value. */
void config_set_initial(struct config *c, const struct config_key *key);
void config_clear(struct config *c, const struct config_key *key);
/* The key with this name. If there is none, reports a mistake, with the nearest name, and returns
 * NULL. */
const struct config_key *config_key_find(struct config_loading *l, const char *where,
                                         const char *name);
/* Whether there are keys in a section of this name: "gates" for "gates.enabled". */
bool config_is_section(const char *name);
/* Reads the file of the load. */
void config_read_file(struct config_loading *l);

#endif
