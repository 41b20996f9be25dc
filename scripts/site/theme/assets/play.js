/* A Run button on each Lua example, and a bar at its top for pages with examples: they run in the page, by ltensor.js,
 * which is loaded at the first use. The examples of a page share a session; those above the one that runs have run
 * before. play.html is a prompt. */
{
  const root = __site.replace(/\/?$/, "/");
  let gpus = 2, session = null;

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const load = () => window.LtensorSession ? Promise.resolve() : new Promise((resolve, reject) => {
    document.head.append(make("script", {
      src: root + "assets/ltensor.js", onload: resolve,
      onerror: () => reject(new Error("assets/ltensor.js is missing: build it with make wasm, then make site")),
    }));
  });

  /* The page is drawn before a cell runs, which blocks it. */
  const drawn = () => new Promise(resolve => setTimeout(resolve, 20));

  const open = async () => {
    if (session) return session;
    await load();
    return session = await LtensorSession.open(gpus);
  };

  /* An example: its block, the output below it, whether it has run in this session. */
  class Example {
    constructor(block) {
      this.block = block;
      this.source = block.querySelector("code").textContent;
      this.button = make("button", { className: "lt-run", textContent: "Run", onclick: () => run(this) });
      block.append(this.button);
    }
    async run() {
      this.output ??= this.block.parentNode.insertBefore(make("pre", { className: "lt-output" }), this.block.nextSibling);
      this.output.textContent = "running …";
      await drawn();
      let text = "";
      this.succeeded = session.run(this.source, part => { text += part; });
      this.output.textContent = text;
      this.output.classList.toggle("lt-failed", !this.succeeded);
      this.ran = session;
    }
  }

  const examples = [];
  const run = async last => {
    try {
      await open();
    } catch (error) {
      alert(error.message);
      return;
    }
    for (const example of examples) {
      if (example === last || example.ran !== session) await example.run();
      if (example === last) break;
    }
  };

  const choose = () => {
    const select = make("select", { className: "lt-gpus", onchange: () => { gpus = Number(select.value); session = null; } });
    for (const n of [0, 1, 2]) select.append(make("option", { value: n, textContent: n, selected: n === gpus }));
    return make("label", {}, "simulated GPUs ", select);
  };

  const prompt = place => {
    const input = make("textarea", { className: "lt-input", rows: 6, spellcheck: false, value: "torch.ones(2, 3, {device = try_gpu()})" });
    const log = make("div", { className: "lt-log" });
    const go = async () => {
      await open();
      const output = make("pre", { className: "lt-output" });
      log.append(make("pre", { className: "lt-echo", textContent: input.value }), output);
      await drawn();
      output.classList.toggle("lt-failed", !session.run(input.value, part => { output.textContent += part; }));
    };
    input.onkeydown = event => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault();
      go();
    };
    place.append(choose(), log, input, make("button", { className: "lt-go", textContent: "Run (Shift-Enter)", onclick: go }));
  };

  addEventListener("DOMContentLoaded", () => {
    for (const block of document.querySelectorAll(".language-lua.highlight")) examples.push(new Example(block));
    const place = document.getElementById("ltensor-prompt");
    if (place) prompt(place);
    else if (examples.length > 0) {
      const all = make("button", { className: "lt-all", textContent: "Run all", onclick: () => run(examples[examples.length - 1]) });
      const bar = make("div", { className: "lt-bar" }, all, " ", choose());
      examples[0].block.parentNode.insertBefore(bar, examples[0].block);
    }
  });
}
