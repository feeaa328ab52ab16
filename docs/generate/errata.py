"""An erratum's counterexample, as its script prints it, and its entry of BibTeX."""

import ast
import re
import subprocess
import sys
from functools import cache
from itertools import takewhile
from pathlib import Path
from textwrap import wrap

from driftproof.toolkit import __version__
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.claim_view import ClaimView, anchor
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.verifiers.counterexamples import part, parts, printed, scripts

ROOT = Path(__file__).parents[2]


def instance(script: Path, claim: str) -> str:
    """Return what a script's docstring says of its instance, and all that follows it there.

    What else it says of the claim, if it is of several, are the first comments of its part.

    Raises:
        DriftproofError: it does not say what the instance is.
    """
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    lines = part(script, claim).splitlines() if parts(script) else []
    own = [line[2:] for line in takewhile(lambda line: line.startswith("# "), lines)]
    said = " ".join([*docstring.split(), *(line for line in own if not line.startswith("case: "))])
    found = re.search(r"The instance(?:: | has | is )(.*)", said)
    if found is None:
        raise DriftproofError(
            f"{script.name} says nothing of its instance",
            "a docstring with a sentence that begins with “The instance:”",
            "say there what the functions and the numbers are",
        )
    # a word gets its capital, a letter of a formula stays as it is
    return re.sub(r"^[a-z]{2,}", lambda word: word[0].capitalize(), found[1])


@cache
def sides(script: Path, claim: str) -> dict[tuple[str, str, str], list[str]]:
    """Return what a script prints of a claim: left, > or ≠, right, and the forms that have them.

    Numbers have six digits, which are the same on every machine.

    Raises:
        DriftproofError: it ends with an error.
    """
    ran = subprocess.run(
        [sys.executable, "-I", str(script)], capture_output=True, encoding="utf-8", check=False
    )
    if ran.returncode:
        raise DriftproofError(
            f"{script.name} ends with an error: {ran.stderr}",
            "a script whose refutation holds",
            "mend the script",
        )
    made: dict[tuple[str, str, str], list[str]] = {}
    for form, left, sign, right in printed(ran.stdout, claim):
        key = f"{float(left):.6g}", sign.replace("!=", "≠"), f"{float(right):.6g}"
        made.setdefault(key, []).append(form)
    return made


def bibtex(view: ClaimView) -> str:
    """Return an entry of BibTeX: ASCII, with LaTeX for the letters, and CITATION.cff's date."""
    (date,) = re.findall(r"^date-released: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    (site,) = re.findall(r'^html_baseurl = "(.*)"$', (ROOT / "docs/conf.py").read_text(), re.M)
    note = [f"The paper, {one.tag}: {one.citation.removesuffix('.')}" for one in view.references]
    if scripts(view.name):
        note.append(f"The counterexample: driftproof counterexample {view.name} --run")
    links = [one.link for one in view.references[-1:]]
    title = latex_text(f"Erratum to {view.about['source']}")
    place = f"errata.html\\#{anchor(view.name)}"
    severity = view.printed.severity if view.printed else ""
    fields = {
        "author": "{The driftproof developers}",
        "title ": f"{{{title}}}",
        "year  ": date[:4],
        "date  ": date,
        "version": __version__,
        "url   ": site + place.replace("\\", "") if site else "".join(links),
        "howpublished": f"driftproof {__version__}, {place}, {severity}",
        "note  ": latex_text(". ".join(note)),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    lines[-1:] = wrap(
        lines[-1], 96, subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False
    )
    key = view.name.replace("/", "-")
    return "\n".join([f"@misc{{driftproof-{key},", *lines, "}"])
