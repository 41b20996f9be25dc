"""What a language server of Lua says of the annotations for editors: python3 tests/editors/check.py FOLDER FILE...

FOLDER has the annotations (build/meta, by make docs). Each of them has to be without an error or a warning, and each FILE has what its
comments say:

    local y = torch.ones(2)   --: torch.Tensor         the type that the server knows of the name before the sign =
    torch.ones(2, 'three')    --! param-type-mismatch  the code of a complaint about the line

The server is emmylua_ls or lua-language-server, as found on PATH or named by LUA_SERVER; it is spoken to by its protocol (LSP).
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WARNING = 2  # LSP: 1 is an error, 2 a warning, 3 information, 4 a hint


class Server:
    def __init__(self, command, folder):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
        self.number = 0
        self.published = {}
        uri = folder.as_uri()
        self.ask("initialize", processId=os.getpid(), rootUri=uri, workspaceFolders=[{"uri": uri, "name": "annotations"}],
                 capabilities={"workspace": {"configuration": True, "workspaceFolders": True}, "window": {"workDoneProgress": True},
                               "textDocument": {"hover": {"contentFormat": ["plaintext"]}, "diagnostic": {}, "publishDiagnostics": {}}})
        self.tell("initialized")

    def send(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.send({"method": method, "params": params})

    def read(self):
        length = 0
        while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        if length == 0:
            sys.exit("editors: the language server has ended")
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, **params):
        self.number += 1
        number = self.number
        self.send({"id": number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message.get("result")
            if message.get("method") == "textDocument/publishDiagnostics":
                self.published[message["params"]["uri"]] = message["params"]["diagnostics"]
            elif "id" in message:  # settings, progress: nothing is set
                items = message.get("params", {}).get("items", []) if isinstance(message.get("params"), dict) else []
                self.send({"id": message["id"], "result": [None] * len(items) if items else None})

    def complaints(self, path):
        report = self.ask("textDocument/diagnostic", textDocument={"uri": path.as_uri()})
        return [d for d in report.get("items", []) if d.get("severity", WARNING) <= WARNING]

    def hover(self, path, line, column):
        found = self.ask("textDocument/hover", textDocument={"uri": path.as_uri()}, position={"line": line, "character": column})
        contents = found["contents"] if found else ""
        return contents["value"] if isinstance(contents, dict) else str(contents)

    def close(self):
        self.ask("shutdown")
        self.tell("exit")
        self.process.wait(10)


def main():
    source, files = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    command = os.environ.get("LUA_SERVER") or shutil.which("emmylua_ls") or shutil.which("lua-language-server")
    if not command:
        sys.exit("editors: neither emmylua_ls nor lua-language-server is on the PATH")
    failed = passed = 0

    def tell(ok, text):
        nonlocal failed, passed
        passed, failed = passed + ok, failed + (not ok)
        if not ok:
            print(text)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        for file in [*source.glob("*.lua"), *files]:
            shutil.copy(file, folder)
        (folder / ".luarc.json").write_text(json.dumps({"runtime": {"version": "Lua5.4"}}))
        server = Server([command], folder)
        for path in sorted(folder.glob("*.lua")):
            text = path.read_text()
            server.tell("textDocument/didOpen", textDocument={"uri": path.as_uri(), "languageId": "lua", "version": 1, "text": text})
            expected = {n: m[1] for n, line in enumerate(text.split("\n")) if (m := re.search(r"--! (\S+)", line))}
            complaints = server.complaints(path)
            for c in complaints:
                line = c["range"]["start"]["line"]
                tell(expected.get(line) == c.get("code"), f"{path.name}:{line + 1}: {c.get('code')}: {c['message']}")
            for line, code in expected.items():
                tell(any(c["range"]["start"]["line"] == line for c in complaints), f"{path.name}:{line + 1}: nothing was said, not even {code}")
            for line, words in enumerate(text.split("\n")):
                if m := re.search(r"--: (.*)$", words):
                    at = re.match(r"\s*(?:local )?([\w, ]+?) =", words)
                    said = server.hover(path, line, at.end(1) - 1)
                    tell(m[1].strip() in said, f"{path.name}:{line + 1}: expected {m[1].strip()}, the server knows: {said}")
            tell(True, "")
        server.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
