/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/raw_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT (30 * USEC_PER_SEC)

int client_connect(const char *address)
{
    const char *colon = strrchr(address, ':');
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(colon + 1)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&sa, sizeof sa) < 0)
        fail_msg("connect to %s: %s", address, strerror(errno));
    return fd;
}

void client_send(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* the server closed the connection. Its reply contains the reason */
        data += n;
        len -= (size_t)n;
    }
}

void client_request(int fd, const char *method, const char *path, const char *body)
{
    cleanup_buf struct buf b = BUF_INIT;
    buf_printf(&b, "%s %s HTTP/1.1\r\nHost: x\r\n", method, path);
    if (body)
        buf_printf(&b, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    buf_puts(&b, "\r\n");
    if (body)
        buf_puts(&b, body);
    client_send(fd, b.data, b.len);
}

bool client_readable(int fd, usec_t limit)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, (int)(limit / 1000)) == 1;
}

/* Appends the bytes that have arrived. Returns false if the server closed the connection. */
static bool receive(int fd, struct buf *b)
{
    char chunk[65536];
    if (!client_readable(fd, LIMIT))
        fail_msg("no reply within 30 s");
    ssize_t n = recv(fd, chunk, sizeof chunk, 0);
    if (n <= 0)
        return false;
    buf_append(b, chunk, (size_t)n);
    return true;
}

bool client_read(int fd, struct client_reply *reply)
{
    *reply = (struct client_reply){0};
    const char *end, *length;
    while ((end = strstr(buf_str(&reply->head), "\r\n\r\n")) == NULL)
        if (!receive(fd, &reply->head))
            return false;
    size_t head = (size_t)(end - reply->head.data) + 4;
    buf_append(&reply->body, reply->head.data + head, reply->head.len - head);
    reply->head.data[head] = '\0';
    reply->head.len = head;
    if (sscanf(reply->head.data, "HTTP/1.1 %d", &reply->status) != 1)
        fail_msg("not an HTTP reply: %s", reply->head.data);
    length = strcasestr(reply->head.data, "content-length:");
    size_t want = length ? strtoul(length + strlen("content-length:"), NULL, 10) : 0;
    while (reply->body.len < want)
        if (!receive(fd, &reply->body))
            return false;
    return true;
}

void client_reply_done(struct client_reply *reply)
{
    buf_done(&reply->head);
    buf_done(&reply->body);
}

bool client_closed(int fd, usec_t limit)
{
    usec_t until = usec_now() + limit;
    char chunk[4096];
    for (usec_t now; (now = usec_now()) < until;)
        if (client_readable(fd, until - now) && recv(fd, chunk, sizeof chunk, 0) <= 0)
            return true;
    return false;
}

void client_ask(const char *address, const char *method, const char *path, const char *body,
                struct client_reply *reply)
{
    int fd = client_connect(address);
    client_request(fd, method, path, body);
    if (!client_read(fd, reply))
        fail_msg("%s %s: connection closed without a reply", method, path);
    close(fd);
}
