"""Proofs for every number of steps: found from few, true for more, refused where they are not."""

import random
import re
from functools import cache

import pytest
import sympy
from sympy import Rational as Q

from docs.generate.proofs import CERTIFICATES
from driftproof.verifiers.worst_case.on_paper.latex import UnprintableError
from driftproof.verifiers.worst_case.on_paper.pattern import Pattern, at, pattern, single
from driftproof.verifiers.worst_case.on_paper.printed import checked, proved
from driftproof.verifiers.worst_case.on_paper.text import OnPaper
from tests.commands import driftproof

FOLDERS = {"gradient-descent": "\\frac{1+i}{2N-i}", "proximal-point": "\\frac{i}{2N-i}"}


def texts(name, last=8):
    files = (CERTIFICATES / name / f"{N}.json" for N in range(1, last + 1))
    return [file.read_text(encoding="utf-8") for file in files]


@cache
def printed(name):
    return pattern(texts(name)[::-1])


@pytest.mark.parametrize("name", FOLDERS)
def test_a_pattern_is_found(name):
    text = printed(name)
    assert text.startswith("% Proved for every N, by algebra; read back for N = 1, ..., 8.\n")
    assert f"\\lambda_{{i}}&={FOLDERS[name]}&&" in text
    assert "$\\|x_{0}-x^*\\|^2\\le R^{2}$." in text


@pytest.mark.parametrize(("alpha", "beta", "m"), [(-Q(2, 3), Q(0), 0), (Q(0), -Q(5), 1)])
@pytest.mark.parametrize("N", [1, 2, 5])
def test_the_lemma_holds_for_any_multipliers(alpha, beta, m, N):
    draw, kappa, t = random.Random(N), Q(3, 7), Q(2, 5)
    lam = {m - 1: Q(0), N: Q(1)}
    lam |= {i: Q(draw.randint(1, 9), draw.randint(1, 9)) for i in range(m, N)}
    p = {i: lam[i] - lam[i - 1] for i in range(m, N + 1)}
    f, g, x = sympy.symbols(f"f:{N + 1}"), sympy.symbols(f"g:{N + 1}"), [sympy.Symbol("x")]
    for i in range(N):
        x.append(x[-1] + alpha * g[i] + beta * g[i + 1])

    def inequality(i, j):
        a, b, c = (x[i], g[i], f[i]) if i is not None else (0, 0, 0)
        return f[j] - c - g[j] * (x[j] - a) + kappa * (g[j] - b) ** 2

    left = sum(lam[i] * inequality(i, i + 1) for i in range(m, N)) + t * x[0] ** 2
    left += sum(c * inequality(None, i) for i, c in p.items())
    right = f[N] + t * (x[0] - sum(c * g[i] for i, c in p.items()) / (2 * t)) ** 2
    for i in range(m, N + 1):
        of = i - m, lam[i - 1], lam[i], lam[i] if i < N else Q(0)
        right += single(kappa, alpha, beta, 1 / (4 * t), *of) * g[i] ** 2
        for j in range(i + 1, N + 1):
            c = p[j] * (p[i] / (4 * t) + (alpha + beta) / 2)
            right += (c + int(j == i + 1) * lam[i] * (kappa + alpha / 2)) * (g[i] - g[j]) ** 2
    assert sympy.expand(left - right) == 0


def read(text, its):
    for N, it in its.items():
        checked(at(text, N), it, OnPaper(it, {}))


def test_a_changed_proof_does_not_read_back():
    """Each number, sign and index of a formula is wrong for some N."""
    text = printed("gradient-descent")
    its = {N: proved(one)[1] for N, one in enumerate(texts("gradient-descent", 3), 1)}
    read(text, its)
    formulas = re.finditer(r"\$[^$]*\$|\\\[.*\\\]|^.*&.*$", text.partition("Indeed")[0], re.M)
    places = [m.start() + k.start() for m in formulas for k in re.finditer(r"\d+|[-+]", m[0])]
    for place in random.Random(0).sample(places, 20):
        old = re.compile(r"\d+|.").match(text, place)[0]
        new = {"+": "-", "-": "+"}.get(old) or str(int(old) + 1)
        with pytest.raises((UnprintableError, ValueError)):
            read(f"{text[:place]}{new}{text[place + len(old) :]}", its)


def test_multipliers_that_do_not_fit_are_refused():
    """Those for N = 7 are left out of the fit, and have to meet it."""
    known = [proved(one) for one in texts("gradient-descent")]
    known[6][2]["smooth-convex", "f_0", "x_2", "x_3"] += 1
    with pytest.raises(UnprintableError, match=r"5/4 of A_\(2,3\) for N = 7\nwanted: 1/4"):
        Pattern(known)
    known[2][2]["smooth-convex", "f_0", "x_1", "x_2"] += 1
    with pytest.raises(UnprintableError, match="a rational function of i and N"):
        Pattern(known)


def test_what_is_not_decided_is_no_theorem(monkeypatch):
    paper = Pattern([proved(one) for one in texts("gradient-descent")])
    paper.beside *= -1
    left = paper.left()
    assert left == ["$c_{i,j}\\ge 0$"]
    monkeypatch.setattr(Pattern, "left", lambda self: left)
    text = pattern(texts("proximal-point"))
    assert text.startswith("% Not proved for every N.\n\\begin{conjecture}\n")
    assert "for $N=1,\\dots,8$ only. It remains to be checked by hand that $c_{i,j}\\ge 0$." in text


def test_the_command_prints_and_refuses(tmp_path):
    files = [f"{CERTIFICATES}/gradient-descent/{N}.json" for N in range(1, 9)]
    ran = driftproof("prove", "--every-n", *files, "--out", "tex", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "1.json and 7 more: tex/1-every-n.tex\n")
    wrong = texts("gradient-descent")[6].replace('"1/4"', '"1/3"')
    (tmp_path / "7.json").write_text(wrong, encoding="utf-8")
    for seventh, said in (
        ("7.json", "check refuses it"),
        (files[5], "8 certificates, for N = 1, 2, 3, 4, 5, 6, 8"),
        (f"{CERTIFICATES}/proximal-point/7.json", "several claims"),
    ):
        ran = driftproof("prove", "--every-n", *files[:6], seventh, files[7], cwd=tmp_path)
        assert (ran.returncode, said in ran.stdout) == (1, True)
