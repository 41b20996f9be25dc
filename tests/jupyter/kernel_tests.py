"""The kernel under Jupyter's own tests of kernels (the package jupyter_kernel_test), and under what those leave out.

Usage: kernel_tests.py NAME [unittest's arguments], NAME being the kernel that `ltensor --kernel install --name NAME` has told Jupyter of.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import jupyter_kernel_test
import zmq
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel

KERNEL = sys.argv.pop(1)
WAIT = 30  # seconds, on a busy machine

TEXT, SVG, PNG, HTML = "text/plain", "image/svg+xml", "image/png", "text/html"
FIGURE = "torch.utils.plot.lines {1, 4, 9}"


class JupytersTests(jupyter_kernel_test.KernelTests):
    kernel_name = KERNEL
    language_name = "lua"
    file_extension = ".lua"
    code_hello_world = "print 'hello, world'"
    code_stderr = "io.stderr:write 'to stderr'"
    completion_samples = [
        {"text": "torch.arang", "matches": {"arange"}},
        {"text": "torch.ones(2):cums", "matches": {"cumsum", "cumsum_"}},
        {"text": "%wh", "matches": {"who ", "whos "}},
        {"text": "torch.zeros(2, {device = 'cp", "matches": {"cpu"}},
    ]
    complete_code_samples = ["x = 1", "x = 1; x", "print 'a'\nprint 'b'", "%who", "?print", ""]
    incomplete_code_samples = ["for i = 1, 2 do", "x = {1,", "print(", "%time for i = 1, 2 do"]
    invalid_code_samples = ["x = = 1", "end", "1 +* 2"]
    code_page_something = "?torch.arange"
    code_generate_error = "error 'no'"
    code_execute_result = [
        {"code": "1 + 2", "result": "3"},
        {"code": "'a' .. 'b'", "result": "'ab'"},
        {"code": "torch.arange(3)", "result": "tensor([0, 1, 2])"},
        {"code": "torch.arange(3)", "mime": HTML},
        {"code": "{1, 2, x = 3}", "mime": HTML},
        {"code": "nn.Sequential(nn.Linear(2, 3), nn.ReLU())", "mime": HTML},
        {"code": FIGURE, "mime": SVG},
    ]
    code_display_data = [{"code": f"torch.utils.display({FIGURE})", "mime": mime} for mime in (TEXT, SVG, PNG)] + [
        {"code": "torch.utils.display(torch.ones(2, 2))", "mime": HTML}
    ]
    code_history_pattern = "1 + 2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "torch.arange"
    code_clear_output = "torch.utils.display.clear()"


class SubscribersAreWelcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


class KernelCase(unittest.TestCase):
    """A kernel for each class of tests."""

    @classmethod
    def setUpClass(cls):
        cls.manager, cls.client = start_new_kernel(kernel_name=KERNEL, startup_timeout=WAIT)

    @classmethod
    def tearDownClass(cls):
        cls.client.stop_channels()
        cls.manager.shutdown_kernel(now=True)

    def published(self, message_id):
        """What is published for the request until it is done: (type, content)."""
        found = []
        while True:
            message = self.client.get_iopub_msg(timeout=WAIT)
            if message["parent_header"].get("msg_id") != message_id:
                continue
            found.append((message["msg_type"], message["content"]))
            if found[-1] == ("status", {"execution_state": "idle"}):
                return found

    def reply_to(self, message_id):
        while True:
            reply = self.client.get_shell_msg(timeout=WAIT)
            if reply["parent_header"].get("msg_id") == message_id:
                return reply["content"]

    def run_cell(self, code, **options):
        """The reply and what was published without statuses."""
        message_id = self.client.execute(code, **options)
        reply, published = self.reply_to(message_id), self.published(message_id)
        return reply, [(kind, content) for kind, content in published if kind not in ("status", "execute_input")]

    def stream(self, code, name="stdout", **options):
        _, published = self.run_cell(code, **options)
        return "".join(c["text"] for kind, c in published if kind == "stream" and c["name"] == name)


class Cells(KernelCase):
    def test_locals_and_results_live_on(self):
        self.run_cell("local kept = 20 + 1")
        reply, published = self.run_cell("kept * 2")
        self.assertEqual([("execute_result", "42")], [(k, c["data"][TEXT]) for k, c in published])
        self.assertEqual(reply["execution_count"], published[0][1]["execution_count"])
        self.assertEqual("42", self.run_cell("_")[1][0][1]["data"][TEXT])

    def test_what_is_written_comes_in_order_with_what_is_shown(self):
        _, published = self.run_cell("print 'a'; torch.utils.display(1); print 'b'; torch.utils.display(2); print 'c'; 3")
        self.assertEqual(
            ["a\n", "1", "b\n", "2", "c\n", "3"], [c["text"] if kind == "stream" else c["data"][TEXT] for kind, c in published]
        )

    def test_output_of_other_programs(self):
        self.assertEqual("from the shell\n", self.stream("!echo from the shell"))
        self.assertEqual("aside\n", self.stream("os.execute 'echo aside >&2'", "stderr"))

    def test_what_is_written_comes_while_the_cell_runs(self):
        message_id = self.client.execute("print 'early'; os.execute 'sleep 2'; print 'late'")
        times = {}
        while len(times) < 2:
            message = self.client.get_iopub_msg(timeout=WAIT)
            if message["msg_type"] == "stream":
                times[message["content"]["text"]] = time.monotonic()
        self.assertGreater(times["late\n"] - times["early\n"], 1)
        self.reply_to(message_id)

    def test_a_megabyte_and_bytes_that_are_no_text(self):
        self.assertEqual("é" * 500000 + "\n", self.stream("print(('é'):rep(500000))"))
        self.assertEqual("a\ufffdb\ufffd", self.stream("io.write 'a\\xffb\\xc3'"))
        self.assertEqual(r"'a\xFF'", self.run_cell("'a\\xff'")[1][0][1]["data"][TEXT])

    def test_a_display_is_changed_in_its_place(self):
        _, published = self.run_cell("local d = torch.utils.display 'one'; d:update 'two'")
        self.assertEqual(["display_data", "update_display_data"], [kind for kind, _ in published])
        first, second = (c["transient"]["display_id"] for _, c in published)
        self.assertEqual(first, second)

    def test_a_bar_of_progress_is_one_line(self):
        text = self.stream("for i in torch.utils.progress(3) do end", "stderr")
        self.assertIn("\r", text)
        self.assertEqual(1, text.count("\n"))

    def test_a_bar_that_does_not_stay_is_written_over(self):
        text = self.stream("for i in torch.utils.progress(2, {leave = false}) do local t = os.clock() while os.clock() < t + 0.15 do end end", "stderr")
        self.assertNotIn("\n", text)
        self.assertEqual("", text.split("\r")[-2].strip())

    def test_epochs_are_a_figure_that_changes_and_a_line_each(self):
        _, published = self.run_cell(
            "epochs = torch.utils.epochs {total = 3, log = torch.utils.plot.live {pause = 0}}\n"
            "for epoch in epochs do epochs:update(1, {loss = 1 / epoch}) end")
        kinds = [kind for kind, _ in published]
        self.assertEqual(["display_data", "update_display_data", "update_display_data"], [k for k in kinds if "display" in k])
        lines = "".join(c["text"] for kind, c in published if kind == "stream").splitlines()
        self.assertEqual(["epoch 1/3  loss 1", "epoch 2/3  loss 0.5", "epoch 3/3  loss 0.3333"], ["  ".join(line.split("  ")[:2]) for line in lines])

    def test_html_of_tensors_tables_and_modules(self):
        def html(code):
            return self.run_cell(code)[1][-1][1]["data"].get(HTML)

        self.assertIn("<tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr>", html("torch.tensor {{1, 2}, {3, 4}}"))
        self.assertIn("[2, 2], torch.float32, cpu", html("torch.ones(2, 2)"))
        self.assertIn("[2, :, :]", html("torch.ones(2, 2, 2)"))
        self.assertIsNone(html("torch.tensor(1)"))
        self.assertIsNone(html("torch.ones(500)"))
        self.assertIn("<th>a</th><td>&lt;b&gt;</td>", html("{a = '<b>'}").replace("'", ""))
        self.assertIn("<tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr>", html("{{x = 1, y = 2}, {x = 3, y = 4}}"))
        tree = html("nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))")
        self.assertEqual(2, tree.count("<details"))
        self.assertIn("9 parameters", tree)

    def test_an_error_has_a_traceback_in_colours(self):
        reply, published = self.run_cell("local function f() error 'no such luck' end\nf()")
        self.assertEqual(["error"], [kind for kind, _ in published])
        self.assertEqual("error", reply["status"])
        self.assertEqual("no such luck", reply["evalue"])
        self.assertIn("\x1b[31m", reply["traceback"][0])
        self.assertIn("error 'no such luck'", "\n".join(reply["traceback"]))

    def test_silent_cells_leave_no_trace(self):
        self.run_cell("'kept'")
        before = self.run_cell("1")[0]["execution_count"]
        reply, published = self.run_cell("quiet = 5; quiet", silent=True)
        self.assertEqual(("ok", []), (reply["status"], published))
        reply, published = self.run_cell("quiet + 1", store_history=False)
        self.assertEqual("6", published[0][1]["data"][TEXT])
        self.assertEqual("1", self.run_cell("_")[1][0][1]["data"][TEXT])
        self.assertEqual(before + 2, self.run_cell("1")[0]["execution_count"])

    def test_user_expressions(self):
        reply, _ = self.run_cell("v = 6", user_expressions={"good": "v * 7", "bad": "nothing.here", "wrong": "= ="})
        values = reply["user_expressions"]
        self.assertEqual("42", values["good"]["data"][TEXT])
        self.assertEqual(["error", "error"], [values["bad"]["status"], values["wrong"]["status"]])

    def test_an_error_stops_the_cells_that_wait(self):
        ids = [self.client.execute(code) for code in ("os.execute 'sleep 1'; error 'x'", "1", "2")]
        self.assertEqual(["error", "aborted", "aborted"], [self.reply_to(i)["status"] for i in ids])
        ids = [self.client.execute(code, stop_on_error=False) for code in ("error 'x'", "1")]
        self.assertEqual(["error", "ok"], [self.reply_to(i)["status"] for i in ids])

    def test_help_and_loaded_files_are_payloads(self):
        reply, published = self.run_cell("?torch.arange")
        self.assertEqual([], published)
        self.assertIn("arange", reply["payload"][0]["data"][TEXT])

    def test_places_count_characters(self):
        message_id = self.client.complete("x = 'é'; torch.arang", 20)
        reply = self.reply_to(message_id)
        self.assertEqual((["arange"], 15, 20), (reply["matches"], reply["cursor_start"], reply["cursor_end"]))
        self.assertTrue(self.reply_to(self.client.inspect("'é'; torch.arange(1)", 19))["found"])
        self.assertFalse(self.reply_to(self.client.inspect("nobody_knows_this", 3))["found"])


class Interrupts(KernelCase):
    def interrupted(self, code, interrupt):
        message_id = self.client.execute(code)
        time.sleep(1)
        started = time.monotonic()
        interrupt()
        reply = self.reply_to(message_id)
        self.assertEqual(("error", "Interrupted"), (reply["status"], reply["ename"]))
        self.assertLess(time.monotonic() - started, 5)
        self.assertEqual("2", self.run_cell("1 + 1")[1][0][1]["data"][TEXT])

    def test_by_a_signal(self):
        self.interrupted("while true do end", self.manager.interrupt_kernel)
        self.interrupted("while true do pcall(error) end", self.manager.interrupt_kernel)

    def test_by_a_message(self):
        def send():
            self.client.control_channel.send(self.client.session.msg("interrupt_request", {}))
            self.assertEqual("ok", self.client.get_control_msg(timeout=WAIT)["content"]["status"])

        self.interrupted("while true do end", send)
        self.interrupted("os.execute 'sleep 60'; while true do end", lambda: (send(), time.sleep(1), send()))

    def test_while_it_waits_for_input(self):
        self.interrupted("io.read()", self.manager.interrupt_kernel)

    def test_nothing_runs(self):
        os.kill(self.manager.provisioner.pid, signal.SIGINT)
        self.assertEqual("2", self.run_cell("1 + 1")[1][0][1]["data"][TEXT])

    def test_heartbeats_while_a_cell_runs(self):
        message_id = self.client.execute("local s = os.time(); while os.time() < s + 2 do end")
        with zmq.Context() as context, context.socket(zmq.REQ) as heart:
            heart.connect(f"tcp://{self.manager.ip}:{self.manager.hb_port}")
            heart.send(b"beat")
            self.assertTrue(heart.poll(1000))
            self.assertEqual(b"beat", heart.recv())
            heart.linger = 0
        self.reply_to(message_id)


class Input(KernelCase):
    def answered(self, code, *answers):
        message_id = self.client.execute(code, allow_stdin=True)
        for answer in answers:
            self.client.get_stdin_msg(timeout=WAIT)
            self.client.input(answer)
        self.reply_to(message_id)
        return [c["data"][TEXT] for kind, c in self.published(message_id) if kind == "execute_result"][0]

    def test_lines_and_numbers(self):
        self.assertEqual("'a line'", self.answered("io.read()", "a line"))
        self.assertEqual("(12, 'rest')", self.answered("local n = io.read 'n'; io.read(); n, io.read()", "12", "rest"))
        self.assertEqual("'zwei é'", self.answered("io.stdin:read 'l'", "zwei é"))

    def test_ctrl_d_is_the_end(self):
        self.assertEqual("true", self.answered("io.read() == nil", "\x04"))

    def test_a_front_end_without_input(self):
        reply, published = self.run_cell("io.read() == nil", allow_stdin=False)
        self.assertEqual("ok", reply["status"])
        self.assertIn("does not accept input", published[0][1]["text"])


class Strangers(KernelCase):
    def stranger(self, context, channel, kind=zmq.DEALER):
        socket = context.socket(kind)
        socket.linger = 0
        socket.connect(f"tcp://{self.manager.ip}:{getattr(self.manager, channel + '_port')}")
        return socket

    def test_what_is_no_message_is_passed_over(self):
        good = self.client.session.msg("kernel_info_request")
        frames = self.client.session.serialize(good)  # delimiter, signature, header, parent, metadata, content
        wrong = [frames[0], b"0" * 64] + frames[2:]
        lists = self.client.session.sign
        texts = [b"[1, 2]", b"null", b"\xff\xfe", b"{", b'{"msg_type": 1}', b'{"msg_type": "no_such_request"}', b"[" * 100000]
        signed = [[frames[0], lists([t, b"{}", b"{}", b"{}"]), t, b"{}", b"{}", b"{}"] for t in texts]
        header = frames[2]
        contents = [b"[]", b"null", b"7", b"{", b'{"code": [1], "cursor_pos": "x"}', b'{"code": 5, "user_expressions": 4, "n": {}}']
        kinds = ["execute_request", "complete_request", "inspect_request", "is_complete_request", "history_request", "comm_open"]
        for kind in kinds:
            h = header.replace(b"kernel_info_request", kind.encode())
            signed += [[frames[0], lists([h, b"{}", b"{}", c]), h, b"{}", b"{}", c] for c in contents]
        with zmq.Context() as context:
            for channel in ("shell", "control", "stdin"):
                socket = self.stranger(context, channel)
                for message in [[b""], [b"x"] * 50, [b"<IDS|MSG>"], [b"a", b"<IDS|MSG>", b"", b"", b"", b""], wrong] + signed:
                    socket.send_multipart(message)
                time.sleep(0.5)
                socket.close()
            for channel in ("hb", "iopub"):
                socket = self.stranger(context, channel)
                socket.send_multipart([b"\x01" + b"\xff" * 1000, b"", b"more"])
                time.sleep(0.2)
                socket.close()
        self.assertEqual("2", self.run_cell("1 + 1")[1][0][1]["data"][TEXT])

    def test_a_wrong_signature_runs_nothing(self):
        message = self.client.session.msg("execute_request", {"code": "stolen = true", "silent": True})
        frames = self.client.session.serialize(message)
        with zmq.Context() as context:
            socket = self.stranger(context, "shell")
            for signature in (b"", b"0" * 64, frames[1][:-1] + (b"0" if frames[1][-1:] != b"0" else b"1"), frames[1] + b"0"):
                socket.send_multipart([frames[0], signature] + frames[2:])
            self.assertFalse(socket.poll(1500))
            self.assertEqual([], self.run_cell("stolen == nil or error()")[1][1:])
            self.assertEqual("true", self.run_cell("stolen == nil")[1][0][1]["data"][TEXT])
            socket.send_multipart(frames)
            self.assertTrue(socket.poll(WAIT * 1000))
            socket.close()

    def test_comms_that_nobody_answers(self):
        session = self.client.session
        message = session.msg("comm_open", {"comm_id": "c1", "target_name": "jupyter.widget", "data": {}})
        self.client.shell_channel.send(message)
        closed = [c for kind, c in self.published(message["header"]["msg_id"]) if kind == "comm_close"]
        self.assertEqual("c1", closed[0]["comm_id"])
        self.assertEqual({}, self.reply_to(self.client.comm_info())["comms"])


class Debugging(KernelCase):
    """What JupyterLab sends: requests of the Debug Adapter Protocol on the control channel, events on iopub."""

    SOURCE = "function twice(x)\n  local y = x * 2\n  return y\nend\nlocal r = twice(torch.ones(2, 3))\nprint('sum', r:sum():item())"

    def setUp(self):
        self.seq = 0
        self.events = []

    def debug(self, command, **arguments):
        self.seq += 1
        request = {"type": "request", "seq": self.seq, "command": command, "arguments": arguments}
        message = self.client.session.msg("debug_request", request)
        self.client.control_channel.send(message)
        while True:
            reply = self.client.get_control_msg(timeout=WAIT)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                self.assertEqual("debug_reply", reply["msg_type"])
                return reply["content"]

    def event(self, name):
        while True:
            message = self.client.get_iopub_msg(timeout=WAIT)
            if message["msg_type"] == "debug_event" and message["content"]["event"] == name:
                return message["content"]["body"]

    def start(self):
        self.assertTrue(self.debug("initialize", clientID="jupyterlab", adapterID="")["success"])
        self.assertTrue(self.debug("attach")["success"])
        self.event("initialized")

    def run_to_stop(self, code, line):
        path = self.debug("dumpCell", code=code)["body"]["sourcePath"]
        set_ = self.debug("setBreakpoints", source={"path": path}, breakpoints=[{"line": line}], sourceModified=False)
        self.assertEqual([(True, line)], [(b["verified"], b["line"]) for b in set_["body"]["breakpoints"]])
        self.debug("configurationDone")
        message_id = self.client.execute(code)
        self.assertEqual("breakpoint", self.event("stopped")["reason"])
        return path, message_id

    def top(self):
        frame = self.debug("stackTrace", threadId=1)["body"]["stackFrames"][0]
        return frame["source"]["path"], frame["line"]

    def test_a_kernel_has_a_debugger(self):
        self.client.kernel_info()
        self.assertTrue(self.client.get_shell_msg(timeout=WAIT)["content"]["debugger"])
        self.assertTrue(KernelSpecManager().get_kernel_spec(KERNEL).metadata["debugger"])

    def test_stops_in_a_cell_steps_and_shows_a_tensor(self):
        self.start()
        path, message_id = self.run_to_stop(self.SOURCE, 2)
        self.assertEqual((path, 2), self.top())
        info = self.debug("debugInfo")["body"]
        self.assertEqual((True, [1], "Murmur2"), (info["isStarted"], info["stoppedThreads"], info["hashMethod"]))
        self.assertTrue(path.startswith(info["tmpFilePrefix"]) and path.endswith(info["tmpFileSuffix"]))
        self.debug("next", threadId=1)
        self.event("continued")
        self.assertEqual("step", self.event("stopped")["reason"])
        self.assertEqual((path, 3), self.top())
        scopes = self.debug("scopes", frameId=1)["body"]["scopes"]
        locals_ = self.debug("variables", variablesReference=scopes[0]["variablesReference"])["body"]["variables"]
        self.assertEqual(["x", "y"], [v["name"] for v in locals_])
        self.assertEqual("tensor [2, 3], torch.float32, cpu", locals_[1]["value"])
        rich = self.debug("richInspectVariables", variableName="y", frameId=1)["body"]["data"]
        self.assertIn("[2., 2., 2.]", rich[TEXT])
        self.assertIn("<table", rich[HTML])
        self.assertEqual("12.0", self.debug("evaluate", expression="y:sum():item()", frameId=1)["body"]["result"])
        self.assertIn("twice", self.debug("source", source={"path": path})["body"]["content"])
        self.debug("copyToGlobals", srcVariableName="y", dstVariableName="copied", srcFrameId=1)
        self.assertFalse(self.debug("no_such_command")["success"])
        self.debug("continue", threadId=1)
        self.assertEqual("ok", self.reply_to(message_id)["status"])
        self.assertEqual("sum\t12.0\n", "".join(c["text"] for k, c in self.published(message_id) if k == "stream"))
        self.run_cell("nothing = 1")
        inspected = self.debug("inspectVariables")["body"]["variables"]
        tensor = "tensor [2, 3], torch.float32, cpu"  # JupyterLab shows the type of what can be opened
        self.assertEqual({"r": tensor, "copied": tensor, "nothing": "int"}, {
            v["name"]: v["type"] for v in inspected if v["name"] in ("r", "copied", "nothing")})
        self.assertTrue(self.debug("disconnect")["success"])
        self.assertFalse(self.debug("debugInfo")["body"]["isStarted"])

    def test_an_interrupt_and_a_pause_reach_a_cell(self):
        self.start()
        _, message_id = self.run_to_stop(self.SOURCE.replace("twice", "double"), 2)
        self.manager.interrupt_kernel()
        self.assertEqual("Interrupted", self.reply_to(message_id)["ename"])
        message_id = self.client.execute("while not over do end")
        time.sleep(0.5)
        self.debug("pause", threadId=1)
        self.assertEqual("pause", self.event("stopped")["reason"])
        self.debug("evaluate", expression="over = true", frameId=1)
        self.debug("continue", threadId=1)
        self.assertEqual("ok", self.reply_to(message_id)["status"])
        self.debug("setExceptionBreakpoints", filters=["uncaught"])
        message_id = self.client.execute("local gone = 5; error 'no'")
        self.assertEqual("exception", self.event("stopped")["reason"])
        self.debug("continue", threadId=1)
        self.assertEqual("no", self.reply_to(message_id)["evalue"])
        self.debug("disconnect")

    def test_breakpoint_without_a_debugger_reads_commands(self):
        message_id = self.client.execute("local v = 20; breakpoint()", allow_stdin=True)
        for line in ("v + 1", "c"):
            self.client.get_stdin_msg(timeout=WAIT)
            self.client.input(line)
        self.assertEqual("ok", self.reply_to(message_id)["status"])
        self.assertIn("21\n", "".join(c["text"] for k, c in self.published(message_id) if k == "stream"))


class Ends(unittest.TestCase):
    def ended(self, manager):
        for _ in range(10 * WAIT):
            if not manager.is_alive():
                return True
            time.sleep(0.1)
        return False

    def test_shutdown_also_while_a_cell_runs(self):
        for code in ("1", "while true do end"):
            manager, client = start_new_kernel(kernel_name=KERNEL, startup_timeout=WAIT)
            client.execute(code)
            time.sleep(1)
            client.shutdown()
            reply = client.get_control_msg(timeout=WAIT)
            self.assertEqual(("shutdown_reply", False), (reply["msg_type"], reply["content"]["restart"]))
            self.assertTrue(self.ended(manager))
            client.stop_channels()
            manager.cleanup_resources()

    def test_a_kernel_that_starts_again_knows_nothing(self):
        manager, client = start_new_kernel(kernel_name=KERNEL, startup_timeout=WAIT)
        client.execute("known = 1", reply=True, timeout=WAIT)
        manager.restart_kernel()
        client.wait_for_ready(timeout=WAIT)
        reply = client.execute("assert(known == nil)", reply=True, timeout=WAIT)
        self.assertEqual(("ok", 1), (reply["content"]["status"], reply["content"]["execution_count"]))
        client.stop_channels()
        manager.shutdown_kernel(now=True)

    def test_exit(self):
        manager, client = start_new_kernel(kernel_name=KERNEL, startup_timeout=WAIT)
        reply = client.execute("exit()", reply=True, timeout=WAIT)
        self.assertEqual(["ask_exit"], [p["source"] for p in reply["content"]["payload"]])
        self.assertTrue(self.ended(manager))
        client.stop_channels()
        manager.cleanup_resources()


def cells_of(path):
    """The sources of the cells of a Markdown notebook."""
    cells, block = [], None
    for line in path.read_text().splitlines():
        if block is None and line.startswith("```lua"):
            block = []
        elif block is not None and line.startswith("```"):
            cells.append("\n".join(block))
            block = None
        elif block is not None:
            block.append(line)
    return cells


class Notebooks(unittest.TestCase):
    def test_nbconvert_runs_those_of_the_documentation(self):
        try:
            import nbformat
            from nbconvert.preprocessors import ExecutePreprocessor
        except ImportError:
            self.skipTest("nbconvert is not installed")
        program = json.loads(Path(KernelSpecManager().get_kernel_spec(KERNEL).resource_dir, "kernel.json").read_text())["argv"][0]
        os.environ["LTENSOR_SIM_GPUS"] = "2"
        for path in sorted((Path(__file__).resolve().parents[2] / "docs/notebooks").glob("[a-z]*.md")):
            with self.subTest(notebook=path.name), tempfile.NamedTemporaryFile("w", suffix=".ipynb") as file:
                book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells_of(path)])
                ExecutePreprocessor(timeout=10 * WAIT, kernel_name=KERNEL, allow_errors=True).preprocess(book)
                # What the notebook now shows is what the same cells show without Jupyter, but for times.
                for output in (output for cell in book.cells for output in cell.outputs if "text" in output):
                    output.text = re.sub(r"[\d.]+ ms", "<f> ms", output.text)
                nbformat.write(book, file.name)
                checked = subprocess.run([program, "--cells", "--check", file.name], capture_output=True, text=True)
                self.assertEqual(f"{len(book.cells)} passed, 0 failed", checked.stdout.strip(), checked.stderr)


if __name__ == "__main__":
    unittest.main()
