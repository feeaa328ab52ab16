r"""What a paper prints of its verdicts, and what a hosted check says of them.

``driftproof.aux.tex`` has what ``\driftproof`` prints beside a theorem; ``supplement.tex`` is a
table for the supplement, which is ``\input`` where the theorems' labels are known.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from driftproof.toolkit import __version__
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.latex_sync.compare import Found, Problem
from driftproof.verifiers.latex_sync.lockfile import EYE, digest

AUX = "driftproof.aux.tex"
WORDS = {"REFUTED": "refuted", "INCONCLUSIVE": "undecided"}
PROOFS = {
    "symbolic": "proved by algebra",
    "theorem": "proved for a whole class of functions",
    "class": "proved for a whole class of functions, at {}",
}
"""What is a proof, if it is all the evidence."""
TABLE = r"""% \usepackage{booktabs,longtable} in the preamble, then \input this file
\begingroup\footnotesize
\begin{longtable}{lllllll}
\toprule
Theorem & Claim & Verdict & Evidence & Cases & Since & Compared by \\
\midrule
\endhead
\bottomrule
\endfoot"""


def says(found: Found) -> str:
    """Return what is printed beside a theorem."""
    if found.uncompared:
        return "not compared with its claim"
    if found.problems:
        return "not verified as it stands here"
    cases = f"{found.now.cases} case{'s' * (found.now.cases != '1')}"
    word = WORDS.get(found.now.verdict, "not applicable")
    if found.now.verdict == Verdict.SUPPORTED:
        proof = PROOFS.get(found.now.evidence, "checked on {}")
        word = proof.format(cases.replace("case", "setting") if "class" in proof else cases)
        if "class" in proof and found.proved:
            word = f"proved over {found.proved}"
    return word + "; compared by eye" * (found.now.compared == EYE)


def aux(every: Sequence[Found]) -> str:
    """Return ``driftproof.aux.tex``; of a claim that is marked twice, what stands against it."""
    said: dict[str, str] = {}
    for found in every:
        if found.problems or found.theorem.claim not in said:
            said[found.theorem.claim] = says(found)
    lines = [rf"\driftproofsays{{{claim}}}{{{latex_text(text)}}}" for claim, text in said.items()]
    return "\n".join([f"% written by driftproof paper {__version__}", *lines, ""])


def supplement(every: Sequence[Found], profile: str) -> str:
    """Return a table of all marked theorems, and what its columns mean."""
    lines = []
    for found in every:
        now, label = found.now, found.theorem.label
        where = rf"\ref{{{label}}}" if label != now.claim else "--"
        how = "nobody" if found.uncompared else f"{now.compared} ({digest(now.source)})"
        as_judged = found.verdict == now.verdict
        verdict = "changed" if found.problems and as_judged else found.verdict
        cells = (now.claim, verdict, now.evidence, now.cases, now.since, how)
        lines.append(" & ".join([where, *map(latex_text, cells)]) + r" \\")
    end = (
        r"\end{longtable}\endgroup"
        "\n"
        rf"Judged by driftproof {__version__}, profile {profile}. Compared by algebra: the right "
        "side is the claim's as a formula; by eye: it cannot be read as one, and the source is "
        "what it was when an author compared it. In brackets the digest of the source."
    )
    return "\n".join([TABLE, *lines, end, ""])


def marks(problems: Iterable[Problem], root: Path) -> list[str]:
    """Return the lines by which a step of a GitHub workflow marks lines of files."""
    lines = []
    for problem in problems:
        text = problem.text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        where = problem.file.resolve()
        file = where.relative_to(root) if where.is_relative_to(root) else where
        lines.append(f"::error file={file},line={problem.line},title=driftproof::{text}")
    return lines


def summary(every: Sequence[Found]) -> str:
    """Return a table in Markdown for the summary of a workflow."""
    lines = ["| theorem | claim | verdict | evidence | cases | since | |", "|---|" * 1 + "---|" * 6]
    for found in every:
        now = found.now
        state = "as bound" if not found.problems else found.problems[0].text
        cells = (found.theorem.label, now.claim, found.verdict, now.evidence, now.cases, now.since)
        lines.append("| " + " | ".join(x.replace("|", r"\|") for x in (*cells, state)) + " |")
    return "\n".join([*lines, ""])
