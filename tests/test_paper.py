"""``driftproof paper``: drifts between a paper's LaTeX and its claims, and what is no drift."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import yaml

from driftproof.cli import status
from driftproof.toolkit.discover import leaves, leaves_in
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.verdict import row_from
from driftproof.verifiers.latex_sync import lockfile
from driftproof.verifiers.latex_sync.compare import Found, compared
from driftproof.verifiers.latex_sync.stated import stated
from driftproof.verifiers.latex_sync.theorems import theorems
from driftproof.verifiers.latex_sync.written import says
from tests.commands import ROOT, driftproof
from tests.once import every_claim, once

PAPER = Path(__file__).parent / "paper" / "main.tex"
needs_latex = pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex is installed")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with the paper of forty theorems, bound; every claim has been judged."""

    def make(folder):
        shutil.copy(PAPER, folder)
        shutil.copytree(every_claim(tmp_path_factory), folder / "report-paper")
        words = ("paper", "main.tex", "--bind", "--profile", "smoke", "--quiet", "--workers", "2")
        made = driftproof(*words, cwd=folder)
        assert made.returncode == 1  # what cannot be read as a formula
        assert made.stdout.count(" NOT COMPARED ") == 2 * made.stdout.count("; compare them, then")
        made = driftproof(*words, "--by-eye", cwd=folder)
        assert made.returncode == 0, made.stdout + made.stderr
        assert "NOT COMPARED" not in made.stdout

    return once(tmp_path_factory, "paper", make)


@pytest.fixture(scope="module")
def rows(whole):
    with Ledger(whole / "report-paper" / "ledger.sqlite", create=False) as ledger:
        return [row_from(row) for row in ledger.latest()[1]]


def problems(text, folder, rows, lock):
    """Return what is told of the theorems of a text, given what was bound."""
    (folder / "main.tex").write_text(text, encoding="utf-8")
    return [
        problem
        for theorem in theorems(folder / "main.tex")
        for problem in compared(
            theorem,
            leaves("claim")[theorem.claim],
            [row for row in rows if row.claim == theorem.claim],
            lock.get(theorem.label),
        ).problems
    ]


