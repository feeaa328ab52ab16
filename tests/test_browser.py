"""The page in a browser: no script error, every plot drawn, filter and sort work, no network."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.commands import driftproof

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "google-chrome")) if p), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

# Errors go to the title; then the page is used as a reader would, and says what it shows.
WATCH = "<script>window.onerror=(m,s,l,c)=>{document.title='ERROR '+m+' '+l+':'+c}</script>"
# A headless page may get no frame, and so no scrolling: printing draws what is not drawn yet.
USE = """<script>addEventListener("load", () => setTimeout(() => {
  dispatchEvent(new Event("beforeprint"));
  const summary = document.getElementById("summary");
  if (!summary) return;
  const names = () => [...summary.tBodies[0].rows].filter(r => !r.hidden)
    .map(r => r.cells[0].textContent.trim());
  const type = text => { const f = document.getElementById("filter");
    f.value = text; f.dispatchEvent(new Event("input")); };
  const said = {all: names()};
  type("lemma"); said.lemma = names();
  type("no such row"); said.none = names();
  said.noneShown = !document.getElementById("none").hidden;
  type("");
  const head = summary.querySelector("th button"); head.click(); said.up = names();
  head.click(); said.down = names();
  document.querySelector("input[data-verdict=SUPPORTED]").click(); said.unsupported = names();
  const out = document.createElement("pre"); out.id = "said";
  out.textContent = JSON.stringify(said); document.body.append(out);
}, 300));</script>"""


def rendered(page, tmp_path):
    """Return the DOM after scripts ran, in a window so tall that every plot is in view."""
    text = page.read_text(encoding="utf-8").replace("<head>", "<head>" + WATCH + USE, 1)
    (page.parent / "watched.html").write_text(text, encoding="utf-8")
    made = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path}/profile", "--window-size=1200,20000",
         "--virtual-time-budget=5000", "--dump-dom", f"file://{page.parent}/watched.html"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return made.stdout


def plots(dom):
    places = re.findall(r'<div class="plot"[^>]*>', dom)
    return len(places), sum('data-drawn="yes"' in place for place in places)


def test_the_page_of_a_verification(tmp_path):
    import json
    from html import unescape

    made = driftproof(
        "verify", "--profile", "smoke", "--workers", "1", "--out", str(tmp_path / "r")
    )
    assert made.returncode == 0, made.stderr
    dom = rendered(tmp_path / "r" / "index.html", tmp_path)
    assert "ERROR" not in re.search(r"<title>(.*?)</title>", dom)[1]
    there, drawn = plots(dom)
    assert there == drawn > 3
    said = json.loads(unescape(re.search(r'<pre id="said">(.*?)</pre>', dom)[1]))
    assert len(said["all"]) == 7
    assert set(said["lemma"]) == {"comfedl/lemma-1", "comfedl/lemma-2"}
    assert said["none"] == []
    assert said["noneShown"]
    assert said["up"] == sorted(said["all"])
    assert said["down"] == sorted(said["all"], reverse=True)
    assert set(said["unsupported"]) == {"comfedl/theorem-1", "comfedl/remark-1"}


def test_the_page_of_an_experiment(tmp_path):
    made = driftproof(
        "run", "comfedl/imbalanced", "--profile", "smoke", "--workers", "1",
        "--out", str(tmp_path / "r"),
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    dom = rendered(tmp_path / "r" / "index.html", tmp_path)
    assert "ERROR" not in re.search(r"<title>(.*?)</title>", dom)[1]
    there, drawn = plots(dom)
    assert there == drawn == 5
