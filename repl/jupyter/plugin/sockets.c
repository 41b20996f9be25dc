/* sockets.c - see sockets.h. */
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "stream.h"

/* Commands for the thread, numbered after the channels. */
enum { NEW_REQUEST = CHANNELS, SETTLE, STOP };

enum {
    QUIET_MS = 20,        /* milliseconds between two publications of output */
    PIPE_BYTES = 1 << 20, /* capacity of the pipe for output */
    LINGER_MS = 1000,     /* milliseconds to send queued messages at the end */
    LOOK_FOR_PARENT_MS = 1000
};

typedef struct queue {
    pthread_mutex_t lock;
    jupyter_message *first, **last;
    int wake; /* an eventfd, readable if the queue has new entries */
} queue;

static queue inbox = {.lock = PTHREAD_MUTEX_INITIALIZER},
             outbox = {.lock = PTHREAD_MUTEX_INITIALIZER};
static void *context, *sockets[CHANNELS];
static pthread_t thread, interpreter;
static jupyter_message
    *request; /* its only frame is the header of the request to which output belongs */
static jupyter_stream streams[2];
static int log_to = -1; /* the original descriptor 2 */
static pthread_mutex_t settled_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t settled_signal = PTHREAD_COND_INITIALIZER;
static bool settled;
static volatile bool reads_input; /* the interpreter waits for the stdin channel */
static pid_t parent;              /* the kernel ends with this process; 0: none */

/* ---- queues ---------------------------------------------------------------------------------- */

static void queue_push(queue *q, jupyter_message *m)
{
    const uint64_t one = 1;
    m->next = NULL;
    pthread_mutex_lock(&q->lock);
    *q->last = m;
    q->last = &m->next;
    pthread_mutex_unlock(&q->lock);
    /* the counter is full, so the reader is awake */
    if (write(q->wake, &one, sizeof one) < 0) return;
}

/* Removes and returns the first message of the lowest channel from `low` to `high`; NULL: none. */
static jupyter_message *queue_pop(queue *q, int low, int high)
{
    jupyter_message *found = NULL;
    pthread_mutex_lock(&q->lock);
    for (int wanted = low; wanted <= high && found == NULL; wanted++)
        for (jupyter_message **place = &q->first; *place != NULL; place = &(*place)->next)
            if ((*place)->channel == wanted) {
                found = *place;
                *place = found->next;
                if (found->next == NULL) q->last = place;
                break;
            }
    pthread_mutex_unlock(&q->lock);
    return found;
}

/* Removes and returns the first message of any channel. */
static jupyter_message *take_first(queue *q)
{
    pthread_mutex_lock(&q->lock);
    jupyter_message *found = q->first;
    if (found != NULL && (q->first = found->next) == NULL) q->last = &q->first;
    pthread_mutex_unlock(&q->lock);
    return found;
}

static void queue_wait(queue *q)
{
    uint64_t count;
    if (read(q->wake, &count, sizeof count) < 0) return;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Writes to the kernel's original stderr, which cells cannot see. */
__attribute__((format(printf, 1, 2))) static void log_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    dprintf(log_to, "ltensor kernel: ");
    vdprintf(log_to, format, arguments);
    dprintf(log_to, "\n");
    va_end(arguments);
}

static jupyter_text of_string(const char *string) { return (jupyter_text){string, strlen(string)}; }

/* Publishes a message of that type, in reply to the header. */
static void publish(const char *type, jupyter_text header, const char *content, size_t size)
{
    jupyter_message *m = message_new();
    if (m != NULL && message_add(m, type, strlen(type)) &&
        message_finish(m, type, header, of_string("{}"), (jupyter_text){content, size}))
        message_send(m, sockets[CHANNEL_IOPUB]);
    else
        message_free(m);
}

/* Publishes the output up to these offsets of stdout and stderr; `whole`: also the incomplete
 * character at its end. */
static void publish_streams(const uint64_t end[2], bool whole)
{
    static const char *const names[2] = {"stdout", "stderr"};
    for (int i = 0; i < 2; i++) {
        size_t size;
        char *content = stream_take(&streams[i], names[i], end[i], whole, &size);
        if (content != NULL) publish("stream", message_frame(request, 0), content, size);
        free(content);
    }
}

/* Sends SIGINT like a terminal's Ctrl-C: also to the programs started by the cell, if the kernel
 * has its own process group. */
static void press_ctrl_c(void)
{
    if (getpgrp() == getpid())
        kill(0, SIGINT);
    else
        pthread_kill(interpreter, SIGINT);
}

