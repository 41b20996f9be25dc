/* wire_test.c - the plugin for Jupyter without an interpreter: signatures, what is no message, text
 * in JSON, and the sockets with a front end in the same process.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "message.h"
#include "sockets.h"
#include "stream.h"

static const char key[] = "a0436f6c-1916-498b-8eb9-e81ab9368e84";

static jupyter_text t(const char *string) { return (jupyter_text){string, strlen(string)}; }

/* A message as a front end sends it. */
static jupyter_message *request(const char *type, const char *content)
{
    jupyter_message *m = message_new();
    assert_true(message_finish(m, type, t("{}"), t("{}"), t(content)));
    m->channel = CHANNEL_SHELL;
    return m;
}

static void set_frame(jupyter_message *m, size_t i, const char *bytes, size_t size)
{
    zmq_msg_close(&m->frames[i]);
    zmq_msg_init_size(&m->frames[i], size);
    memcpy(zmq_msg_data(&m->frames[i]), bytes, size);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* HMAC-SHA256 of RFC 4231, test case 2, over what four parts hold together. */
static void test_signature_is_the_standard_s(void **state)
{
    static const char *const parts[] = {"what do ya", " want ", "for ", "nothing?"};
    (void)state;
    message_begin("Jefe", 4);
    jupyter_message *m = message_new();
    message_add(m, "<IDS|MSG>", 9);
    message_add(m, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", 64);
    for (int i = 0; i < 4; i++) message_add(m, parts[i], strlen(parts[i]));
    assert_null(message_check(m));
    set_frame(m, 2, "what do yo", 10);
    assert_string_equal(message_check(m), "its signature is wrong");
    message_free(m);
}

static void test_wrong_signatures_are_refused(void **state)
{
    (void)state;
    message_begin(key, sizeof key - 1);
    for (int part = 0; part < MESSAGE_PARTS; part++) {
        jupyter_message *m = request("execute_request", "{}");
        assert_null(message_check(m));
        set_frame(m, 2 + (size_t)part, "{ }", 3);
        assert_non_null(message_check(m));
        message_free(m);
    }
    static const size_t sizes[] = {0, 63, 65};
    for (size_t i = 0; i < 3; i++) { /* shorter and longer ones, too */
        char digits[66] = {0};
        jupyter_message *m = request("execute_request", "{}");
        memcpy(digits, message_frame(m, 1).bytes, 64);
        set_frame(m, 1, digits, sizes[i]);
        assert_non_null(message_check(m));
        message_free(m);
    }
    jupyter_message *m = request("execute_request", "{}");
    message_begin("another", 7);
    assert_non_null(message_check(m));
    message_begin("", 0); /* without a key nothing is signed, and all is taken */
    assert_null(message_check(m));
    message_free(m);
    m = request("execute_request", "{}");
    assert_int_equal(message_frame(m, 1).size, 0);
    message_free(m);
}

static void test_what_is_no_message_is_refused(void **state)
{
    static const char *const frames[] = {"a", "<IDS|MSG>", "", "{}", "{}", "{}", "{}"};
    (void)state;
    message_begin("", 0);
    for (size_t first = 0; first < 2; first++)
        for (size_t last = first; last <= 7; last++) {
            jupyter_message *m = message_new();
            for (size_t i = first; i < last; i++) message_add(m, frames[i], strlen(frames[i]));
            assert_int_equal(message_check(m) == NULL, last == 7);
            if (last == 7) assert_int_equal(m->identities, 1 - first);
            message_free(m);
        }
}

static void test_a_message_that_is_sent_again_is_refused(void **state)
{
    (void)state;
    message_begin(key, sizeof key - 1);
    jupyter_message *first = request("execute_request", "{}"), *m;
    assert_null(message_check(first));
    assert_null(message_check_new(first));
    assert_non_null(message_check_new(first));
    for (int i = 1; i < 1 << 16; i++) { /* all of these are remembered beside it */
        m = request("execute_request", "{}");
        message_check(m);
        assert_null(message_check_new(m));
        message_free(m);
    }
    assert_non_null(message_check_new(first));
    /* memory is bounded: the oldest are forgotten, those in use are not */
    for (int i = 0; i < 1 << 16; i++) {
        m = request("execute_request", "{}");
        message_check(m);
        assert_null(message_check_new(m));
        if (i % 1000 == 0) assert_non_null(message_check_new(m));
        message_free(m);
    }
    assert_null(message_check_new(first));
    message_begin(key, sizeof key - 1); /* another session begins with none */
    assert_null(message_check_new(first));
    message_begin("", 0); /* messages without signatures cannot be told apart */
    jupyter_message *plain = request("execute_request", "{}");
    assert_null(message_check(plain));
    assert_null(message_check_new(plain));
    assert_null(message_check_new(plain));
    message_free(plain);
    message_free(first);
}

static void test_headers(void **state)
{
    (void)state;
    message_begin(key, sizeof key - 1);
    jupyter_message *m = request("status", "{}"), *other = request("status", "{}");
    jupyter_text header = message_part(m, 0);
    assert_true(message_is(m, "status"));
    assert_false(message_is(m, "stream"));
    assert_false(header.size == message_part(other, 0).size &&
                 memcmp(header.bytes, message_part(other, 0).bytes, header.size) ==
                     0); /* an id of its own */
    static const char *const no_headers[] = {"",        "{", "[]", "null", "{\"msg_type\": 1}",
                                             "\xff\xfe"};
    for (size_t i = 0; i < sizeof no_headers / sizeof *no_headers; i++) {
        set_frame(m, 2, no_headers[i], strlen(no_headers[i]));
        assert_false(message_is(m, "status"));
    }
    message_free(m);
    message_free(other);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void expect_json(const char *bytes, const char *expected)
{
    size_t size;
    char *json = stream_json("<", bytes, strlen(bytes), ">", &size);
    assert_string_equal(json, expected);
    assert_int_equal(size, strlen(expected));
    free(json);
}

static void test_text_becomes_json(void **state)
{
    (void)state;
    expect_json("", "<>");
    expect_json("a\"b\\c\n\x7f", "<a\\u0022b\\u005cc\\u000a\\u007f>");
    expect_json("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82", "<\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82>");
    /* bytes that begin nothing, longer forms than needed, surrogates, what is beyond U+10FFFF,
     * characters without their end */
    expect_json("\x80|\xFF", "<\xEF\xBF\xBD|\xEF\xBF\xBD>");
    expect_json("\xC0\xAF", "<\xEF\xBF\xBD\xEF\xBF\xBD>");
    expect_json("\xE0\x80\xAF", "<\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD>");
    expect_json("\xED\xA0\x80", "<\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD>");
    expect_json("\xF4\x90\x80\x80", "<\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD>");
    expect_json("\xE2\x82", "<\xEF\xBF\xBD>");
}

static void test_characters_that_come_apart(void **state)
{
    int ends[2];
    size_t size;
    jupyter_stream s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    (void)state;
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    s.from = ends[0];
    s.saved = dup(ends[1]);
    static const struct {
        const char *written;
        bool whole;
        const char *expected;
    } steps[] = {
        {"a\xE2", false, "{\"name\": \"x\", \"text\": \"a\"}"},
        {"\x82", false, NULL},
        {"\xAC"
         "b",
         false,
         "{\"name\": \"x\", \"text\": \"\xE2\x82\xAC"
         "b\"}"},
        {"c\xF0\x9F", true, "{\"name\": \"x\", \"text\": \"c\xEF\xBF\xBD\"}"},
        {"", true, NULL},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t n = strlen(steps[i].written);
        assert_int_equal(write(ends[1], steps[i].written, n), n);
        char *json = stream_take(&s, "x", UINT64_MAX, steps[i].whole, &size);
        if (steps[i].expected)
            assert_string_equal(json, steps[i].expected);
        else
            assert_null(json);
        free(json);
    }
    assert_int_equal(write(ends[1], "12345", 5), 5);
    uint64_t middle = stream_written(&s) - 2; /* up to a byte that was asked for, and no further */
    char *json = stream_take(&s, "x", middle, false, &size);
    assert_string_equal(json, "{\"name\": \"x\", \"text\": \"123\"}");
    free(json);
    assert_null(stream_take(&s, "x", middle, false, &size));
    close(ends[1]);
    stream_close(&s);
}

/* ---- sockets --------------------------------------------------------------------------------- */

enum { WAIT_MS = 20000 };

static char folder[] = "/tmp/wire_test.XXXXXX";
static char addresses[CHANNELS][64];
static void *context, *front[CHANNELS];

/* The next message that the kernel sends there; NULL: none has come. */
static jupyter_message *from_kernel(channel c)
{
    zmq_pollitem_t item = {front[c], 0, ZMQ_POLLIN, 0};
    return zmq_poll(&item, 1, WAIT_MS) == 1 ? message_receive(front[c]) : NULL;
}

static void set_up(void)
{
    static const int types[CHANNELS] = {ZMQ_DEALER, ZMQ_DEALER, ZMQ_DEALER, ZMQ_SUB, ZMQ_REQ};
    const char *list[CHANNELS];
    const int none = 0;
    assert_non_null(mkdtemp(folder));
    message_begin(key, sizeof key - 1);
    context = zmq_ctx_new();
    for (int i = 0; i < CHANNELS; i++) {
        snprintf(addresses[i], sizeof addresses[i], "ipc://%s/%d", folder, i);
        list[i] = addresses[i];
    }
    assert_null(sockets_open(list));
    for (int i = 0; i < CHANNELS; i++) {
        front[i] = zmq_socket(context, types[i]);
        zmq_setsockopt(front[i], ZMQ_LINGER, &none, sizeof none);
        if (i == CHANNEL_IOPUB) zmq_setsockopt(front[i], ZMQ_SUBSCRIBE, "", 0);
        zmq_connect(front[i], addresses[i]);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < CHANNELS; i++) zmq_close(front[i]);
    sockets_close();
    zmq_ctx_term(context);
    for (int i = 0; i < CHANNELS; i++) unlink(addresses[i] + strlen("ipc://"));
    rmdir(folder);
}

static volatile sig_atomic_t signals;
static void count(int number)
{
    (void)number;
    signals = signals + 1;
}

/* What failed is told once the descriptors are again what they were: asserts would write into the
 * pipes. */
static const char *sockets_problem(void)
{
    bool interrupted;
#define EXPECT(condition)                                                                          \
    if (!(condition)) return #condition
    jupyter_message *m;
    EXPECT((m = from_kernel(CHANNEL_IOPUB)) != NULL);
    EXPECT(message_check(m) == NULL && message_is(m, "iopub_welcome"));
    message_free(m);

    zmq_send(front[CHANNEL_HEARTBEAT], "beat", 4, 0);
    EXPECT((m = from_kernel(CHANNEL_HEARTBEAT)) != NULL);
    EXPECT(message_frame(m, 0).size == 4 && memcmp(message_frame(m, 0).bytes, "beat", 4) == 0);
    message_free(m);

    /* A request with a wrong signature is passed over, the one after it arrives, the one on control
     * first. */
    m = request("execute_request", "{\"wrong\": 1}");
    set_frame(m, 5, "{\"wrong\": 2}", 12);
    message_send(m, front[CHANNEL_SHELL]);
    message_send(request("execute_request", "{\"good\": 1}"), front[CHANNEL_SHELL]);
    EXPECT((m = sockets_receive(CHANNEL_CONTROL, CHANNEL_SHELL, WAIT_MS, &interrupted)) != NULL);
    EXPECT(m->identities == 1 && message_part(m, 3).size == 11);
    jupyter_message *asked = m;

    /* One that is sent again is passed over. */
    for (int times = 0; times < 2; times++) {
        m = message_new();
        for (size_t i = 1; i < asked->count; i++)
            message_add(m, message_frame(asked, i).bytes, message_frame(asked, i).size);
        message_send(m, front[CHANNEL_SHELL]);
    }
    EXPECT(sockets_receive(CHANNEL_CONTROL, CHANNEL_SHELL, 200, &interrupted) == NULL);

    /* What is written stands between what is sent, as it was. */
    EXPECT(sockets_begin_request(message_part(asked, 0)));
    for (int i = 0; i < 3; i++) {
        char written[20];
        snprintf(written, sizeof written, "line%d\n", i);
        EXPECT(write(STDOUT_FILENO, written, 6) == 6);
        jupyter_message *status = message_new();
        message_add(status, "status", 6);
        message_finish(status, "status", message_part(asked, 0), t("{}"), t("{}"));
        status->channel = CHANNEL_IOPUB;
        sockets_send(status);
    }
    for (int i = 0; i < 6; i++) {
        EXPECT((m = from_kernel(CHANNEL_IOPUB)) != NULL);
        EXPECT(message_check(m) == NULL && message_is(m, i % 2 == 0 ? "stream" : "status"));
        EXPECT(message_part(m, 1).size == message_part(asked, 0).size);
        message_free(m);
    }

    /* A reply finds its way back. */
    jupyter_message *reply = message_new();
    message_add(reply, message_frame(asked, 0).bytes, message_frame(asked, 0).size);
    message_finish(reply, "execute_reply", message_part(asked, 0), t("{}"), t("{}"));
    reply->channel = CHANNEL_SHELL;
    sockets_send(reply);
    EXPECT((m = from_kernel(CHANNEL_SHELL)) != NULL);
    EXPECT(message_check(m) == NULL && message_is(m, "execute_reply"));
    message_free(m);
    message_free(asked);

    /* An interrupt is a signal, is answered, and ends no more than a wait. One that comes before
     * the wait has begun ends none. */
    signals = 0;
    interrupted = false;
    for (int tries = 1; tries <= 40 && !interrupted; tries++) {
        message_send(request("interrupt_request", "{}"), front[CHANNEL_CONTROL]);
        EXPECT(sockets_receive(CHANNEL_CONTROL, CHANNEL_SHELL, WAIT_MS / 40, &interrupted) ==
                   NULL &&
               signals == tries);
        EXPECT((m = from_kernel(CHANNEL_CONTROL)) != NULL);
        EXPECT(message_is(m, "interrupt_reply"));
        message_free(m);
    }
    EXPECT(interrupted);
    signals = 1;

    /* What has arrived is here after settling; control goes first. */
    message_send(request("execute_request", "{}"), front[CHANNEL_SHELL]);
    message_send(request("shutdown_request", "{}"), front[CHANNEL_CONTROL]);
    for (int i = 0; i < 1000 && signals < 2; i++) usleep(10000);
    EXPECT(signals == 2);
    usleep(100000);
    sockets_settle();
    EXPECT((m = sockets_receive(CHANNEL_CONTROL, CHANNEL_SHELL, 0, &interrupted)) != NULL &&
           m->channel == CHANNEL_CONTROL);
    message_free(m);
    EXPECT((m = sockets_receive(CHANNEL_CONTROL, CHANNEL_SHELL, 0, &interrupted)) != NULL &&
           m->channel == CHANNEL_SHELL);
    message_free(m);
    EXPECT(sockets_receive(CHANNEL_CONTROL, CHANNEL_SHELL, 0, &interrupted) == NULL &&
           !interrupted);
    return NULL;
#undef EXPECT
}

static void test_sockets(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGINT, &action, NULL);
    set_up();
    const char *problem = sockets_problem();
    tear_down();
    if (problem) fail_msg("%s", problem);
    const char *const nowhere[CHANNELS] = {"tcp://256.0.0.1:1", "", "", "", ""};
    assert_non_null(strstr(sockets_open(nowhere), "cannot listen on tcp://256.0.0.1:1: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signature_is_the_standard_s),
        cmocka_unit_test(test_wrong_signatures_are_refused),
        cmocka_unit_test(test_what_is_no_message_is_refused),
        cmocka_unit_test(test_a_message_that_is_sent_again_is_refused),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_text_becomes_json),
        cmocka_unit_test(test_characters_that_come_apart),
        cmocka_unit_test(test_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
