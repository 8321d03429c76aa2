/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_corpus.c - main() of a fuzz target without libFuzzer. It runs the target on files and
 * folders.
 *
 *     fuzz_quantity test/fuzz/corpus/quantity
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "test/fuzz/fuzz.h"

static size_t n_files;

static void play_file(const char *path)
{
    FILE *f = fopen(path, "re");
    HOLDS(f, "%s: %s", path, strerror(errno));
    cleanup_buf struct buf bytes = BUF_INIT;
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_append(&bytes, chunk, n);
    fclose(f);
    fprintf(stderr, "%s\n",
            path); /* before the run, so that the last line names the file that failed */
    /* A block of exactly this size, so that a sanitizer reports a byte too far. */
    cleanup_free uint8_t *data = xmalloc(bytes.len ? bytes.len : 1);
    if (bytes.len)
        memcpy(data, bytes.data, bytes.len);
    LLVMFuzzerTestOneInput(data, bytes.len);
    n_files++;
}

static void play(const char *path)
{
    struct stat st;
    struct dirent **entries;
    HOLDS(stat(path, &st) == 0, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) {
        play_file(path);
        return;
    }
    int n = scandir(path, &entries, NULL, alphasort);
    HOLDS(n >= 0, "%s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        cleanup_free char *inner = xasprintf("%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            play(inner);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        play(argv[i]);
    fprintf(stderr, "%zu inputs\n", n_files);
    return n_files ? 0 : 1;
}