def test_forty_theorems_that_nobody_changed_are_as_bound(whole):
    """And no torch is imported."""
    code = (
        "import sys; from driftproof.cli import status\n"
        "made = status(['paper', 'main.tex', '--profile', 'smoke', '--json'])\n"
        "sys.exit(9 if 'torch' in sys.modules else made)"
    )
    made = subprocess.run([sys.executable, "-c", code], cwd=whole, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    entries = json.loads(made.stdout)
    assert len(entries) == 40
    assert {entry["claim"].partition("/")[0] for entry in entries} == {
        "comfedl",
        "scgdm",
        "feddro",
        "fednest",
        "localsgd",
    }
    assert sum(entry["compared"] == "algebra" for entry in entries) >= 16
    assert "compared by eye" in (whole / "driftproof.aux.tex").read_text()


LAYOUT = [
    (r"\n", "  % as Lemma 2\n\n  "),
    (r"\\le(?![a-z])", r"\\leq "),
    (r"\\tfrac", r"\\dfrac"),
    (r"\\frac1S", r"\\frac{1}{S}"),
    (r"\\Big\(", r"\\left("),
    (r"\\Big\)", r"\\right)"),
    (r" \+ ", "+"),
    (r"_([a-zA-Z])(?=[^a-zA-Z{])", r"_{\1}"),
    (r"\^2(?=\D)", "^{2}"),
    (r"\\norm\{", r"\\size{"),
    (r"\\newcommand\{\\norm\}", r"\\newcommand\\size"),
    (r"\\\[", r"\\begin{equation}"),
    (r"\\\]", r"\\end{equation}"),
    (r"\\E(?![a-z])", r"\\mathbb{E}"),
]


def test_layout_is_no_drift(whole, rows, tmp_path):
    text = (whole / "main.tex").read_text(encoding="utf-8")
    head, begin, body = text.partition("\\begin{document}")
    for old, new in LAYOUT:
        changed = re.sub(old, new, body)
        assert changed != body or "newcommand" in old, old
        body = changed
    head = head.replace(r"\newcommand{\norm}", r"\newcommand\size")
    assert problems(head + begin + body, tmp_path, rows, lockfile.read(whole / "main.tex")) == []


def constant(body, draw):
    """Change a number that is no exponent or index."""
    return _one(body, draw, r"(?<![\w^_.-])[1-9](?=[^\w.])|(?<=frac)\d", lambda m: "7")


def exponent(body, draw):
    return _one(body, draw, r"\^2(?=\D)", lambda m: "^3")


def assumption(body, draw):
    """Leave out what is assumed: a sentence, or a part of one."""
    parts = r"(?<=Suppose that )\$[^$]+\$(; and that)?|Let \$[^$]+\$\.|Here \$[^$]+\$\."
    return _one(body, draw, parts, lambda m: "")


def letter(body, draw):
    return _one(body, draw, r"\\(eta|tau|beta|rho|gamma)(?![a-z])", lambda m: r"\kappa")


def term(body, draw):
    """Move what stands in front of a +, a factor or a sum, behind it."""
    return _one(
        body,
        draw,
        r"(\d|\\[a-z]+)(\\?[a-zA-Z]+(?:\^2)?)(?= |\\)(?=[^$]*\\end)",
        lambda m: rf"{m[1]} + {m[2]}",
    )


def _one(body, draw, pattern, new):
    """Return a theorem with one match, drawn at random, replaced, and the match's place."""
    start = body.index("\n")  # behind label and mark
    matches = [
        m
        for m in re.finditer(pattern, body)
        if m.start() > start and not body[: m.start()].endswith("label{")
    ]
    if not matches:
        return None
    match = draw.choice(matches)
    return body[: match.start()] + new(match) + body[match.end() :], match.start()


DRIFTS = [
    (kind, seed) for kind in (constant, exponent, assumption, letter, term) for seed in range(4)
]


@pytest.mark.parametrize(("kind", "seed"), DRIFTS)
def test_a_drift_of_the_paper_is_told_with_its_line(kind, seed, whole, rows, tmp_path):
    text = (whole / "main.tex").read_text(encoding="utf-8")
    head, *bodies = re.split(r"(?=^\\begin\{(?:lemma|theorem)\})", text, flags=re.M)
    draw = Random(seed)
    draw.shuffle(bodies)
    body, (changed, at) = next(
        (body, made) for body in bodies if (made := kind(body, draw)) is not None
    )
    label = re.search(r"label\{(.*?)\}", body)[1]
    lock = {label: lockfile.read(whole / "main.tex")[label]}
    assert problems(head + body, tmp_path, rows, lock) == []
    told = problems(head + changed, tmp_path, rows, lock)
    assert told, changed
    line = (head + changed)[: len(head) + at].count("\n") + 1
    assert line in {problem.line for problem in told}, (line, told)


CLAIM = '''
"""Descent."""
from driftproof import Assumption, average, bound, grid, sq, sweep
from driftproof.algorithms import FedAvg
from driftproof.problems import PiecewiseLosses

SMALL = Assumption(
    "small steps", r"\\eta\\tau L \\le 1", relation=lambda c: c.eta * c.tau * c.L <= 1
)
STEEP, SHALLOW = ((-1.0, -4.0), (1.0, 4.0)), ((2.0, -1.0), (4.0, 1.0))


def right(c):
    """Return the bound."""
    return 2 * c.F_gap / (c.eta * c.S) + c.eta**2 * c.L


@bound(
    name="mine/descent", source="my draft, Theorem 1",
    statement=r"\\frac1S\\sum_s\\|\\nabla F(\\bar w_s)\\|^2"
    r" \\le \\frac{2(F(\\bar w_0)-F^*)}{\\eta S} + \\eta^2L",
    assumes=[SMALL],
    cases=grid(
        PiecewiseLosses(gradients=((STEEP,), (SHALLOW,))),
        FedAvg(local_steps=1, step_size=0.1),
        rounds=sweep(5, 10),
    ),
    right=right,
)
def theorem(view):
    return average("round", sq(view.gradient(view.mean("w"))))
'''
TEXT = r"""\documentclass{article}
\usepackage{driftproof}
\newtheorem{theorem}{Theorem}
\begin{document}
\begin{theorem}\label{thm:1}\driftproof{mine/descent}
Let $\eta\tau L \le 1$. Then
\begin{equation}
  \frac1S\sum_s\|\nabla F(\bar w_s)\|^2
    \le \frac{2(F(\bar w_0)-F^*)}{\eta S}
      + \eta^2L.
\end{equation}
\end{theorem}
\end{document}
"""
OF_CLAIMS = {
    "constant": [("2 * c.F_gap", "3 * c.F_gap"), ("c.tau * c.L <= 1", "c.tau * c.L <= 2")],
    "exponent": [("c.eta**2", "c.eta"), ("sq(view", "(view")],
    "assumption": [("assumes=[SMALL],", ""), (r"\eta\tau L \le 1", r"\eta L \le 1")],
    "letter": [("c.S) +", "c.T) +"), ("**2 * c.L", "**2 * c.mu")],
    "term": [(" + c.eta**2 * c.L", " * (1 + c.eta**2 * c.L)"), ('average("round"', 'each("round"')],
}


def own(folder):
    (folder / "claims").mkdir()
    (folder / "claims" / "descent.py").write_text(CLAIM, encoding="utf-8")
    (folder / "main.tex").write_text(TEXT, encoding="utf-8")


def code(text, folder):
    path = folder / "claim.py"
    path.write_text(text, encoding="utf-8")
    (leaf,) = leaves_in(path, "claim")
    return stated(leaf)


@pytest.mark.parametrize(("old", "new"), [pair for pairs in OF_CLAIMS.values() for pair in pairs])
def test_a_drift_of_the_claim_is_told(old, new, tmp_path):
    """With the twenty of the paper, they are thirty."""
    assert CLAIM.count(old) >= 1
    assert code(CLAIM.replace(old, new), tmp_path) != code(CLAIM, tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Return the bound", "It bounds"),
        ("sweep(5, 10)", "sweep(5, 20)"),
        ("my draft", "a draft"),
        ("\n\n\ndef", "\n# words\n\n\ndef"),
        ("c.eta**2", "c.eta ** 2"),
        ('"""Descent."""', ""),
    ],
)
def test_words_and_cases_of_a_claim_are_no_drift(old, new, tmp_path):
    assert CLAIM.count(old) >= 1
    assert code(CLAIM.replace(old, new), tmp_path) == code(CLAIM, tmp_path)


