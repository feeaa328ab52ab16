"""Names, statements and labels that somebody else wrote are text: on pages, plots and in LaTeX.

Every string of a ledger is made hostile, and the command makes its pages again. A browser then runs
no script of theirs and fetches nothing, with the page's own policy and without it: escaping alone
has to do.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.verdict import Evidence, Verdict
from tests.chromium import launched, needs_chromium
from tests.commands import driftproof
from tests.once import experiment, once

SCRIPT = "window.ran='ran'"
PAYLOADS = (
    f"<script>{SCRIPT}</script>", f'"><img src=http://a.invalid/x onerror="{SCRIPT}">',
    f"</style><script>{SCRIPT}</script>", f"</script><script>{SCRIPT}</script>",
    f"</title><svg onload={SCRIPT}>", f"<!--<script>{SCRIPT}</script>", f"]]><script>{SCRIPT}",
    f"javascript:{SCRIPT}", f"' onmouseover='{SCRIPT}", "<base href=http://a.invalid/>",
    "<link rel=stylesheet href=http://a.invalid/x.css>", "<meta http-equiv=refresh content=0>",
    rf"\text{{<script>{SCRIPT}</script>}}", rf"\href{{javascript:{SCRIPT}}}{{x}}",
    r"\style{background:url(http://a.invalid/x)}{y}", r"\mbox{<img src=http://a.invalid/x>}",
    "&lt;script&gt;&#60;b&#62;", "{{ 7 * 7 }}{% raw %}", "\u202e\u2066txt.exe", "\x01\x1b[31m",
    r"$\frac{$", "$_^$", r"\input{/etc/passwd}\write18{id}", "/*font*/", "``</code><b>``",
    "**<b>**",
)  # fmt: skip
WORDS = {
    *Verdict, *Evidence, "bound", "rate", "identity", "existence", "comparison", "proof", "printed",
    "corrected", "sibling", "literal", "intended", "narrower", "wider", "each", "round",
    "average", "experiment", "reproduced", "not reproduced", "fatal", "local", "x", "y", "xy", "",
    "quick", "full", "smoke",
}  # fmt: skip
"""What the program itself says, and reads again."""


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory):
    """The ledger of a few claims of several kinds, and that of an experiment."""

    def make(folder: Path) -> None:
        select = ["comfedl/lemma-2", "comfedl/lemma-1-proof-journal", "localsgd/gradient-descent"]
        words = ["--profile", "smoke", "--workers", "1", "--out", str(folder)]
        assert driftproof("verify", *select, *words).returncode == 0

    claims = once(tmp_path_factory, "three-claims", make)
    return {"claims": claims, "experiment": experiment(tmp_path_factory, "comfedl/imbalanced")[0]}


def poisoned(value, keys=("claims", "instance")):
    """Return a JSON value whose strings each end in something hostile, the same string always."""
    if isinstance(value, str):
        number = sum(value.encode(errors="replace")) % len(PAYLOADS)
        return value if value in WORDS else value + PAYLOADS[number] + PAYLOADS[number - 1]
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    if isinstance(value, dict):
        return {
            key: {poisoned(k): poisoned(v) for k, v in item.items()}
            if key in keys and isinstance(item, dict)
            else item
            if key in ("command_line", "key", "how", "type")
            else poisoned(item)
            for key, item in value.items()
        }
    return value


def read(folder):
    with Ledger(folder / "ledger.sqlite", create=False) as ledger:
        return ledger.latest()


def rewritten(head, rows, folder):
    """Return a folder whose page was made from these, by the command."""
    with Ledger(folder / "ledger.sqlite") as ledger:
        ledger.finish(head, rows)
    made = driftproof("report", str(folder), cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def hostile(ledgers, tmp_path_factory):
    """Folders with the pages of poisoned ledgers."""
    made = {}
    for name, folder in ledgers.items():
        head, rows = read(folder)
        made[name] = rewritten(poisoned(head), poisoned(rows), tmp_path_factory.mktemp(name))
    other = tmp_path_factory.mktemp("other")
    shutil.copy(ledgers["claims"] / "ledger.sqlite", other)
    compared = driftproof("report", str(made["claims"]), str(other))
    assert compared.returncode == 0, compared.stderr
    return [
        made["claims"] / "index.html",
        made["experiment"] / "index.html",
        other / "difference.html",
        *sorted((made["claims"] / "plots").glob("*.svg")),
        *sorted((made["experiment"] / "plots").glob("*.svg"))[:1],
    ]


@pytest.fixture(scope="module")
def browser():
    with launched() as held:
        yield held


def troubles(browser, path):
    """Return what a page did that it should not: scripts run, addresses asked for, dialogs."""
    context = browser.new_context()
    page = context.new_page()
    found = []
    page.on("dialog", lambda dialog: (found.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: found.append(str(error)))

    def asked(route):
        url = route.request.url
        if not url.startswith(("file://", "data:")):
            found.append(url)
        route.continue_() if url.startswith(("file://", "data:")) else route.abort()

    page.route("**/*", asked)
    page.goto(path.as_uri())
    page.wait_for_timeout(200)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.mouse.move(300, 300)
    found += page.evaluate(
        "[window.ran ?? [], [...document.querySelectorAll('a[href],[*|href]')].map(a => a.href)"
        ".filter(h => typeof h === 'string' && /^(javascript|http:)/.test(h))].flat()"
    )
    markup = "script:not([type]),img,iframe,object,embed,base,link,form,[onload],[onerror]"
    found += page.evaluate(
        f"[...document.querySelectorAll({markup!r})].map(e => e.outerHTML.slice(0, 200))"
        ".filter(t => /invalid|window.ran/.test(t) && !/uPlot/.test(t))"
    )
    context.close()
    return found


@needs_chromium
@pytest.mark.parametrize("policy", [True, False])
def test_nothing_of_a_hostile_ledger_runs_or_is_fetched(browser, hostile, policy, tmp_path):
    for path in hostile if policy else [path for path in hostile if path.suffix == ".html"]:
        if not policy:
            text = path.read_text(encoding="utf-8")
            path = tmp_path / path.name
            path.write_text(re.sub(r"<meta http-equiv=\"Content-Security[^>]*>", "", text))
        assert troubles(browser, path) == [], path
    assert "window.ran" in path.read_text(encoding="utf-8")


@needs_chromium
def test_the_watch_sees_what_it_is_for(browser, hostile, tmp_path):
    """The control: a script that is not escaped runs, unless the page's policy forbids it."""
    text = hostile[0].read_text(encoding="utf-8")
    text = text.replace("<footer>", f"{PAYLOADS[0]}<img src=http://a.invalid/x><footer>")
    (tmp_path / "with.html").write_text(text)
    bare = re.sub(r"<meta http-equiv=\"Content-Security[^>]*>", "", text)
    (tmp_path / "without.html").write_text(bare)
    seen = troubles(browser, tmp_path / "without.html")
    assert "ran" in seen
    assert "http://a.invalid/x" in seen
    seen = troubles(browser, tmp_path / "with.html")
    assert "ran" not in seen
    assert "http://a.invalid/x" not in seen


