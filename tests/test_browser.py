"""The page in Chromium: no network, no script error, every plot drawn, usable by keyboard.

Whatever a page does in answer is waited for (``expect``), and never read at once.
"""

import io
import re
import shutil

import pytest
from PIL import Image, ImageStat
from playwright.sync_api import expect

from tests.chromium import launched, needs_chromium
from tests.commands import driftproof
from tests.once import every_claim, experiment

pytestmark = needs_chromium
PATIENCE = 60_000
"""Milliseconds in which a page answers, beside whatever else the machine does."""


@pytest.fixture(scope="module")
def browser():
    expect.set_options(timeout=PATIENCE)
    with launched() as held:
        yield held


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
    return page.locator("#summary tbody tr:visible th")


def unfolded(page):
    """Open every claim, and the table of all forms."""
    if page.locator("article").count() > 1:
        page.get_by_role("button", name="Open all").click()
    page.locator("#table > summary").click()


NEXT = """() => {
  const plot = document.querySelector(".plot:not([data-drawn=yes])");
  plot?.scrollIntoView();
  return !plot;
}"""


def scrolled(page):
    """Scroll through the page, so that every plot comes into view, and is drawn when it does."""
    if page.locator("article details.claim:not([open])").count():
        unfolded(page)
    page.wait_for_function(NEXT, timeout=PATIENCE)
    assert page.locator(".plot").evaluate_all(
        "all => all.every(plot => plot.querySelector('canvas').checkVisibility())"
    )


def test_every_plot_is_drawn_with_a_legend_and_whole_ticks_and_nothing_goes_wrong(opened, verified):
    """A legend shows each curve as it is drawn; ticks of whole numbers are whole."""
    page = opened(verified)
    assert page.locator(".plot").count() > 10
    scrolled(page)
    expect(page.locator(".plot:not([data-drawn=yes])")).to_have_count(0)
    for plot in page.locator(".plot").all():
        entries = plot.locator(".curves li")
        texts = entries.all_inner_texts()
        assert len(texts) == len(set(texts))
        assert not any(text.strip() in ("low", "high") for text in texts)
        swatches = entries.locator("svg").evaluate_all("all => all.map(s => s.innerHTML)")
        assert len(swatches) == len(set(swatches))
    ticks = page.evaluate(
        """() => [...document.querySelectorAll(".plot")].map(p => p.uplot)
          .filter(u => u.data[0].every(Number.isInteger) && u.scales.x.distr !== 3)
          .map(u => u.axes[0]._splits)"""
    )
    assert len(ticks) > 10
    for of_plot in ticks:
        assert all(float(tick).is_integer() for tick in of_plot)
    button = page.locator(".plot .curves button").first
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert page.troubles == []


def test_filter_ticks_and_sorting(opened, verified):
    page = opened(verified)
    page.locator("#table > summary").click()
    every = names(page).all_inner_texts()
    of_lemma = every.count("comfedl/lemma-2")
    page.get_by_label("Filter").fill("lemma-2")
    expect(names(page)).to_have_text(["comfedl/lemma-2"] * of_lemma)
    expect(page.locator("#shown")).to_have_text(
        re.compile(rf"{of_lemma} of {len(every)} forms shown\s*$")
    )
    page.get_by_label("Filter").fill("no such row")
    expect(names(page)).to_have_count(0)
    expect(page.locator("#none")).to_be_visible()
    page.get_by_label("Filter").fill("")
    head = page.get_by_role("button", name="Claim")
    head.click()
    expect(names(page)).to_have_text(sorted(every))
    head.press("Enter")
    expect(names(page)).to_have_text(sorted(every, reverse=True))
    page.get_by_role("checkbox", name="SUPPORTED").uncheck()
    badges = page.locator("#summary tbody tr:visible td[data-label=verdict] .badge")
    expect(badges.filter(has_text=re.compile("^SUPPORTED$"))).to_have_count(0)
    assert badges.count()


def test_the_filter_hides_what_it_leaves_out_everywhere(opened, verified):
    page = opened(verified)
    articles = page.locator("article:visible")
    every = articles.count()
    assert every > 100
    page.get_by_label("Filter").fill("equation-6 comfedl")
    wanted = "article[id^=comfedl-equation-6]:visible"
    expect(page.locator("article:not([id^=comfedl-equation-6]):visible")).to_have_count(0)
    left = page.locator(wanted).count()
    assert left
    expect(page.locator(".paper:visible")).to_have_count(1)
    expect(page.locator("#shown")).to_have_text(re.compile(rf"^\s*{left} of {every} claims"))
    page.get_by_label("Filter").fill("")
    expect(articles).to_have_count(every)


def test_a_link_opens_the_claim_that_it_leads_to(opened, verified):
    page = opened(verified)
    assert page.locator("details.claim[open], details.evidence[open]").count() == 0
    link = page.locator("#errata ~ ol a").first
    claim = page.locator(f"[id='{link.get_attribute('href')[1:]}'] > details")
    link.click()
    expect(claim).to_have_attribute("open", "")
    claim.locator("> summary").click()
    expect(claim).not_to_have_attribute("open", "")
    link.click()  # again: the address is the same
    expect(claim).to_have_attribute("open", "")
    tile = page.locator(".tiles a[href='#comfedl-lemma-2']")
    expect(tile).to_have_attribute("title", "comfedl/lemma-2: SUPPORTED")
    tile.click()
    expect(page.locator("#comfedl-lemma-2 > details")).to_have_attribute("open", "")
    again = opened(f"{verified}#scgdm-lemma-4.1")
    expect(again.locator("[id='scgdm-lemma-4.1'] > details")).to_have_attribute("open", "")
    assert page.troubles == again.troubles == []


