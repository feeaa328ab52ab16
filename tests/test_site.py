"""The documentation site: it builds without a warning, no link is dead, nothing is missing."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("myst_nb", reason="the site is an extra: driftproof[docs]")

from sphinx.util.inventory import InventoryFile

import driftproof
from docs.generate.errata import instance, sides
from docs.generate.pages import written
from driftproof.cli import Commands, cli
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.claim_view import anchor
from driftproof.verifiers import baseline
from driftproof.verifiers.in_print import errata
from tests.chromium import launched, needs_chromium
from tests.once import once

DOCS = Path(__file__).parents[1] / "docs"


def built(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build a site as ``make docs`` does."""
    words = ["-W", "--keep-going", "-n", "-q", "-d", f"{out}-doctrees"]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *words, str(source), str(out)],
        cwd=DOCS.parent,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    def make(folder):
        made = built(DOCS, folder)
        assert made.returncode == 0, made.stderr
        assert made.stderr == ""

    return once(tmp_path_factory, "site", make)


class Page(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))


@cache
def tags(page: Path) -> list[tuple[str, dict[str, str]]]:
    return Page(page.read_text(encoding="utf-8")).tags


@cache
def anchors(page: Path) -> set[str]:
    return {attributes["id"] for _, attributes in tags(page) if "id" in attributes}


def dead(page: Path) -> Iterator[str]:
    """Yield the targets of a page that are not there: files, anchors, misshapen addresses."""
    targets = [
        attributes[name]
        for _, attributes in tags(page)
        for name in ("href", "src")
        if name in attributes
    ]
    for target in targets:
        parts = urlsplit(target)
        if parts.scheme in ("http", "https", "mailto"):
            wrong = not re.fullmatch(r"[\w.-]+\.\w+", parts.netloc) or " " in target
        else:
            file = page.parent / unquote(parts.path) if parts.path else page
            wrong = bool(parts.scheme or parts.netloc) or not file.is_file()
            if not wrong and parts.fragment and file.suffix == ".html":
                wrong = unquote(parts.fragment) not in anchors(file)
        if wrong:
            yield target


