"""The notes on errata: their numbers are recomputed here, exactly, and each is a page of LaTeX."""

import math
import re
import runpy
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from docs.generate.pages import written
from docs.generate.tex import tex
from driftproof.toolkit.report.claim_view import anchor
from driftproof.verifiers.counterexamples import scripts
from driftproof.verifiers.in_print import errata

FOLDER = Path(__file__).parents[1] / "docs" / "errata"
MATTER = {anchor(e["claim"]): e["claim"] for e in errata.errata() if e["depends"] == "theorem"}
NOTES = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
SECTIONS = ["The sentence", "The assumptions", "Both sides", "What holds instead", "What to do"]


def test_there_is_a_note_on_each_mistake_that_matters_and_each_paper():
    assert len(MATTER) == 9
    papers = {claim.partition("/")[0] for claim in (e["claim"] for e in errata.errata())}
    assert set(NOTES) == set(MATTER) | {f"on-{paper}" for paper in papers}


def test_the_notes_are_up_to_date():
    for name, text in NOTES.items():
        assert written(text) == text, (name, "python -m docs.generate")


@pytest.mark.parametrize("name", MATTER)
def test_a_note_has_all_its_parts(name):
    heads = re.findall(r"^## (.*)$", NOTES[name], re.M)
    assert [head for head in SECTIONS if not any(h.startswith(head) for h in heads)] == []
    assert re.search(r"^> .*\w", NOTES[name], re.M), "it quotes nothing"
    assert "](https://" in NOTES[name], "it does not say where the paper is"
    for field in ("url", "date", "version"):
        assert re.search(rf"^  {field} += \{{\S+\}},$", NOTES[name], re.M)


def constants(note: str) -> dict[str, float]:
    """Return what the table of assumptions says of single letters, "$L_g = 76/25$"."""
    (table,) = re.findall(r"^## The assumptions.*?\n(\|.*?)\n\n", note, re.M | re.S)
    found = re.findall(
        r"(?<![\w}*])(\\?[A-Za-z]+(?:_[A-Za-z0-9]|_\\\w+)?) = (-?[\d./]+)(?=[$,;\\ ])", table
    )
    return {
        name.replace("\\", "").replace("{", ""): float(Fraction(value)) for name, value in found
    }


SCRIPTED = [name for name, claim in MATTER.items() if scripts(claim)]


@pytest.mark.parametrize("name", SCRIPTED)
def test_the_constants_are_those_of_the_script(name, capsys):
    told = constants(NOTES[name])
    used = runpy.run_path(str(scripts(MATTER[name])[0]))
    both = {letter: (told[letter], float(used[letter])) for letter in set(told) & set(used)}
    assert {x: pair for x, pair in both.items() if not math.isclose(*pair)} == {}
    if name in ("comfedl-theorem-1", "feddro-theorem-4-2", "scgdm-theorem-3-4", "scgdm-lemma-a-1"):
        assert len(both) >= 4, told
    changed = constants(NOTES[name].replace("= 1", "= 7"))
    assert changed != told or not any(value == 1 for value in told.values())


def descent(offsets_of_slope, x):
    """Return what one device's two steps of ½ do to 53/4, and the points on its way."""
    way = [x]
    for _ in range(2):
        way.append(way[-1] - Fraction(1, 2) * offsets_of_slope(way[-1]))
    return way