def test_what_a_claim_imports_from_beside_it_counts(tmp_path):
    (tmp_path / "small.py").write_text("LARGEST = 1\n\ndef least(c):\n    return c.L <= LARGEST\n")
    text = CLAIM.replace("lambda c: c.eta * c.tau * c.L <= 1", "least")
    text = text.replace("\nSMALL", "from small import least\n\nSMALL")
    before = code(text, tmp_path)
    assert "LARGEST = 1" in before
    (tmp_path / "small.py").write_text("LARGEST = 2\n\ndef least(c):\n    return c.L <= LARGEST\n")
    assert code(text, tmp_path) != before


@pytest.fixture(scope="module")
def bound_own(tmp_path_factory):
    def make(folder):
        own(folder)
        made = driftproof("paper", "main.tex", "claims", "--workers", "1", cwd=folder)
        assert made.returncode == 1
        assert "main.tex:5: not bound yet: compare it with mine/descent, then --bind" in made.stdout
        assert not (folder / lockfile.FILE).exists()
        made = driftproof("paper", "main.tex", "claims", "--bind", "--workers", "1", cwd=folder)
        assert made.returncode == 0, made.stdout + made.stderr

    return once(tmp_path_factory, "own-paper", make)


@pytest.fixture
def mine(bound_own, tmp_path):
    """Return a copy of a folder with one theorem that is bound to a claim of one's own."""
    shutil.copytree(bound_own, tmp_path / "mine")
    return tmp_path / "mine"


