/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_internal.h - what config_keys.c (table, values), config_file.c (YAML) and config.c
 * (loading) share.
 */
#ifndef MUSTER_CONFIG_CONFIG_INTERNAL_H
#define MUSTER_CONFIG_CONFIG_INTERNAL_H

#include "config/config.h"

#define CONFIG_MAX_KEYS 40

/* What the entries of a list are. */
struct config_entry {
    const char *item;                                /* for people: "the name of a scheduler" */
    int (*check)(const char *text, struct err *err); /* NULL: any text */
};
/* NULL: values of this type are no lists. */
const struct config_entry *config_entry(enum config_type type);

/* A load in progress. */
struct config_loading {
    struct config *config;
    const char *path;
    /* Where each setting was made, "FILE:LINE" or "--flag"; NULL: nowhere. */
    char *where[CONFIG_MAX_KEYS];
    struct buf *mistakes;
    bool failed;
};

/* Writes "WHERE: " and the text as a line to the mistakes. */
void config_mistake(struct config_loading *l, const char *where, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* Judges and stores one value, and remembers where it was made. Lists are given in pieces. */
void config_set(struct config_loading *l, const struct config_key *key, const char *where,
                const char *const *values, size_t n);
/* The same of one text: entries of lists have commas between them. */
void config_set_text(struct config_loading *l, const struct config_key *key, const char *where,
                     const char *text);
/* Where the value is. */
void *config_field(const struct config *c, const struct config_key *key);
/* The value that the table says, and its end. */
void config_set_initial(struct config *c, const struct config_key *key);
void config_clear(struct config *c, const struct config_key *key);
/* The key of that name; NULL after reporting it as unknown with a guess. */
const struct config_key *config_key_find(struct config_loading *l, const char *where,
                                         const char *name);
/* Keys of that name are in a section of their own: "gates.enabled". */
bool config_is_section(const char *name);
/* Reads the file into the loading. */
void config_read_file(struct config_loading *l);

#endif