def test_a_button_copies_the_command(opened, verified):
    page = opened(f"{verified}#comfedl-lemma-2")
    repeat = page.locator("#comfedl-lemma-2 .repeat")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    repeat.get_by_role("button", name="copy").first.click()
    repeat.get_by_role("button", name="copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "driftproof verify comfedl/lemma-2 --profile smoke --seed 0"
    assert page.troubles == []


def test_without_leave_to_copy_the_command_is_selected(opened, verified):
    page = opened(f"{verified}#comfedl-lemma-2")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(Error()); }")
    repeat = page.locator("#comfedl-lemma-2 .repeat")
    repeat.get_by_role("button", name="copy").first.click()
    repeat.get_by_role("button", name="selected").wait_for()
    selected = page.evaluate("getSelection().toString()")
    assert selected == "driftproof verify comfedl/lemma-2 --profile smoke --seed 0"


def test_the_page_is_short_until_claims_are_opened(opened, verified):
    """It was 187,044 pixels tall, of the profile quick; each of 123 claims has a line or three."""
    page = opened(verified)
    assert page.locator("article").count() > 100
    assert page.evaluate("document.documentElement.scrollHeight") < 20_000


def test_a_formula_that_is_cut_shows_it(opened, verified):
    """A shadow lies on the side to which there is more, and only there."""
    page = opened(verified, viewport={"width": 390, "height": 800}, is_mobile=True)
    unfolded(page)
    cut = page.evaluate_handle(
        """() => [...document.querySelectorAll("article .math")]
          .find(m => m.scrollWidth > m.clientWidth + 60)"""
    ).as_element()
    cut.scroll_into_view_if_needed()

    def darkness():
        with Image.open(io.BytesIO(cut.screenshot())).convert("L") as image:
            edges = (image.crop((x, 0, x + 4, 6)) for x in (0, image.width - 4))
            return [255 - ImageStat.Stat(edge).mean[0] for edge in edges]

    left, right = darkness()
    assert right > left + 10
    cut.evaluate("m => { m.scrollTo(1e6, 0); return new Promise(requestAnimationFrame); }")
    left, right = darkness()
    assert left > right + 10


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


def test_a_phone_does_not_scroll_sideways_and_every_cell_says_what_it_is(opened, verified):
    page = opened(verified, viewport={"width": 390, "height": 800}, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    scrolled(page)
    labels = page.locator("#summary tbody td").evaluate_all(
        "all => all.map(td => getComputedStyle(td, '::before').content)"
    )
    assert {label.strip('"') for label in labels} == {
        "form",
        "verdict",
        "evidence",
        "cases",
        "tightness",
    }
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.troubles == []


FONTS = {
    "the machine's own": "",
    "wide ones": "*{font-family:monospace!important}math,math *{letter-spacing:.06em!important}",
}
"""Sets of fonts, as style sheets. Of every machine's fonts monospaced ones are the widest."""


@pytest.mark.parametrize("fonts", FONTS.values(), ids=FONTS)
def test_paper_has_the_summary_and_what_is_refuted(opened, verified, fonts):
    page = opened(verified)
    page.add_style_tag(content=f"html{{}}{fonts}")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 720, "height": 1000})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    unfolded_ = page.locator("details.claim[open]")
    verdicts = unfolded_.locator("xpath=..").evaluate_all("all => all.map(a => a.dataset.verdict)")
    assert len(verdicts) > 10
    assert set(verdicts) == {"REFUTED"}
    drawn = page.locator(".plot[data-drawn=yes]").count()
    assert drawn == page.locator(".plot:visible").count() > 0
    assert page.locator("article details:not([open]):not(.claim):visible").count() == 0
    assert page.locator("details.evidence[open]:visible").count() > len(verdicts) / 2
    assert not page.get_by_role("heading", name="All forms").is_visible()
    assert page.locator(".key").is_visible()  # what the marks mean
    wide = page.locator(".math:visible, .scroll:visible, pre:visible").evaluate_all(
        "all => all.filter(m => m.scrollWidth > m.clientWidth + 1).map(m => m.innerText)"
    )
    assert wide == []
    if fonts:  # which need room that the paper does not have
        assert page.locator(".math[style*=font-size]").count()
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("details.claim[open], details.evidence[open]")).to_have_count(0)
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
    assert 5 < pages < 60  # 502 with every article and every fold, of the profile quick


def test_the_page_of_an_experiment(opened, tmp_path_factory):
    folder, _ = experiment(tmp_path_factory, "comfedl/imbalanced")
    page = opened(folder / "index.html")
    scrolled(page)
    expect(page.locator(".plot")).to_have_count(5)
    assert page.troubles == []


def test_the_page_of_a_difference(opened, verified, tmp_path):
    folder = shutil.copytree(verified.parent, tmp_path / "r")
    made = driftproof("report", str(folder), str(folder))
    assert made.returncode == 0, made.stderr
    assert "0 changes" in made.stdout
    page = opened(folder / "difference.html")
    expect(page.locator("main")).to_contain_text("Nothing: the same rows")
    assert page.troubles == []