def edited(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_changed_constant_fails_at_its_line(mine):
    """Also where nothing was bound: algebra reads both sides."""
    edited(mine / "main.tex", r"\frac{2(F", r"\frac{4(F")
    words = ("paper", "main.tex", "claims", "--workers", "1", "--github")
    environment = os.environ | {"GITHUB_STEP_SUMMARY": str(mine / "summary.md"), "COLUMNS": "200"}
    made = driftproof(*words, cwd=mine, env=environment)
    assert made.returncode == 1
    assert (
        "::error file=main.tex,line=9,title=driftproof::the theorem changed since it was bound: "
        in made.stdout
    )
    assert r"the theorem says ≤ \frac{4(F(\bar w_0)-F^*)}{\eta S}+\eta^2L" in made.stdout
    assert "| thm:1 | mine/descent | DIFFERS | exact |" in (mine / "summary.md").read_text()
    assert "not verified as it stands here" in (mine / "driftproof.aux.tex").read_text()
    (mine / lockfile.FILE).unlink()
    made = driftproof(*words, "--bind", cwd=mine)
    assert made.returncode == 1  # what is read to differ is not bound
    assert "line=9,title=driftproof::the theorem says" in made.stdout
    assert json.loads((mine / lockfile.FILE).read_text())["theorems"] == {}


def test_a_right_side_that_is_written_otherwise_is_compared_by_algebra(mine):
    edited(
        mine / "main.tex", r"\frac{2(F(\bar w_0)-F^*)}{\eta S}", r"2\frac{F(\bar w_0)-F^*}{S\eta}"
    )
    page = mine / "report-paper" / "index.html"
    page.unlink()  # a page that is named is there
    assert driftproof("paper", "main.tex", "claims", "--workers", "1", cwd=mine).returncode == 0
    assert page.exists()
    edited(mine / "main.tex", r"\tau L \le 1", r"\tau L \le 2")
    made = driftproof("paper", "main.tex", "claims", "--workers", "1", cwd=mine)
    assert made.returncode == 1
    assert "main.tex:6: the theorem changed since it was bound" in made.stdout


def test_a_changed_claim_is_judged_again_and_told(mine):
    edited(mine / "claims" / "descent.py", "2 * c.F_gap", "c.F_gap / 50")
    made = driftproof("paper", "main.tex", "claims", "--workers", "1", cwd=mine)
    assert made.returncode == 1
    assert "mine/descent was SUPPORTED since" in made.stdout
    assert "and is REFUTED" in made.stdout
    assert re.search(
        "mine/descent changed since it was bound: “.*return 2 [*] c[.]F_gap", made.stdout
    )
    assert "& DIFFERS &" in (mine / "report-paper" / "supplement.tex").read_text()


def test_a_mark_that_is_gone_is_told(mine):
    edited(mine / "main.tex", "thm:1", "thm:2")
    made = driftproof("paper", "main.tex", "claims", "--workers", "1", cwd=mine)
    assert made.returncode == 1
    assert "thm:1 was bound, and nothing that is marked has that label" in made.stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (r"\driftproof{mine/descent}", "", "marks no theorem"),
        (r"{mine/descent}", "{mine/decent}", "main.tex:5: unknown claim 'mine/decent'"),
        (r"\driftproof{", r"\driftproof[eq:x]{", "no formula of mine/descent has the label eq:x"),
        (r"\end{document}", r"\driftproof{mine/descent}\end{document}", "stands in no theorem"),
        (r"\end{document}", TEXT[TEXT.index(r"\begin{th") :], "2 marked theorems are called thm:1"),
        (r"Let", r"\input{part}", "part.tex: "),
    ],
)
def test_a_mistake_is_told_with_its_place(old, new, said, tmp_path, capsys, monkeypatch):
    own(tmp_path)
    (tmp_path / "part.tex").write_bytes(b"\xff")
    edited(tmp_path / "main.tex", old, new)
    monkeypatch.chdir(tmp_path)
    assert status(["paper", "main.tex", "claims"]) == 2
    assert said in capsys.readouterr().err


def test_a_lock_that_is_not_ours_is_told(mine, capsys, monkeypatch):
    monkeypatch.chdir(mine)
    for text in ("{", "[]", '{"schema": 2}', '{"schema": 1, "theorems": {"a": {}}}'):
        Path(lockfile.FILE).write_text(text)
        assert status(["paper", "main.tex", "claims"]) == 2
        assert "the file that driftproof paper --bind writes" in capsys.readouterr().err


