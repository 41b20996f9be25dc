"""JupyterLab's debugger in a browser: a breakpoint in the margin of a cell, a stop, a tensor in the panel, a step, the end of the cell.

Usage: debugger.py KERNEL SCREENSHOT.png. Needs what browser.py needs.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from browser import SETTLE, WAIT, start_server
from playwright.sync_api import sync_playwright

CODE = "function twice(x)\n  local y = x * 2\n  return y\nend\nlocal r = twice(torch.ones(2, 3))\nprint('sum', r:sum():item())"


def has_text(page, text):
    page.wait_for_function("t => document.body.innerText.includes(t)", arg=text, timeout=WAIT // 4)


def debug(page):
    page.wait_for_function("document.querySelector('#jp-main-statusbar')?.textContent.includes('| Idle')", timeout=WAIT)
    page.wait_for_timeout(SETTLE)
    page.locator(".jp-DebuggerBugButton").first.click(timeout=WAIT // 4)
    page.wait_for_selector(".jp-Notebook .cm-breakpoint-gutter", timeout=WAIT // 4)
    page.locator(".jp-Notebook .cm-breakpoint-gutter .cm-gutterElement").nth(2).click()  # the first one measures the width
    page.wait_for_selector(".jp-DebuggerBreakpoint", timeout=WAIT // 4)
    page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".jp-DebuggerCallstack .jp-DebuggerCallstackFrame", timeout=WAIT // 4)
    has_text(page, "tensor [2, 3], torch.float32, cpu")
    frames = page.locator(".jp-DebuggerCallstackFrame").all_inner_texts()
    page.locator("[data-command='debugger:next'], .jp-DebuggerCallstack jp-button[title^='Next'], .jp-DebuggerCallstack button[title^='Next']").first.click()
    page.wait_for_timeout(2000)
    values = page.locator(".jp-DebuggerVariables").first.inner_text()
    page.locator("[data-command='debugger:continue'], .jp-DebuggerCallstack jp-button[title^='Continue'], .jp-DebuggerCallstack button[title^='Continue']").first.click()
    page.wait_for_function("[...document.querySelectorAll('.jp-OutputArea-output')].some(e => e.textContent.includes('12.0'))", timeout=WAIT // 4)
    return frames, values


def main(kernel, screenshot):
    with tempfile.TemporaryDirectory() as folder:
        book = {"cells": [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": CODE}],
                "metadata": {"kernelspec": {"name": kernel, "display_name": kernel, "language": "lua"}}, "nbformat": 4, "nbformat_minor": 4}
        Path(folder, "debug.ipynb").write_text(json.dumps(book))
        server, address = start_server(folder)
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which(os.environ.get("CHROMIUM") or "chromium"),
                                                     args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1400, "height": 1000})
                page.goto(f"{address}lab/tree/debug.ipynb?token=test", timeout=WAIT)
                try:
                    frames, values = debug(page)
                finally:
                    page.screenshot(path=screenshot)
                browser.close()
        finally:
            server.terminate()
            server.wait()
    failures = [f"no '{part}' in {text!r}" for part, text in (("twice", " ".join(frames)), ("y", values)) if part not in text]
    for failure in failures:
        print(failure)
    print(f"{0 if failures else 1} passed, {1 if failures else 0} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
