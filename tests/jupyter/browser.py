"""The GPU chapter typed into JupyterLab in a browser: cell by cell by the keyboard, on two simulated GPUs; then the page is read.

Usage: browser.py KERNEL NOTEBOOK.md SCREENSHOT.png. Needs jupyterlab, playwright (both of Python's index) and a Chromium: $CHROMIUM, else
`chromium`. The kernel is one that `ltensor --kernel install` has told Jupyter of.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

WAIT = 120_000  # milliseconds, on a busy machine
SETTLE = 5_000

# All cells stand on the page, also those that are not in view.
SETTINGS = {"@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"}}


def cells_of(path):
    """The sources of the cells of a Markdown notebook, and whether each is to fail."""
    text = Path(path).read_text()
    found = re.findall(r"^```lua\n(.*?)^```\n((?:\s*^```(?:text|copies).*?^```\n)*)", text, re.S | re.M)
    return [(source.rstrip("\n"), re.search(r"^```text.* error", outputs, re.M) is not None) for source, outputs in found]


def start_server(folder):
    """JupyterLab on a port of its own choice; its process and address."""
    settings = Path(folder, "settings")
    for name, values in SETTINGS.items():
        (settings / name).parent.mkdir(parents=True)
        (settings / name).write_text(json.dumps(values))
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--notebook-dir={folder}", "--ServerApp.token=test",
         "--ServerApp.port=0", "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(settings)})
    for line in server.stderr:
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)
        if address:
            break
    else:
        raise SystemExit("browser.py: JupyterLab did not start")
    subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)  # what it says further
    for _ in range(100):
        try:
            urllib.request.urlopen(address[0] + "api?token=test", timeout=5)
            return server, address[0]
        except OSError:
            time.sleep(0.5)
    raise SystemExit("browser.py: JupyterLab does not answer")


def type_chapter(page, cells):
    """Types each cell and runs it; waits until it is done."""
    page.wait_for_function("document.querySelector('#jp-main-statusbar')?.textContent.includes('| Idle')", timeout=WAIT)
    page.wait_for_timeout(SETTLE)  # what is run before JupyterLab has a kernel is dropped
    page.locator(".jp-Notebook .jp-Cell .cm-content").first.click(timeout=WAIT)
    for number, (source, _) in enumerate(cells, 1):
        page.keyboard.insert_text(source)
        page.keyboard.press("Shift+Enter")
        page.wait_for_function(
            "n => [...document.querySelectorAll('.jp-Notebook .jp-InputPrompt')].some(e => e.textContent.includes(`[${n}]`))",
            arg=number, timeout=WAIT)


def main(kernel, chapter, screenshot):
    cells = cells_of(chapter)
    with tempfile.TemporaryDirectory() as folder:
        book = {"cells": [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": ""}],
                "metadata": {"kernelspec": {"name": kernel, "display_name": kernel, "language": "lua"}}, "nbformat": 4, "nbformat_minor": 4}
        path = Path(folder, "chapter.ipynb")
        path.write_text(json.dumps(book))
        server, address = start_server(folder)
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which(os.environ.get("CHROMIUM") or "chromium"),
                                                     args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1200, "height": 1600})
                page.goto(f"{address}lab/tree/chapter.ipynb?token=test", timeout=WAIT)
                try:
                    type_chapter(page, cells)
                finally:
                    page.screenshot(path=screenshot)
                shown = [area.inner_text() for area in page.locator(".jp-Notebook .jp-Cell-outputArea").all()]
                errors = page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"], .jp-mod-error').count()
                tables = page.locator(".jp-RenderedHTML table").count()
                page.keyboard.press("Control+s")
                page.wait_for_timeout(2000)
                page.screenshot(path=screenshot)
                browser.close()
        finally:
            server.terminate()
            server.wait()
        stored = json.loads(path.read_text())["cells"]
    typed = ["".join(cell["source"]) for cell in stored[: len(cells)]]
    failures = []
    if typed != [source for source, _ in cells]:
        failures.append("the notebook that was saved has other cells than those that were typed")
    for number, (cell, (_, fails), text) in enumerate(zip(stored, cells, shown), 1):
        failed = any(output["output_type"] == "error" for output in cell["outputs"])
        if failed != fails:
            failures.append(f"cell {number} {'failed' if failed else 'did not fail'}: {text}")
        for output in cell["outputs"]:
            # Each number and word of what the kernel said stands on the page; of a tensor's form a table has the numbers.
            said = output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue", "")
            for word in re.findall(r"[\w.-]+", "".join(said)):
                if word not in ("tensor", "dtype", "device") and not word.startswith("torch") and word not in text:
                    failures.append(f"cell {number}: '{word}' does not stand on the page: {text}")
    for failure in failures:
        print(failure)
    print(f"{len(cells)} cells typed, {tables} tables and {errors} outputs on stderr or of errors on the page")
    print(f"{0 if failures else 1} passed, {1 if failures else 0} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