@needs_latex
def test_latex_prints_the_verdict_beside_the_theorem(mine):
    for name in ("main", "main"):
        ran = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name],
            cwd=mine,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout
    assert "No verdict" not in ran.stdout
    edited(mine / "main.tex", r"\begin{document}", r"\begin{document}\showoutput\tracingonline1")
    ran = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "main"], cwd=mine, capture_output=True, text=True
    )
    printed = "".join(re.findall(r"\\OT1/cm\S+ (\S)$", ran.stdout, re.M))
    assert "[chec" in printed


def test_the_steps_of_the_action_run_in_a_clean_clone(tmp_path):
    """All of them but those of GitHub's own actions; on hosted CI they have not run."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    clone, paper, home = tmp_path / "action", tmp_path / "paper", tmp_path / "venv"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copyfile(ROOT / name, clone / name, follow_symlinks=False)
    paper.mkdir()
    own(paper)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    beside = Path(yaml.__file__).parents[1]  # pip, and what driftproof needs
    (site / "beside.pth").write_text(f"{beside}\n")
    values = {name: one["default"] for name, one in action["inputs"].items()}
    names = {f"inputs.{name}": value for name, value in values.items()}
    names |= {"github.action_path": str(clone)}
    environment = {
        "PATH": f"{home}/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "COLUMNS": "200",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "GITHUB_WORKSPACE": str(paper),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }

    def run():
        for step in action["runs"]["steps"]:
            if "run" in step:
                given = {
                    key: re.sub(r"\$\{\{ (\S+) \}\}", lambda m: names[m[1]], value)
                    for key, value in step["env"].items()
                }
                made = subprocess.run(
                    ["bash", "-eo", "pipefail", "-c", step["run"]],
                    cwd=paper,
                    env=environment | given,
                    capture_output=True,
                    text=True,
                )
                if made.returncode:
                    break
        return made

    made = run()
    assert made.returncode == 1, made.stdout + made.stderr
    assert "::error file=main.tex,line=5,title=driftproof::not bound yet" in made.stdout
    bind = subprocess.run(
        ["driftproof", "paper", "main.tex", "claims", "--bind"],
        cwd=paper,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert bind.returncode == 0, bind.stderr
    assert run().returncode == 0
    edited(paper / "main.tex", r"\frac{2(F", r"\frac{4(F")
    assert "::error file=main.tex,line=9," in run().stdout
    assert "| thm:1 | mine/descent | DIFFERS |" in (tmp_path / "summary.md").read_text()


def test_the_page_shows_what_there_is():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    (latex,) = re.findall(r"```latex\n(.*?)```", page, re.S)
    assert (
        latex.split("…\n")[1].split()
        == TEXT[TEXT.index(r"\begin{th") :]
        .replace(r"\begin{equation}", r"\begin{equation}\label{eq:descent}")
        .replace(r"\end{document}", "")
        .split()
    )
    workflow, hooks = re.findall(r"```yaml\n(.*?)```", page, re.S)
    assert workflow.count("\n") <= 10
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (job,) = yaml.safe_load(workflow)["jobs"].values()
    assert job["steps"][1]["with"].keys() <= action["inputs"].keys()
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (used,) = yaml.safe_load(hooks)["repos"][0]["hooks"]
    assert (used["id"], used["args"]) == (hook["id"], hook["args"])


def test_the_hook_is_the_command():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    made = driftproof(*hook["entry"].split()[1:], *hook["args"], "--help")
    assert made.returncode == 0
    assert re.search(hook["files"], "sections/intro.tex")
    assert not re.search(hook["files"], "figure.pdf")


@pytest.mark.parametrize(
    "definitions",
    [
        r"\newcommand{\cst}{2}\renewcommand{\cst}{3}",
        r"\let\cst\le",
        r"\gdef\cst{2}",
        r"\DeclareRobustCommand{\cst}{2}",
        "\\NewDocumentCommand{\\cst}{}{%\n2}",
        r"\newcommand{\outer}{\cst}\edef\cst{2}",
        r"\NewDocumentCommand\cst{}{\two}\newcommand\two{2}",
    ],
)
def test_a_command_that_may_print_two_things_is_opaque_in_its_theorem_alone(definitions, tmp_path):
    """It is in what is bound, with its definition: a change of that is a change of the theorem."""
    used = r"\outer" if "outer" in definitions else r"\cst"
    main = tmp_path / "main.tex"

    def read(definitions):
        main.write_text(
            definitions
            + "".join(
                rf"\begin{{theorem}}\label{{{label}}}\driftproof{{mine/x}}$x \le {bound} y$"
                r"\end{theorem}"
                for label, bound in (("one", used), ("other", "2"))
            ),
            encoding="utf-8",
        )
        return theorems(main)

    one, other = read(definitions)
    assert "cst" in one.opaque
    assert other.opaque == {}
    changed, same = read(definitions.replace("2", "7").replace(r"\le", r"\ge"))
    assert changed.source != one.source
    assert same == other


def test_what_is_not_compared_says_so_and_is_bound_by_eye_alone(mine):
    """An opaque command, and a right side that is no formula of the claim's letters."""
    edited(mine / "main.tex", r"\newtheorem", "\\NewDocumentCommand{\\two}{}{2}\n\\newtheorem")
    edited(mine / "main.tex", r"\frac{2(F", r"\frac{\two(F")
    words = ("paper", "main.tex", "claims", "--workers", "1")
    made = driftproof(*words, "--bind", cwd=mine)
    assert made.returncode == 1
    assert r"NOT COMPARED with mine/descent: \two is defined twice, or in a way" in made.stdout
    assert "main.tex:10: NOT COMPARED" in made.stdout
    assert "{not compared with its claim}" in (mine / "driftproof.aux.tex").read_text()
    assert "& NOT COMPARED &" in (mine / "report-paper" / "supplement.tex").read_text()
    assert driftproof(*words, "--bind", "--by-eye", cwd=mine).returncode == 0
    assert "{checked on 2 cases; compared by eye}" in (mine / "driftproof.aux.tex").read_text()
    made = driftproof(*words, cwd=mine)
    assert made.returncode == 0
    assert "by eye" in made.stdout
    edited(mine / "main.tex", "{}{2}", "{}{3}")
    assert driftproof(*words, cwd=mine).returncode == 1