/* Replies to an interrupt_request and sends SIGINT to the running cell. */
static void interrupt(jupyter_message *m)
{
    static const char busy[] = "{\"execution_state\": \"busy\"}",
                      idle[] = "{\"execution_state\": \"idle\"}";
    jupyter_text header = message_part(m, 0);
    jupyter_message *reply = message_new();
    publish("status", header, busy, sizeof busy - 1);
    press_ctrl_c();
    bool good = reply != NULL;
    for (size_t i = 0; i < m->identities && good; i++) {
        jupyter_text identity = message_frame(m, i);
        good = message_add(reply, identity.bytes, identity.size);
    }
    if (good && message_finish(reply, "interrupt_reply", header, of_string("{}"),
                               of_string("{\"status\": \"ok\"}")))
        message_send(reply, sockets[m->channel]);
    else
        message_free(reply);
    publish("status", header, idle, sizeof idle - 1);
}

/* Reads messages from a request channel. */
static void receive(channel from)
{
    jupyter_message *m;
    while ((m = message_receive(sockets[from])) != NULL) {
        const char *problem = message_check(m);
        if (problem == NULL) problem = message_check_new(m);
        m->channel = (int)from;
        if (problem != NULL) {
            log_line("a message was refused: %s", problem);
            message_free(m);
        } else if (from == CHANNEL_CONTROL && message_is(m, "interrupt_request")) {
            interrupt(m);
            message_free(m);
        } else {
            const bool debugs = message_is(m, "debug_request");
            /* A running cell would delay the shutdown. */
            if (message_is(m, "shutdown_request")) press_ctrl_c();
            queue_push(&inbox, m);
            if (debugs && !reads_input) pthread_kill(interpreter, SIGIO);
        }
    }
}

static void receive_all(void)
{
    receive(CHANNEL_CONTROL);
    receive(CHANNEL_SHELL);
    receive(CHANNEL_STDIN);
}

/* Informs a new subscriber that it receives all following messages. */
static void welcome(void)
{
    jupyter_message *event;
    while ((event = message_receive(sockets[CHANNEL_IOPUB])) != NULL) {
        jupyter_text topic = message_frame(event, 0);
        if (topic.size > 0 && topic.bytes[0] == 1) {
            size_t size;
            char *content =
                stream_json("{\"subscription\": \"", topic.bytes + 1, topic.size - 1, "\"}", &size);
            jupyter_message *m = message_new();
            if (content != NULL && m != NULL && message_add(m, topic.bytes + 1, topic.size - 1) &&
                message_finish(m, "iopub_welcome", of_string("{}"), of_string("{}"),
                               (jupyter_text){content, size}))
                message_send(m, sockets[CHANNEL_IOPUB]);
            else
                message_free(m);
            free(content);
        }
        message_free(event);
    }
}

/* Echoes a heartbeat. */
static void beat(void)
{
    jupyter_message *m;
    while ((m = message_receive(sockets[CHANNEL_HEARTBEAT])) != NULL)
        message_send(m, sockets[CHANNEL_HEARTBEAT]);
}

/* Executes queued commands; false: the thread must end. */
static bool do_orders(void)
{
    jupyter_message *m;
    queue_wait(&outbox);
    while ((m = take_first(&outbox)) != NULL) {
        publish_streams(m->written, m->channel == NEW_REQUEST || m->channel == SETTLE);
        switch (m->channel) {
        case NEW_REQUEST:
            message_free(request);
            request = m;
            break;
        case SETTLE:
            receive_all();
            pthread_mutex_lock(&settled_lock);
            settled = true;
            pthread_cond_signal(&settled_signal);
            pthread_mutex_unlock(&settled_lock);
            message_free(m);
            break;
        case STOP: message_free(m); return false;
        default: message_send(m, sockets[m->channel]);
        }
    }
    return true;
}

static int64_t milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *serve(void *unused)
{
    enum { ORDERS = CHANNELS, WRITTEN };
    static const uint64_t all[2] = {UINT64_MAX, UINT64_MAX};
    int64_t quiet_until = 0;
    zmq_pollitem_t items[WRITTEN + 2];
    (void)unused;
    memset(items, 0, sizeof items);
    for (int i = 0; i < CHANNELS; i++) items[i].socket = sockets[i];
    items[ORDERS].fd = outbox.wake;
    for (int i = 0; i < 2; i++) items[WRITTEN + i].fd = streams[i].from;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) items[i].events = ZMQ_POLLIN;
    for (bool going = true; going;) {
        int64_t pause = quiet_until - milliseconds_now();
        bool quiet = pause > 0;
        long wait = quiet ? (long)pause : parent != 0 ? LOOK_FOR_PARENT_MS : -1;
        if (zmq_poll(items, quiet ? WRITTEN : WRITTEN + 2, wait) < 0 && errno != EINTR) {
            log_line("zmq_poll: %s", zmq_strerror(errno));
            kill(getpid(), SIGTERM); /* the kernel has become unreachable */
            break;
        }
        beat();
        welcome();
        receive_all();
        going = do_orders();
        if (!quiet && (items[WRITTEN].revents || items[WRITTEN + 1].revents)) {
            publish_streams(all, false);
            quiet_until = milliseconds_now() + QUIET_MS;
        }
        if (parent != 0 && getppid() != parent) kill(getpid(), SIGTERM);
    }
    return NULL;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static bool open_queue(queue *q)
{
    q->last = &q->first;
    q->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return q->wake >= 0;
}

