// notebook.js - runs a notebook in headless Chromium, in a page that is opened as a file, with 0, 1 and 2 simulated GPUs, and
// compares its outputs. Prints the time to the first value.
//
// Usage: node tests/wasm/notebook.js NOTEBOOK
const fs = require("fs");
const path = require("path");
const { with_browser } = require("./browser.js");

const [notebook] = process.argv.slice(2);

with_browser(async browser => {
  for (const gpus of [0, 1, 2]) {
    await browser.open(path.join(__dirname, "page.html"));
    const result = await browser.run(`
      const [name, text, gpus] = values;
      const session = await LtensorSession.open(gpus);
      let first = "", output = "";
      session.run("torch.ones(2, 3, {device = try_gpu()})", part => { first += part; });
      const seconds = performance.now() / 1000;
      const passed = session.check(name, text, part => { output += part; });
      return { first, seconds, passed, output };`, path.basename(notebook), fs.readFileSync(notebook, "utf8"), gpus);
    if (result.error) throw new Error(result.error);
    process.stdout.write(result.output);
    console.log(`${gpus} GPUs: first value after ${result.seconds.toFixed(2)} s`);
    if (!result.first.includes("[1., 1., 1.]")) throw new Error("wrong first value: " + result.first);
    if (!result.passed) process.exitCode = 1;
  }
}).catch(error => {
  console.error(error);
  process.exitCode = 1;
});
