// browser.js - opens pages as files in headless Chromium and runs scripts in them, by chromedriver.
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

// Resolves to the port that chromedriver has chosen.
function port_of(driver) {
  return new Promise((resolve, reject) => {
    let text = "";
    driver.stdout.on("data", data => {
      text += data;
      const found = text.match(/successfully on port (\d+)/);
      if (found) resolve(found[1]);
    });
    driver.on("error", reject);
    driver.on("exit", () => reject(new Error("chromedriver has exited: " + text)));
  });
}

// Calls body(browser) with {open(path), run(script)}. run resolves to the value that the script passes to `done`.
async function with_browser(body) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "ltensor-browser-"));
  const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const base = `http://127.0.0.1:${await port_of(driver)}/session`;
    const request = async (method, url, data) => {
      const reply = await fetch(url, { method, body: data && JSON.stringify(data) });
      const { value } = await reply.json();
      if (value && value.error) throw new Error(`${value.error}: ${value.message}`);
      return value;
    };
    const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--allow-file-access-from-files=false", `--user-data-dir=${profile}`];
    const { sessionId } = await request("POST", base, { capabilities: { alwaysMatch: { "goog:chromeOptions": { args } } } });
    const session = `${base}/${sessionId}`;
    await request("POST", `${session}/timeouts`, { script: 300000 });
    try {
      await body({
        open: file => request("POST", `${session}/url`, { url: "file://" + path.resolve(file) }),
        run: (script, ...values) => request("POST", `${session}/execute/async`,
          { script: `const done = arguments[arguments.length - 1]; (async (...values) => {${script}})(...[...arguments].slice(0, -1))` +
            ".then(done, error => done({ error: String(error.stack) }))", args: values }),
      });
    } finally {
      await request("DELETE", session);
    }
  } finally {
    driver.kill();
    fs.rmSync(profile, { recursive: true, force: true });
  }
}

module.exports = { with_browser };
