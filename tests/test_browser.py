"""The page in Chromium: no network, no script error, every plot drawn, usable by keyboard."""

from __future__ import annotations

import shutil

import pytest

from tests.commands import driftproof
from tests.once import every_claim, experiment

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "google-chrome")) if p), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

HOSTILE = """
from driftproof import bound, each, grid, sq
from synthetic.problems import BoundedComposition
from toolkit.algorithms import ComFedL

def right(c):
    return (c.tau * c.eta * c.G_g * c.G_f) ** 2


@bound(
    name="own/<img src=x onerror=document.title='ERROR'></script><script>1</script>",
    source="<b>bold</b> & \\"quoted\\"",
    statement=r"</math><script>document.title='ERROR'</script>x \\le y",
    cases=grid(BoundedComposition(distance=100.0), ComFedL(local_steps=2), rounds=2),
    explain="<script>document.title='ERROR'</script>",
    right=right,
    range=right,
)
def hostile(view):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as made:
        held = made.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield held
        held.close()


@pytest.fixture
def opened(browser):
    """Open a page; whatever it logs as an error or asks of the network is kept."""
    contexts = []

    def open_(path, **options):
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        page.troubles = []
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("console", lambda m: m.type == "error" and page.troubles.append(m.text))
        page.on(
            "request", lambda r: r.url.startswith(("file", "data")) or page.troubles.append(r.url)
        )
        page.goto(f"file://{path}")
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def verified(tmp_path_factory):
    return every_claim(tmp_path_factory) / "index.html"


def names(page):
    return page.locator("#summary tbody tr:visible th").all_inner_texts()


SCROLL = """async () => {
  for (const [number, plot] of document.querySelectorAll(".plot").entries()) {
    plot.scrollIntoView();
    for (let frame = 0; frame < 300 && !plot.querySelector("canvas"); frame++)
      await new Promise(requestAnimationFrame);
    if (!plot.querySelector("canvas")?.checkVisibility()) return `plot ${number} is not drawn`;
  }
  return "";
}"""


def scrolled(page):
    """Scroll through the page, so that every plot comes into view, and is drawn when it does."""
    assert page.evaluate(SCROLL) == ""


def test_every_plot_is_drawn_and_nothing_goes_wrong(opened, verified):
    page = opened(verified)
    assert page.locator(".plot").count() > 10
    scrolled(page)
    assert page.locator(".plot[data-drawn=yes]").count() == page.locator(".plot").count()
    assert page.troubles == []


def test_filter_ticks_and_sorting(opened, verified):
    page = opened(verified)
    every = names(page)
    page.get_by_label("Filter").fill("lemma-2")
    assert set(names(page)) == {"comfedl/lemma-2"}
    assert page.locator("#shown").inner_text() == f"1 of {len(every)} rows shown"
    page.get_by_label("Filter").fill("no such row")
    assert names(page) == []
    assert page.locator("#none").is_visible()
    page.get_by_label("Filter").fill("")
    head = page.get_by_role("button", name="Claim")
    head.click()
    assert names(page) == sorted(every)
    head.press("Enter")
    assert names(page) == sorted(every, reverse=True)
    page.get_by_role("checkbox", name="SUPPORTED").uncheck()
    badges = page.locator("#summary tbody tr:visible .badge").all_inner_texts()
    assert badges
    assert "SUPPORTED" not in badges


def test_the_keyboard_reaches_what_the_mouse_does(opened, verified):
    page = opened(verified)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the verdicts"
    reached = set()
    links = page.locator("header a, section[aria-labelledby=errata] a").count()
    for _ in range(16 + links):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert {"INPUT", "BUTTON"} <= reached
    labels = page.evaluate("[...document.querySelectorAll('input')].map(i => i.labels.length > 0)")
    assert all(labels)
    unnamed = page.evaluate(
        "[...document.querySelectorAll('[role=img],[role=region]')].filter("
        "e => !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')).length"
    )
    assert unnamed == 0
    assert page.evaluate("[...document.querySelectorAll('th')].every(t => t.scope)")


CONTRAST = """() => {
  const light = c => { const mixed = c.startsWith("color(");  // of 1, not of 255
    const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => { x /= mixed ? 1 : 255;
    return x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; });
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  const behind = e => { for (; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; }
    return getComputedStyle(document.body).backgroundColor; };
  let worst = 21;
  for (const e of document.querySelectorAll("h1,h2,p,td,th,small,a,summary,.badge,code,dd,label")) {
    if (!e.innerText || !e.offsetParent) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
    worst = Math.min(worst, (a + .05) / (b + .05));
  }
  return worst;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_colour_schemes(opened, verified, scheme):
    """WCAG 2 asks for 4.5 : 1."""
    page = opened(verified, color_scheme=scheme)
    assert page.evaluate(CONTRAST) >= 4.5
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")


def test_a_phone_does_not_scroll_sideways(opened, verified):
    page = opened(verified, viewport={"width": 390, "height": 800}, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    scrolled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.troubles == []


def test_print_opens_every_fold_and_draws_every_plot(opened, verified):
    page = opened(verified)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".plot[data-drawn=yes]").count() == page.locator(".plot").count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(page.pdf()) > 50_000
    assert page.locator("details:not([open])").count() > 0


def test_a_hostile_claim_is_shown_as_text(opened, tmp_path):
    (tmp_path / "mine.py").write_text(HOSTILE, encoding="utf-8")
    out = tmp_path / "r"
    made = driftproof("verify", str(tmp_path / "mine.py"), "--workers", "1", "--out", str(out))
    assert made.returncode == 0, made.stderr
    page = opened(out / "index.html")
    scrolled(page)
    assert "ERROR" not in page.title()
    assert "<img src=x" in page.locator("#summary").inner_text()
    assert page.locator("#summary img").count() == 0
    assert page.troubles == []


def test_the_page_of_an_experiment(opened, tmp_path_factory):
    folder, _ = experiment(tmp_path_factory, "comfedl/imbalanced")
    page = opened(folder / "index.html")
    scrolled(page)
    assert page.locator(".plot").count() == 5
    assert page.troubles == []


def test_a_path_is_shown_as_an_image(opened, tmp_path_factory):
    folder, _ = experiment(tmp_path_factory, "feddro/adult-fairness")
    page = opened(folder / "index.html")
    scrolled(page)
    assert page.locator("img").count() == 4
    widths = page.locator("img").evaluate_all("all => all.map(i => i.naturalWidth)")
    assert min(widths) > 0
    assert page.troubles == []


def test_the_page_of_a_difference(opened, verified, tmp_path):
    folder = shutil.copytree(verified.parent, tmp_path / "r")
    made = driftproof("report", str(folder), str(folder))
    assert made.returncode == 0, made.stderr
    assert "0 changes" in made.stdout
    page = opened(folder / "difference.html")
    assert "Nothing: the same rows" in page.locator("main").inner_text()
    assert page.troubles == []
