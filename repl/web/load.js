/* load.js - starts the program in a web page or in node. It follows Emscripten's code, createLtensor(), and ltensorCode:
 * the WebAssembly, compressed by gzip, in base64, so that a page that is opened as a file can load it. */

/* Options of Emscripten's module. Resolves to the module. */
async function ltensor(options) {
  const packed = Uint8Array.from(atob(ltensorCode), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const wasmBinary = await new Response(stream).arrayBuffer();
  return createLtensor({ wasmBinary, ...options });
}

/* Calls write(text) with the output of the program, of stdout and stderr. flush() writes the rest. */
class LtensorOutput {
  constructor(write) {
    this.write = write;
    this.bytes = [];
    this.decoder = new TextDecoder();
  }
  put(byte) {
    if (byte === null) return;
    this.bytes.push(byte & 255);
    if (byte === 10) this.flush();
  }
  flush() {
    if (this.bytes.length) this.write(this.decoder.decode(Uint8Array.from(this.bytes)));
    this.bytes = [];
  }
}

/* A session of the prompt. */
class LtensorSession {
  /* gpus: the number of simulated GPUs. */
  static async open(gpus) {
    const session = new LtensorSession();
    session.output = new LtensorOutput(text => session.write(text));
    const put = byte => session.output.put(byte);
    session.module = await ltensor({ stdin: () => null, stdout: put, stderr: put });
    session.write = () => {};
    session.call("lt_page_open", ["number"], [gpus]);
    return session;
  }

  call(name, types, values) {
    const done = this.module.ccall(name, "boolean", types, values);
    this.output.flush();
    return done;
  }

  /* Runs a cell; write(text) gets its output. Returns whether it succeeded. */
  run(source, write) {
    this.write = write;
    return this.call("lt_page_run", ["string"], [source]);
  }

  /* Runs a notebook and compares its outputs. */
  check(name, text, write) {
    this.write = write;
    return this.call("lt_page_check", ["string", "string"], [name, text]);
  }
}

if (typeof module === "object") module.exports = { ltensor, LtensorOutput, LtensorSession };
