r"""A proof for every number of steps N, from certificates of one claim for N = 1, 2 and so on.

The multipliers λ_i of A_{i,i+1} are fitted by a rational function of i and N. All else follows by
the lemma of docs/proofs.md. What is printed is read back at each N that has a certificate; for
larger N what the lemma asks for is decided with i and N as letters.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from flint import fmpq, fmpq_mat

from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.toolkit.report.listed import listed
from driftproof.verifiers.worst_case.classes import CURVED, curvatures
from driftproof.verifiers.worst_case.expression import ends, evaluate
from driftproof.verifiers.worst_case.homogeneous import null_space
from driftproof.verifiers.worst_case.on_paper.inequalities import whole
from driftproof.verifiers.worst_case.on_paper.latex import Printer, UnprintableError
from driftproof.verifiers.worst_case.on_paper.printed import checked, proved
from driftproof.verifiers.worst_case.on_paper.text import Key, OnPaper, aligned
from driftproof.verifiers.worst_case.on_paper.words import added, minus
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.statement import ONE, ZERO, Statement, number

HELD_OUT = 3
"""How many N are left out of the fit, which they have to meet."""
DEGREE = 3
"""The largest degree of a numerator, or a denominator, in i and N."""
LETTERS = {"N", "i", "j", "lambda", "p", "c"}
"""What the text has letters for."""
ASK = "for_all(…) for step sizes and constants, and rounds=[1, 2, …, 8]"
LET = re.compile(r"^Let\n\\begin\{align\*\}\n(.*?)\.\n\\end\{align\*\}\n", re.M | re.S)
LINE = re.compile(r"(\\?[a-z]+)_\{([^{}]*)\}&=(.*?)(?:&&\((.*)\))?")
EACH = re.compile(r"(\$[^$]*\$(?: by \$[^$]*\$)?) for \$([^$]*)\$")
PAIRS = re.compile(r"(?<=^&)\+\\sum_\{([^{}]*)\}(.*)(?=\.$)", re.M)
SUM = re.compile(r"\\sum_\{([^{}]*)\}(.*?)(?=\\\|\^2)")
NAMED = re.compile(r"(\\?[a-z]+)_\{([\d,]+)\}")
SIGNS = {"<": int.__lt__, "\\le ": int.__le__, "=": int.__eq__}


def pattern(certificates: Sequence[str]) -> str:
    """Return a theorem for every N, and its proof, in LaTeX.

    Raises:
        UnprintableError: no pattern was found, or it does not hold. ``on_paper`` says what else.
    """
    every = sorted(map(proved, certificates), key=lambda one: _steps(one[1]))
    every = [one for one in every if one[1].numbers.free] or every
    known = {_steps(one[1]): one for one in every}
    if [*known] != [*range(1, len(every) + 1)] or len(known) <= HELD_OUT:
        got = f"{len(every)} certificates, for N = {', '.join(map(str, known))}"
        raise UnprintableError(got, "one for each of N = 1, 2, …, 8", ASK)
    paper = Pattern([*known.values()])
    left, text = paper.left(), paper.latex()
    for N, (_, it, _) in known.items():
        try:
            checked(at(text, N), it, OnPaper(it, {}))
        except UnprintableError as error:
            got = f"a pattern that does not hold for N = {N}: {error.got}"
            raise UnprintableError(got, "one that does", ASK) from error
    if not left:
        return f"% Proved for every N, by algebra; read back for N = 1, ..., {len(known)}.\n{text}"
    said = (
        f"This is checked for $N=1,\\dots,{len(known)}$ only. It remains to be checked by hand that"
    )
    text = text.replace("{theorem}", "{conjecture}")
    text = text.replace("Here the", f"{said} {listed(left)}.\nHere the")
    return f"% Not proved for every N.\n{text}"


class Pattern(OnPaper):
    """What certificates have in common: a file, what it states, and multipliers for each N."""

    def __init__(
        self, known: Sequence[tuple[dict[str, Any], Statement, Mapping[Key, Any]]]
    ) -> None:
        (file, it, _), self.most = known[-1], len(known)
        super().__init__(it, {})
        ((function, points),) = it.triples.items()
        (self.kind, constants), *more = [*it.constants[function].items()] or [("", [])]
        low, high = (points[f"x_{N}"] for N in (self.most - 1, self.most))
        step = minus(high.x, low.x)
        self.alpha, self.beta = (step.pop(next(iter(t.g), ""), ZERO) for t in (low, high))
        mu, L = curvatures(self.kind, constants) if self.kind in CURVED else (ZERO, ZERO)
        self.kappa, self.first = ZERO if vanishes(L) else 1 / (2 * L), int("x_0" not in points)
        shared = {
            str(
                [one.get("region"), other.constants, one["assumptions"], one["conclusion"]["right"]]
            )
            for one, other, _ in known
        }
        rights = [of.right for of in [*it.assumptions.values(), it.conclusion]]
        if (
            [*more, *step]
            or len(shared) > 1
            or self.kind not in {*CURVED, "convex"}
            or not all(map(vanishes, (mu, self.alpha if self.first else self.beta)))
            or len(rights) != 2
            or any(map(vanishes, rights))
            or {name.partition("_")[0] for name in it.numbers.free} & LETTERS
        ):
            raise UnprintableError(
                f"certificates of several claims, or steps {self.steps[-1]}",
                "of one about a convex function, with x_{i+1} = x_i − η g_i or − η g_{i+1}",
                "driftproof prove --tex prints one for one N; call no letter i, j, N, p, c, lambda",
            )
        region = [[str(self.most + 1), "<=", "N"], [str(self.first), "<=", "i", "<=", "N"]]
        self.printer = Printer(Region([*file.get("region", []), *region]))
        self.form_of = whole(self.kind, constants, self.printer).text
        (self.assumed,) = it.assumptions.values()
        right = _right([one["conclusion"] for one, _, _ in known], it.numbers.free)
        self.goal, t = it.conclusion._replace(right=right), right / self.assumed.right
        self.t, self.q, self.half = t, 1 / (4 * t), (self.alpha + self.beta) / 2
        self.beside, self.N = self.kappa + self.alpha / 2, Ratio.letter("N")
        self.here = self._fitted([own for _, _, own in known])
        self.before = self.here.put({"i": Ratio.letter("i") - 1})
        self.p, self.last = self.here - self.before, 1 - self.here.put({"i": self.N - 1})

    def _fitted(self, counted: Sequence[Mapping[Key, Any]]) -> Any:
        """Return λ_i, fitted to the multipliers for the first N."""
        values = {
            (i, N): own.get((self.kind, *self.it.triples, f"x_{i}", f"x_{i + 1}"), ZERO)
            for N, own in enumerate(counted, 1)
            for i in range(self.first, N)
        }
        fit = {at: c for at, c in values.items() if at[1] <= self.most - HELD_OUT}
        found = None if any(isinstance(c, Ratio) for c in fit.values()) else _through(fit)
        if found is None or not vanishes(found.put({"i": fmpq(self.first - 1)})):
            got = f"multipliers {', '.join(map(str, fit.values()))} of A_(i,i+1)"
            wanted = f"a rational function of i and N, of degree {DEGREE} or less"
            raise UnprintableError(got, wanted, ASK)
        for (i, N), c in values.items():
            if not vanishes(c - (by := _value(found, i, N))):
                got = f"the multiplier {c} of A_({i},{i + 1}) for N = {N}"
                wanted = f"{by}, from {found} for N up to {self.most - HELD_OUT}"
                raise UnprintableError(got, wanted, ASK)
        return found

    def left(self) -> list[str]:
        """Return what the lemma asks for, and is not found to be so for every N."""
        of, i = (self.kappa, self.alpha, self.beta, self.q), Ratio.letter("i")
        rows = [
            single(*of, i - self.first, self.before, self.here, self.here),
            single(*of, self.N - self.first, 1 - self.last, ONE, ZERO),
        ]
        if not all(map(vanishes, rows)):
            got = f"λ_i = {self.here}, with {rows[0]} before the square of g_i"
            remedy = "put the worst case on the right side: tightness says how much less it is"
            raise UnprintableError(got, "0, as where the right side is the worst case", remedy)
        signs = {
            "\\lambda_{i}": [self.here],
            "p_{i}": [self.p, self.last],
            "c_{i,j}": [self.beside, self.q * self.p + self.half],
            self.printer.number(self.t): [self.t],
        }
        good = self.printer.numbers.nonnegative
        return [f"${name}\\ge 0$" for name, of in signs.items() if not all(map(good, of))]

    def latex(self) -> str:
        """Return the theorem and the proof."""
        m, last, before = self.first, f"_{{{self.most}}}", f"_{{{self.most - 1}}}"
        shows, total = self.printer.number, self.printer.sum
        pair = f"c_{{i,j}}&=p_{{j}} ({total([(self.q, 'p_{i}'), (self.half, '')])})"
        beside = added(pair, total([(self.beside, "\\lambda_{i}")]))
        pairs = [f"{pair}&&({m}\\le i<j-1<N)", f"{beside}&&({m}\\le i=j-1<N)"]
        pairs = pairs if beside != pair else [f"{pair}&&({m}\\le i<j\\le N)"]
        forms = dict[str, str]()
        symbol = self.form(forms, self.form_of, "f")
        line = f"\\sum_{{{m}\\le i\\le N}}p_{{i}} g_{{i}}"
        line = total([(ONE, "x_{0}"), (-1 / (2 * self.t), line)])
        step = self.steps[-1].replace(last, "_{i+1}").replace(before, "_{i}")
        given = [text for text in self.given if "x^*" not in text]
        every = f" for ${m}\\le i\\le N$"
        suppose = [
            *(f"${text}$" for text in given if not re.search(r"_\{\d", text)),
            *(f"${text.replace(last, '_{i}')}${every}" for text in given if last in text),
            f"${self.said(self.assumed)}$",
        ]
        define = f"Let $N\\ge 1$, and define ${step}$ for $0\\le i<N$."
        claim = self.said(self.goal).replace(last, "_{N}")
        source = " (Taylor, Hendrickx and Glineur 2017)" * (self.kind in CURVED)
        lines = [
            *self.stated([define], suppose, claim, f"f_{{N}} {line}"),
            f"At any two points, the class says{source}",
            *aligned([*forms.values()], "."),
            "Let",
            *aligned(
                [
                    f"\\lambda_{{i}}&={shows(self.here)}&&({m}\\le i<N)",
                    f"p_{{i}}&={shows(self.p)}&&({m}\\le i<N)",
                    f"p_{{N}}&={shows(self.last)}",
                    *pairs,
                ],
                ".",
            ),
            f"Multiply ${symbol}_{{i,i+1}}$ by $\\lambda_{{i}}$ for ${m}\\le i<N$;"
            f" ${symbol}_{{*,i}}$ by $p_{{i}}${every};"
            f" ${total(self.terms(self.assumed))}$ by ${shows(self.t)}$;"
            " and add. The sum, which is at most $0$, is",
            *aligned(
                [
                    "&" + total(self.terms(self.goal)).replace(last, "_{N}"),
                    "&+" + total([(self.t, f"\\|{line}\\|^2")]),
                    f"&+\\sum_{{{m}\\le i<j\\le N}}c_{{i,j}}\\|g_{{i}}-g_{{j}}\\|^2",
                ],
                ".",
            ),
            f"Indeed $p_{{{m}}}+\\dots+p_{{i}}$ is $\\lambda_{{i}}$, or $1$ where $i=N$. So values"
            " cancel, and the coefficients of each $g_{i}$ with all $g_{j}$ have the same sum.",
            "Here the multipliers and the numbers before the squares are at least $0$.",
            "Leave out the squares: what remains is the claim.",
            "\\end{proof}",
            "",
        ]
        return "\n".join(lines)


def single(
    kappa: Any, alpha: Any, beta: Any, q: Any, steps: Any, before: Any, here: Any, after: Any
) -> Any:
    """Return r_i of the lemma, of q = 1/(4t), steps = i − m, and λ_{i−1}, λ_i, λ_i′."""
    p, half, beside = here - before, (alpha + beta) / 2, kappa + alpha / 2
    less = q * p + half * (1 - here + steps * p) + beside * (before + after)
    return (kappa - beta) * here + kappa * after - less


def at(text: str, N: int) -> str:
    """Return a proof for every N as one for this N, which can be read back."""
    lines = [line for block in LET.findall(text) for line in block.split("\\\\\n")]
    lets = [found.groups("") for line in lines if (found := LINE.fullmatch(line))]

    def value(named: re.Match[str]) -> str:
        places = [int(place) for place in named[2].split(",")]
        for name, index, formula, where in lets:
            of = {**dict(zip(index.split(","), places, strict=False)), "N": N}
            own = [_place(e, of) for e in index.split(",")]
            if (name, own) == (named[1], places) and _holds(where, of):
                return f"({NAMED.sub(value, _put(formula, of))})"
        return named[0]

    text = LET.sub("", text).replace("Let $N\\ge 1$, and define ", "Define ")
    text = EACH.sub(lambda m: ", ".join(_put(m[1], of) for of in _where(m[2], N)), text)
    text = PAIRS.sub(lambda m: "".join(f"+{_put(m[2], of)}" for of in _where(m[1], N)), text)
    text = SUM.sub(lambda m: f"({'+'.join(_put(m[2], of) for of in _where(m[1], N))})", text)
    return NAMED.sub(value, _put(text, {"N": N}))


def _steps(it: Statement) -> int:
    """Return the number of steps, the place of the last point."""
    names = [at for points in it.triples.values() for at in points if at != "x*"]
    steps, first = len(names) - ("x_0" in names), int("x_0" not in names)
    if len(it.triples) != 1 or names != [f"x_{k}" for k in range(first, steps + 1)]:
        got = f"points {', '.join(names)} of {len(it.triples)} functions"
        raise UnprintableError(got, "x*, x_0, x_1, … of one", ASK)
    return steps


def _right(conclusions: Sequence[Mapping[str, Any]], free: Mapping[str, Any]) -> Any:
    """Return the right side as a function of N, which is a letter of its formula."""
    given = dict[str, Any](free)
    for name in conclusions[0]["letters"]:
        of = [conclusion["letters"][name] for conclusion in conclusions]
        if of != of[:1] * len(of) and of != [str(N) for N in range(1, len(of) + 1)]:
            raise UnprintableError(f"{name} = {', '.join(of)}", "a letter that is N", ASK)
        given[name] = number(of[0]) if of == of[:1] * len(of) else Ratio.letter("N")
    return ends(evaluate(conclusions[0]["right"], {}, given))[0]


def _value(of: Ratio, i: int, N: int) -> Any:
    return of.put({"i": fmpq(i), "N": fmpq(N)})


def _through(values: Mapping[tuple[int, int], Any]) -> Any:
    """Return a rational function of i and N of least degree; None if there is none."""
    for degrees in sorted(product(range(DEGREE + 1), repeat=2), key=sum):
        above, below = (
            [
                Ratio.letter("i") ** a * Ratio.letter("N") ** b
                for a in range(d + 1)
                for b in range(d + 1 - a)
            ]
            for d in degrees
        )
        rows = [
            [*(_value(x, *at) for x in above), *(-c * _value(x, *at) for x in below)]
            for at, c in values.items()
        ]
        null = null_space(fmpq_mat(rows))
        if null.ncols() and len(rows) >= null.nrows():
            terms = [null[k, 0] * x for k, x in enumerate(above + below)]
            top, bottom = sum(terms[: len(above)]), sum(terms[len(above) :])
            if not any(vanishes(_value(bottom, *at)) for at in values):
                return top / bottom
    return None


def _place(text: str, of: Mapping[str, int]) -> int | None:
    """Return an index, i + 1 say; None of what is none of those given."""
    found = re.fullmatch(r"(?=.)([ijN]?)([+-]?\d*)", text)
    if not found or (found[1] and found[1] not in of):
        return None
    return of.get(found[1], 0) + int(found[2] or 0)


def _holds(where: str, of: Mapping[str, int]) -> bool:
    """Tell whether a chain of inequalities between indices holds."""
    parts = re.split(r"(<|\\le |=)", where)
    each = [_place(part, of) for part in parts[::2]]
    chain = zip(each, parts[1::2], each[1:], strict=False)
    return all(a is not None and b is not None and SIGNS[sign](a, b) for a, sign, b in chain)


def _where(where: str, N: int) -> list[dict[str, int]]:
    """Return the indices for which a chain of inequalities holds."""
    every = [{"i": i, "j": j, "N": N} for i in range(N + 1) for j in range(N + 1)]
    return [of for of in every if _holds(where, of) and ("j" in where or of["j"] == 0)]


def _put(text: str, of: Mapping[str, int]) -> str:
    """Return formulas with numbers for indices."""

    def index(found: re.Match[str]) -> str:
        made = [(part, _place(part, of)) for part in found[1].split(",")]
        return f"_{{{','.join(part if k is None else str(k) for part, k in made)}}}"

    text = re.sub(r"_\{([^{}]*)\}", index, text)
    each = r"(?<![A-Za-z\\_])[ijN](?![A-Za-z])"
    return re.sub(each, lambda m: f"({of[m[0]]})" if m[0] in of else m[0], text)
