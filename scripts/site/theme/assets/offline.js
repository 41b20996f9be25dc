/* Search in pages that are opened as files. Browsers forbid fetch and workers for such pages, so the index is loaded as a
 * script, and the worker's script runs in a frame of the page. */
if (location.protocol === "file:") {
  const root = __site.replace(/\/?$/, "/");

  __search.index = new Promise(resolve => {
    window.__found_index = resolve;
    const script = document.createElement("script");
    script.src = root + "search/search_index.js";
    document.head.appendChild(script);
  });

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      script.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        for (const data of waiting) this.postMessage(data);
      };
      frame.contentDocument.body.appendChild(script);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.inner.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {}
  };
}
