// site.js - presses "Run all" on the site's page of the GPU chapter, which is opened as a file, in headless Chromium.
//
// Usage: node tests/wasm/site.js SITE
const path = require("path");
const { with_browser } = require("./browser.js");

const [site] = process.argv.slice(2);

with_browser(async browser => {
  await browser.open(path.join(site, "notebooks/use-gpu.html"));
  const result = await browser.run(`
    const buttons = document.querySelectorAll(".lt-run").length;
    document.querySelector(".lt-all").click();
    const outputs = () => [...document.querySelectorAll(".lt-output")].map(output => output.textContent);
    while (outputs().length < buttons || outputs().some(text => text.startsWith("running"))) await new Promise(wake => setTimeout(wake, 100));
    return { buttons, outputs: outputs() };`);
  if (result.error) throw new Error(result.error);
  const text = result.outputs.join("");
  console.log(`${result.buttons} examples ran in the page`);
  if (!text.includes("device='cuda:1'")) throw new Error("no example has run on the second GPU: " + text);
}).catch(error => {
  console.error(error);
  process.exitCode = 1;
});