def test_what_is_printed_says_no_more_than_was_checked(mine):
    assert "{checked on 2 cases}" in (mine / "driftproof.aux.tex").read_text()
    (theorem,) = theorems(mine / "main.tex")
    now = lockfile.read(mine / "main.tex")["thm:1"]
    said = {
        evidence: says(Found(theorem, replace(now, evidence=evidence), ()))
        for evidence in ("symbolic", "class", "theorem", "exact, class", "sequential")
    }
    assert said == {
        "symbolic": "proved by algebra",
        "class": "proved for a whole class of functions, at 2 settings",
        "theorem": "proved for a whole class of functions",
        "exact, class": "checked on 2 cases",
        "sequential": "checked on 2 cases",
    }
    of = "every federation of smooth-convex(L = 1), n = 2, FedAvg(), rounds=1"
    one = Found(theorem, replace(now, evidence="theorem"), (), proved=of)
    assert says(one) == f"proved over {of}"
    bound = driftproof("paper", "main.tex", "claims", "--bind", cwd=mine)
    assert "thm:1: mine/descent assumes " in bound.stdout


def test_paired_delimiters_are_read(mine):
    pair = "\\DeclarePairedDelimiter{\\n}{\\lVert}{\\rVert}\n\\newtheorem"
    edited(mine / "main.tex", r"\newtheorem", pair)
    edited(mine / "main.tex", r"\|\nabla F(\bar w_s)\|", r"\n*{\nabla F(\bar w_s)}")
    assert driftproof("paper", "main.tex", "claims", "--workers", "1", cwd=mine).returncode == 0


def test_entries_of_a_matrix_stay_apart(tmp_path):
    said = []
    for entries in ("1 & 23", "12 & 3", r"1 \\ 23"):
        main = tmp_path / "main.tex"
        main.write_text(
            rf"""\begin{{theorem}}\label{{t}}\driftproof{{mine/x}}$x \le \begin{{pmatrix}}
{entries}\end{{pmatrix}}$\end{{theorem}}""",
            encoding="utf-8",
        )
        (theorem,) = theorems(main)
        said.append(theorem.source)
    assert len(set(said)) == 3