def test_no_link_is_dead(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 35
    found = {page.name: list(dead(page)) for page in pages}
    assert {name: targets for name, targets in found.items() if targets} == {}


def test_the_plots_of_the_phenomena_are_made_by_the_build(site):
    """Rate, drift and bias: each plot that the page asks for is drawn from its claim."""
    text = (DOCS / "phenomena.md").read_text(encoding="utf-8")
    wanted = re.findall(r"```\{plot\} (\S+)\n(?::figure: (\S+)\n)?", text)
    assert len(wanted) == 10
    assert {name.partition("/")[0] for name, _ in wanted} == {
        "comfedl",
        "fednest",
        "scgdm",
        "feddro",
    }
    shown = [attributes["src"] for tag, attributes in tags(site / "phenomena.html") if tag == "img"]
    plots = [target for target in shown if target.startswith("_plots/")]
    assert len(set(plots)) == len(wanted)
    for (name, which), plot in zip(wanted, plots, strict=True):
        assert plot.startswith(f"_plots/{name.replace('/', '-')}-{which or 1}")
        drawn = (site / plot).read_text(encoding="utf-8")
        assert ("right side" if not which else "Case II") in drawn


def test_every_plot_of_a_page_is_one_that_there_is_and_none_is_kept():
    """Each names a claim or an experiment; figures/ has no claim's plot but the README's."""
    claims, experiments = leaves("claim"), leaves("experiment")
    text = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    found = re.findall(r"```\{plot\} (\S+)\n(?::figure: \S+\n)?(?::form: (.+)\n)?", text)
    assert len(found) > 20
    for name, form in found:
        assert name in claims or name in experiments
        if form:
            assert any(fnmatchcase(one.key, form) for one in claims[name].load().forms)
    plots = {file.name for file in (DOCS / "figures").glob("*.svg")}
    slugs = {name.replace("/", "-") for name in claims}
    kept = {plot for plot in plots if re.sub(r"-[^-]+\.svg$", "", plot) in slugs}
    assert kept == {"comfedl-theorem-1-2.svg"}  # the README's
    assert kept <= set(re.findall(r"figures/([\w.-]+)", (DOCS.parent / "README.md").read_text()))


def test_what_is_seen_first_leads_the_table():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    table = index[index.index("\n| | |\n") :]
    assert re.findall(r"\]\((\w+\.md)", table)[0] == "phenomena.md"


@pytest.mark.parametrize("target", ["no.html", "#no", "other.html#no", "ftp://a/b", "https://a b"])
def test_a_dead_link_is_found(tmp_path, target):
    (tmp_path / "other.html").write_text('<p id="there">it</p>', encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text(f'<a href="other.html#there">a</a><a href="{target}">b</a>', encoding="utf-8")
    assert list(dead(page)) == [target]


WRONG = {
    "[it](missing.md)": "missing.md",
    "[it](#missing)": "'missing'",
    "```math\n\\frac{\n```": "cannot be typeset",
    "```no-such-language\nit\n```": "no-such-language",
}


def test_what_is_wrong_on_a_page_stops_the_build(tmp_path):
    source = tmp_path / "docs"
    source.mkdir()
    for name in ("conf.py", "extensions", "_static"):
        copy = shutil.copytree if (DOCS / name).is_dir() else shutil.copy
        copy(DOCS / name, source / name)
    page = source / "index.md"
    page.write_text("# A page\n\n[It](#a-page) is.\n", encoding="utf-8")
    assert built(source, tmp_path / "right").returncode == 0
    page.write_text("# A page\n\n" + "\n\n".join(WRONG), encoding="utf-8")
    made = built(source, tmp_path / "wrong")
    assert made.returncode != 0
    told = made.stderr.splitlines()
    for said in WRONG.values():
        assert sum(said in line for line in told) == 1, made.stderr


def test_the_site_asks_nothing_of_the_network(site):
    for page in site.rglob("*.html"):
        for tag, attributes in tags(page):
            if tag in ("script", "link", "img", "iframe"):
                assert "//" not in attributes.get("src", attributes.get("href", "")), page


def test_every_formula_is_typeset(site):
    for page in [*DOCS.glob("*.md"), *DOCS.glob("errata/*.md")]:
        written = page.read_text(encoding="utf-8").count("```math\n")
        shown = (site / page.relative_to(DOCS)).with_suffix(".html").read_text(encoding="utf-8")
        assert shown.count('<div class="formula"><math') == written, page.name
    assert "font/woff2" in (site / "_static" / "formulas.css").read_text(encoding="utf-8")


def test_the_reference_has_every_public_name_leaf_and_command(site):
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    told = {name for kind, names in inventory.data.items() if kind[:3] == "py:" for name in names}
    modules = {"algorithms", "datasets", "experiments", "networks", "problems", "splits"}
    missing = [
        name
        for name in driftproof.__all__
        if f"driftproof.{name}"
        not in told | {f"driftproof.{module}" for module in modules | {"strategies"}}
    ]
    assert missing == []
    for module in ("classes", "datasets", "experiments", "networks", "strategies"):
        names = getattr(__import__(f"driftproof.{module}"), module).__all__
        assert [n for n in names if f"driftproof.{module}.{n}" not in told] == []
    for kind in ("problem", "algorithm", "network", "split", "dataset"):
        symbols = {leaf.symbol for leaf in leaves(kind).values()}
        assert {s for s in symbols if f"driftproof.{kind}s.{s}" not in told} == set()
    assert isinstance(cli, Commands)
    page = anchors(site / "reference" / "commands.html")
    assert {f"driftproof-{name}" for name in cli.list_commands(None)} <= page


def test_the_errata_are_up_to_date_and_each_has_its_anchor(site):
    page = (DOCS / "errata.md").read_text(encoding="utf-8")
    assert written(page) == page, "python -m docs.generate"
    assert baseline.errata() == json.loads(json.dumps(errata.errata())), "the same command"
    claims = [entry["claim"] for entry in errata.errata()]
    assert len(claims) == len(set(claims)) > 30
    assert {anchor(claim) for claim in claims} <= anchors(site / "errata.html")
    for claim in claims:
        assert f"errata.html\\#{anchor(claim)}," in page


def test_an_erratums_bibtex_is_ascii_and_closed():
    page = (DOCS / "errata.md").read_text(encoding="utf-8")
    entries = re.findall(r"```bibtex\n(.*?)```", page, re.S)
    keys = [re.match(r"@misc\{([\w.-]+),\n", entry)[1] for entry in entries]
    assert len(set(keys)) == len(keys) == len(errata.errata())
    for entry in entries:
        assert entry.isascii()
        assert entry.count("{") == entry.count("}")


def test_each_erratum_says_its_instance_its_reason_and_its_authors():
    page = (DOCS / "errata.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", page, re.M | re.S))
    assert list(entries) == [entry["claim"] for entry in errata.errata()]
    for claim, text in entries.items():
        assert text.count("**What it changes:** ") == 1
        assert text.count("**Why:** ") == 1
        assert text.count("**Instance:** ") == text.count(".py`]"), claim
        assert "note   = {The paper, " in text
        heading = re.sub(r"[^\w-]", "", claim)
        assert f"](#{heading}) |" in page


def test_a_script_that_hides_its_instance_is_named(tmp_path):
    script = tmp_path / "silent.py"
    script.write_text(
        '"""It is false.\n\nThe instance has d = 1.\nNo noise.\n"""', encoding="utf-8"
    )
    assert instance(script, "mine/claim") == "d = 1. No noise."
    script.write_text('"""It is false."""', encoding="utf-8")
    with pytest.raises(DriftproofError, match=r"silent\.py"):
        instance(script, "mine/claim")


def test_a_script_that_fails_is_named(tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("assert False", encoding="utf-8")
    with pytest.raises(DriftproofError, match=r"broken\.py"):
        sides(script, "mine/claim")


@pytest.mark.parametrize("name", ["errata", "comfedl", "scgdm", "feddro", "fednest"])
def test_no_index_in_words_is_left_as_typed(site, name):
    page = (site / f"{name}.html").read_text(encoding="utf-8")
    words = re.sub(r"<(code|pre|math|script|title)\b.*?</\1>|<[^>]*>", " ", page, flags=re.S)
    assert re.findall(r"(?<![\w.])[A-Za-zα-ω][_^][a-z0-9]\b", words) == []
    assert re.search("<sub>[a-z]</sub>", page)


FORMULAS = ("errata", "feddro", "errata/scgdm-theorem-3-4", "errata/on-feddro")
SCROLLING = """[...document.querySelectorAll('.formula')]
    .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.textContent)"""


@needs_chromium
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_open_from_disk_without_trouble(site, width):
    names = ("index", "tutorial", "errata", "feddro", "claims", "reference/problems", "gallery")
    names += ("errata/scgdm-theorem-3-4", "errata/on-feddro")
    with launched() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900})
        troubles = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda m: m.type == "error" and troubles.append(m.text))
        page.on("request", lambda r: r.url.startswith("http") and troubles.append(r.url))
        for name in names:
            page.goto((site / f"{name}.html").as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, name  # what is wider scrolls by itself
            high = page.evaluate("document.documentElement.scrollHeight")
            assert width > 1000 or name not in ("errata", "gallery") or high < 30_000, name
            if width > 1000 and name in FORMULAS:
                assert page.evaluate(SCROLLING) == [], name  # formulas fit the column
        assert page.evaluate("document.querySelectorAll('h1').length") == 1
    assert troubles == []