def test_a_ledger_cannot_have_files_written_outside(ledgers, tmp_path):
    head, rows = read(ledgers["claims"])
    for name in ("../../out.txt", str(tmp_path / "out.txt"), "a/../../../../out.txt"):
        folder = tmp_path / re.sub(r"\W", "-", name) / "r"
        folder.mkdir(parents=True)
        row = rows[0] | {"proofs": {name: "text"}}
        with Ledger(folder / "ledger.sqlite") as ledger:
            ledger.finish(head, [row, *rows[1:]])
        made = driftproof("report", str(folder))
        assert made.returncode == 2
        assert "out.txt" in made.stderr
        assert "nothing was written" in made.stderr
        assert not list(tmp_path.rglob("out.txt"))


@pytest.mark.parametrize(
    "change",
    [
        lambda head, rows: head.pop("claims"),
        lambda head, rows: head.update(claims=[]),
        lambda head, rows: rows[0].pop("evidence"),
        lambda head, rows: rows[0].update(verdict=17),
        lambda head, rows: rows.insert(0, None),
        lambda head, rows: rows[0].update(lhs={"mean": float("nan"), "low": "x"}, series=3),
    ],
)
def test_a_run_that_cannot_be_shown_is_told(ledgers, tmp_path, change):
    head, rows = read(ledgers["claims"])
    change(head, rows)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.finish(head, rows)
    made = driftproof("report", str(tmp_path))
    assert made.returncode == 2, made.stderr
    assert "ledger.sqlite holds a run that cannot be shown" in made.stderr
    assert not (tmp_path / "index.html").exists()


def test_a_search_names_no_script_elsewhere(tmp_path):
    (tmp_path / "secret.py").write_text("print('secret')")
    (tmp_path / "r").mkdir()
    finding = {"form": "printed", "script": "../secret.py"}
    (tmp_path / "r" / "search.json").write_text(json.dumps({"findings": [finding]}))
    made = driftproof("counterexample", str(tmp_path / "r"))
    assert made.returncode == 2
    assert "secret.py is not there" in made.stderr
    assert made.stdout == ""


@pytest.mark.parametrize("payload", PAYLOADS)
def test_latex_gets_no_command_of_a_name(payload):
    made = latex_text(payload)
    assert not re.search(r"\\(input|write|href|style|frac|text|mbox)(?![a-z])", made)
    assert "\\write18" not in made
    assert made.isascii()
