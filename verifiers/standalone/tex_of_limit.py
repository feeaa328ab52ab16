r"""A limit that linear gradients refute as LaTeX: the functions, the recurrence, how it goes."""

import re
from typing import Any

from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.series import Recurrence
from driftproof.toolkit.verdict import Row
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.tex import heading

OPERATOR = "the operator "
MATHS = {
    r"like (t²·)?([^t]+)\^t": r"like $\1ρ^t$ with $ρ$ about $\2$",
    "like t²$": "like $t²$",
    r"\((λ_i|λ|p|r)/2\)": r"\\frac{\1}{2}",
    r"(\d+)/(\d+)": r"\\frac{\1}{\2}",
    r"_\((.+?)\)": r"_{\1}",
    r"(\d)e-0*(\d+)": r"\1 \\cdot 10^{-\2}",
} | {"λ": r"\\lambda", "ρ": r"\\rho", "‖": r"\\|", "·": " ", "²": "^2", "−": "-", "↦": r"\\mapsto"}
"""What ``on_quadratics.Mode`` says, and its LaTeX."""


def tex_of_limit(claim: Any, row: Row) -> str:
    """Return the LaTeX of a run on linear gradients that breaks a limit.

    Raises:
        NoScriptError: something else refutes it.
    """
    reason, _, carried = row.reason.partition("\n")
    of = row.series
    if not isinstance(of, Recurrence):
        raise NoScriptError(f"what refutes it has no functions to write down: {reason}")
    _, kind, functions = of.functions.rpartition(OPERATOR)
    on, numbers, goes = map(_maths, (functions, of.numbers, of.grows))
    if row.rhs is not None and row.rhs < 1:
        goes += f". Stated is $O(r^t)$ with $r$ about ${_maths(f'{row.rhs:.6g}')}$"
    first, _, *rest = heading(claim, row.form_key)
    return "\n".join(
        [
            first,
            *rest,
            f"Judged is {latex_text(row.case['label'])}.",
            f"On {kind}${on}$ with ${numbers}$ the iterates of some run obey",
            rf"\[ {_maths(of.obeyed)}, \]",
            rf"and $\|x_t\|^2$ {goes}{'; ' * bool(carried)}{latex_text(carried.strip())}.",
            "",
        ]
    )


def _maths(text: str) -> str:
    for plain, tex in MATHS.items():
        text = re.sub(plain, tex, text)
    return text
