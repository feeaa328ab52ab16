"""The script of a claim in a file of one's own: its claims are judged, one refuted is shown.

A refutation on a case is written as one that a search finds is; one over a class from the functions
that refute it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.groups import clearest
from driftproof.toolkit.series import Recurrence
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.sources import loaded
from driftproof.verifiers.search.units import judged
from driftproof.verifiers.standalone.files import agreed_tex, refuse_others, sides
from driftproof.verifiers.standalone.of_class import script_of_class
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.script import script_of
from driftproof.verifiers.standalone.tex_of_class import tex_of_class
from driftproof.verifiers.standalone.tex_of_limit import tex_of_limit


def script_of_own(
    sources: Sequence[Leaf], rows: Sequence[Row], form: str, folder: Path, *, tex: bool = False
) -> tuple[Path, list[str]]:
    """Write a script of a refuted form into a folder; return it, and the other forms refuted.

    Args:
        sources: the claims of the file.
        rows: their verdicts.
        form: which form, as a glob; "claim: form" or the claim where the file has several claims.
        tex: write it as LaTeX.

    Raises:
        DriftproofError: nothing is refuted, or no refutation has a script.
    """
    file = sources[0].typed
    refuted = [row for row in rows if row.verdict is Verdict.REFUTED]
    if not refuted:
        names = ", ".join(source.name for source in sources)
        of_cases = any(loaded(source).cases for source in sources)
        raise DriftproofError(
            f"{names} in {file}: no form is refuted" + " on the cases of the claim" * of_cases,
            "a claim that is refuted",
            f"driftproof falsify {file} searches for a case that refutes it, and writes the script"
            if of_cases
            else f"driftproof verify {file} says what is proved, or what keeps it open",
        )
    several = len(sources) > 1
    keys = [f"{row.claim}: {row.form_key}" if several else row.form_key for row in refuted]
    forms = list(dict.fromkeys(keys))
    if not any(_chosen(key, form) for key in forms):
        raise unknown_name("refuted form", form, forms)
    claims = {source.name: source for source in sources}
    reasons: dict[str, None] = {}
    rows_of = {
        key: [row for k, row in zip(keys, refuted, strict=True) if k == key] for key in forms
    }
    pairs = [(k, row) for k in forms if _chosen(k, form) for row in clearest(rows_of[k])]
    for key, row in pairs:
        script = folder / "counterexample.py"
        try:
            claim, said = loaded(claims[row.claim]), ""
            if tex:  # which has no loops
                claim, row, said = _shortest(claim, row)
            if not tex or row.evidence is Evidence.CLASS:
                script.write_text(_text(claim, row), encoding="utf-8")
                _refuse_others(script, row)
            if tex:
                text = _text(claim, row, tex=True)
                script = script.with_suffix(".tex")
                script.write_text(text + f"{said}\n" * bool(said), encoding="utf-8")
        except NoScriptError as error:
            reasons[str(error)] = None
        else:
            return script, [other for other in forms if other != key]
    why = f"{file}: {'; '.join(reasons)}"
    if tex:
        raise DriftproofError(
            why,
            "a case with numbers and functions that formulas can say",
            f"driftproof counterexample {file} prints a script, if one can be; driftproof verify "
            f"{file} shows what refutes it",
        )
    remedy = f"driftproof counterexample {file} --tex writes it as LaTeX"
    if not any(isinstance(row.series, Recurrence) for _, row in pairs):
        remedy = (
            f"driftproof verify {file} shows the case that refutes it, and pytest --driftproof "
            f"{file} prints lines of Python that repeat it"
        )
    raise DriftproofError(why, "a refutation that can be written without driftproof", remedy)


def _chosen(key: str, form: str) -> bool:
    return key == form or fnmatchcase(key, form) or key.startswith(f"{form}: ")


def _refuse_others(script: Path, row: Row) -> None:
    """Raise NoScriptError unless a script gives the row's numbers."""
    lhs = row.lhs or {}
    if row.evidence is not Evidence.CLASS:
        refuse_others(script, lhs, row.rhs)
        return
    left, right, _ = sides(script)
    # its functions are half as bad as the worst, and exceed a bound that is rounded up
    if row.rhs is None or not row.rhs <= right < left <= (lhs.get("high") or left):
        raise NoScriptError(
            f"its script gives {left:g} > {right:g}, the judge does not; please report it"
        )


def _shortest(claim: Any, row: Row) -> tuple[Any, Row, str]:
    """Return the claim and the row of the fewest rounds that refute too, and what is said of it."""
    case = next((case for case in claim.cases if case.key == row.case.get("key")), None)
    if case is None or not claim.measures:
        return claim, row, ""
    form = next(form for form in claim.forms if form.key == row.form_key)
    rounds, following = 1, 2
    while rounds < case.rounds:
        shorter = replace(case, rounds=rounds)
        with suppress(DriftproofError):  # nothing may be measured in so few
            found = judged(claim, form, shorter, 0)
            sampled = found.evidence is Evidence.SEQUENTIAL is not row.evidence
            if found.verdict is Verdict.REFUTED and not sampled:
                said = f"The claim's case has {case.rounds} rounds; this one has fewer, all else"
                return claim.on(shorter), found, f"{said} equal."
        rounds, following = following, rounds + following
    return claim, row, ""


def _text(claim: Any, row: Row, *, tex: bool = False) -> str:
    """Return the script of a refuted row, or its LaTeX.

    Raises:
        NoScriptError: with the reason why there is none.
    """
    if row.evidence is Evidence.CLASS:
        if not row.proofs:
            raise NoScriptError("the functions that refute it could not be made simple")
        found = next(iter(row.proofs.values()))
        if tex:
            return tex_of_class(claim, row.form_key, found)
        return script_of_class(row.claim, row.form_key, found)
    form = next(form for form in claim.forms if form.key == row.form_key)
    case = next((case for case in claim.cases if case.key == row.case.get("key")), None)
    if case is None and tex:
        return tex_of_limit(claim, row)
    if case is None:
        raise NoScriptError(f"no run is computed, so there is no script: {row.reason}")
    if tex:
        return agreed_tex(claim, form, case, row.lhs or {}, row.rhs)
    return script_of(claim, form, case)