def exact() -> dict[str, dict[str, bool]]:
    """Return, by note, what stands in it, and whether it is what is computed here in fractions."""
    q, half, start = Fraction, Fraction(1, 2), Fraction(53, 4)

    def clip(value, most):
        return min(max(value, -most), most)

    def slope(sign, y):
        return clip(y / 25, half) + sign * clip(3 * (y - q(103, 8)), 1)

    up, down = (descent(lambda y, sign=sign: slope(sign, y), start) for sign in (1, -1))
    gap = half * start - q(25, 8)
    bound = gap / (52 * half) + q(1, 25) * 2 * half * q(9, 4) + q(1, 100) * q(9, 4)
    mean = (slope(1, start) + slope(-1, start)) / 2
    small = [q(1), q(-1, 3), q(2, 7)]

    def of_3(s, t):
        return 1 + 2 * t * s - 2 * t * t

    def of_5(s):
        return -((1 + s) ** 2 + (1 - s) ** 2) / 4 + half

    def reached(i):
        return sum((1 - q(1, i * i)) ** (2 * t) for t in range(1, i**4 + 1)) / i**4

    meta = ((1 - math.sin(1)) + (1 + math.sin(-1))) / 2
    return {
        "comfedl-theorem-1": {
            r"\tfrac{53}4 \to \tfrac{50}4 \to \tfrac{51}4": up == [start, q(50, 4), q(51, 4)],
            r"\tfrac{53}4 \to \tfrac{54}4 \to \tfrac{55}4": down == [start, q(54, 4), q(55, 4)],
            r"\frac{257}{1040} < \frac{260}{1040}": bound == q(257, 1040) < mean**2 == q(1, 4),
        },
        "scgdm-theorem-3-4": {
            r"\frac3{4\,096\,000\,000\,000\,000} > 0": run_of_theorem_3_4(3) == q(3, 4096 * 10**12),
            "0$ at $T = 2$": run_of_theorem_3_4(2) == 0,
            r"\frac3{10} \ne 0": (q(1, 5) + 1) / 4 == q(3, 10),
            r"\frac{24}{25} \le 1": 8 * q(1, 400) * 48 == q(24, 25),
            r"\frac8{25} \le 1": 4 * q(1, 400) * 2 * 16 == q(8, 25),
        },
        "scgdm-lemma-a-1": {
            r"\frac12$. The models": 2 * (q(1, 10) * 5) ** 2 == half,
            r"\frac6{1250}": q(8 * 3 * 2, 10_000) == q(6, 1250),
        },
        "feddro-equation-5": {
            r"1 + \tfrac{s^2}2": all(
                max(of_3(s, s / 2), of_3(s, s / 2 + q(1, 9)), of_3(s, 0)) == 1 + s * s / 2
                for s in small
            ),
            r"= -\tfrac{s^2}2": all(of_5(s) == -s * s / 2 for s in small),
        },
        "feddro-theorem-4-2": {r"\ge \frac45": q(4, 1 + 4) == q(4, 5)},
        "feddro-corollary-5-3": {
            r"\ge \frac1{8\sqrt T}": all(reached(i) >= q(1, 8 * i * i) for i in (2, 4))
        },
        "scgdm-equation-8": {r"1 - \sin1": math.isclose(meta, 1 - math.sin(1))},
        "comfedl-equation-6-bounded": {
            r"= 1 + 2G_g > G_g": math.isclose(math.exp(math.log1p(2 * 3.0)), 7.0)
        },
        "comfedl-remark-1": {r"T^{-\alpha_2} < 1": 2.0**-0.5 < 1},
    }


def run_of_theorem_3_4(steps: int) -> Fraction:
    """Return the left side by the mean model and half the clients' distance, apart from the script.

    With a = (2, −1), γη = αη = βη·20 = 1/20 and |u| < 3, each of u, m, x is (mean, half the
    difference); a product of a_k with it mixes the two by ½ and 3/2.
    """
    rate, scale = Fraction(1, 20), Fraction(1, 400)
    mixed = lambda mean, half: (mean / 2 + half * 3 / 2, mean * 3 / 2 + half / 2)  # noqa: E731
    x, u, m, left = (Fraction(1, 5), Fraction(0)), None, None, Fraction(0)
    for t in range(steps):
        left += (Fraction(5 * x[0] - 1) / 2) ** 2 / steps
        ax = mixed(*x)
        g = (ax[0] + Fraction(1, 2), ax[1] - Fraction(1, 2))  # c = (0, 1)
        u = g if u is None else tuple((1 - rate) * a + rate * b for a, b in zip(u, g, strict=True))
        z = mixed(*u)
        m = z if m is None else tuple((1 - rate) * a + rate * b for a, b in zip(m, z, strict=True))
        x = (x[0] - scale * m[0], x[1] - scale * m[1])
        if (t + 1) % 2 == 0:
            x, u, m = ((mean, Fraction(0)) for mean, _ in (x, u, m))
    return left


def test_the_algebra_is_right():
    known = exact()
    assert set(known) == set(MATTER)
    for name, lines in known.items():
        for said, holds in lines.items():
            assert said in NOTES[name], (name, said)
            assert holds, (name, said)


@pytest.mark.parametrize("name", NOTES)
def test_a_note_is_a_page_of_latex(name, tmp_path):
    text = tex(NOTES[name])
    assert text.isascii()
    assert "[U+" not in text, "a letter that LaTeX cannot print"
    assert text.count("{") == text.count("}")
    for kind in set(re.findall(r"\\begin\{(\w+)\}", text)):
        assert text.count(rf"\begin{{{kind}}}") == text.count(rf"\end{{{kind}}}")
    if not shutil.which("pdflatex"):
        pytest.skip("no pdflatex: the source alone was checked")
    (tmp_path / "note.tex").write_text(text, encoding="ascii")
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "note.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert made.returncode == 0, made.stdout[-2000:]
    (pages,) = re.findall(r"Output written on note\.pdf \((\d) page", made.stdout)
    assert int(pages) <= (1 if name in MATTER else 2)
    assert "Overfull" not in made.stdout