/* Redirects the descriptor to a pipe. */
static bool take_over(jupyter_stream *s, int descriptor)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
    s->from = ends[0];
    pthread_mutex_init(&s->lock, NULL);
    s->descriptor = descriptor;
    s->saved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    bool good = dup2(ends[1], descriptor) >= 0;
    close(ends[1]);
    return good;
}

const char *sockets_open(const char *const addresses[CHANNELS])
{
    static const int types[CHANNELS] = {ZMQ_ROUTER, ZMQ_ROUTER, ZMQ_ROUTER, ZMQ_XPUB, ZMQ_REP};
    static char problem[300];
    const int linger = LINGER_MS, yes = 1;
    context = zmq_ctx_new();
    for (int i = 0; i < CHANNELS; i++) {
        sockets[i] = zmq_socket(context, types[i]);
        if (sockets[i] != NULL) {
            zmq_setsockopt(sockets[i], ZMQ_LINGER, &linger, sizeof linger);
            if (i == CHANNEL_IOPUB) zmq_setsockopt(sockets[i], ZMQ_XPUB_VERBOSE, &yes, sizeof yes);
            if (types[i] == ZMQ_ROUTER)
                zmq_setsockopt(sockets[i], ZMQ_ROUTER_HANDOVER, &yes, sizeof yes);
        }
        if (sockets[i] == NULL || zmq_bind(sockets[i], addresses[i]) != 0) {
            snprintf(problem, sizeof problem, "cannot listen on %.200s: %s", addresses[i],
                     zmq_strerror(errno));
            return problem;
        }
    }
    if (getenv("JPY_PARENT_PID") != NULL)
        parent = getppid(); /* the parent requests that the kernel ends with it */
    fflush(stdout);
    request = message_new();
    log_to = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    bool good = request != NULL && message_add(request, "{}", 2) && open_queue(&inbox) &&
                open_queue(&outbox) && take_over(&streams[0], STDOUT_FILENO) &&
                take_over(&streams[1], STDERR_FILENO);
    sigset_t all, before;
    sigfillset(&all); /* signals are handled by the thread that runs cells */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    interpreter = pthread_self();
    good = good && pthread_create(&thread, NULL, serve, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (good) return NULL;
    snprintf(problem, sizeof problem, "cannot start: %s", strerror(errno));
    return problem;
}

/* Queues a message for the thread, which sends it, or executes its command, after all previous
 * output. */
static void hand_over(jupyter_message *m)
{
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) m->written[i] = stream_written(&streams[i]);
    queue_push(&outbox, m);
}

/* Queues a command for the thread. */
static bool queue_order(int what)
{
    jupyter_message *m = message_new();
    if (m == NULL) return false;
    m->channel = what;
    hand_over(m);
    return true;
}

void sockets_close(void)
{
    if (!queue_order(STOP)) return;
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        dup2(streams[i].saved, streams[i].descriptor);
        stream_close(&streams[i]);
    }
    for (int i = 0; i < CHANNELS; i++) zmq_close(sockets[i]);
    zmq_ctx_term(context);
    message_free(request);
    for (jupyter_message *m; (m = take_first(&inbox)) != NULL;) message_free(m);
    close(inbox.wake);
    close(outbox.wake);
    close(log_to);
}

/* ---- for the interpreter's thread ------------------------------------------------------------ */

void sockets_send(jupyter_message *m) { hand_over(m); }

bool sockets_begin_request(jupyter_text header)
{
    jupyter_message *m = message_new();
    if (m == NULL || !message_add(m, header.bytes, header.size)) {
        message_free(m);
        return false;
    }
    m->channel = NEW_REQUEST;
    sockets_send(m);
    return true;
}

void sockets_settle(void)
{
    settled = false; /* no SETTLE command is pending */
    if (!queue_order(SETTLE)) return;
    pthread_mutex_lock(&settled_lock);
    while (!settled) pthread_cond_wait(&settled_signal, &settled_lock);
    pthread_mutex_unlock(&settled_lock);
}

jupyter_message *sockets_receive(channel low, channel high, int milliseconds, bool *interrupted)
{
    *interrupted = false;
    for (;;) {
        struct pollfd wait = {inbox.wake, POLLIN, 0};
        queue_wait(&inbox);
        jupyter_message *m = queue_pop(&inbox, (int)low, (int)high);
        if (m != NULL) return m;
        reads_input = low == CHANNEL_STDIN;
        int status = poll(&wait, 1, milliseconds);
        reads_input = false;
        if (status > 0) continue;
        *interrupted = status < 0 && errno == EINTR;
        return NULL;
    }
}

void sockets_forget_answers(void)
{
    for (jupyter_message *m; (m = queue_pop(&inbox, CHANNEL_STDIN, CHANNEL_STDIN)) != NULL;)
        message_free(m);
}
