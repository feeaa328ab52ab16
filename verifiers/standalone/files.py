"""The files of a search's scripts: kept if they give the judge's numbers in a process apart."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from driftproof.toolkit.groups import number
from driftproof.toolkit.report.files import cannot_write
from driftproof.verifiers.claim_types.sources import Source, loaded
from driftproof.verifiers.search.finding import CANDIDATE, Finding, remade
from driftproof.verifiers.search.units import failure
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.script import script_of
from driftproof.verifiers.standalone.tex import tex_of

NAME = "counterexample"
"""How the names of the files begin."""
SECONDS = 60
"""How long a script may take."""
NEAR = 1e-6
"""How far a side may be from the judge's, relatively: both are rounded."""
ALLOWED = 1e-3
"""How far the judge's right side may lie above a script's, relatively, if left is above both."""
SECOND = "a second program, in numpy alone,"
"""How the reason begins why there is no script, if one was written and contradicts the judge."""
PRINTED = re.compile(r"^REFUTED .*: left = (\S+) > right = (\S+)$", re.MULTILINE)
ERROR = re.compile(r"standard error (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Written:
    """A script, or why there is none.

    Attributes:
        path: the file (None: there is none).
        reason: in a line, if there is none.
        tex, no_tex: the same of its LaTeX.
    """

    path: Path | None
    reason: str = ""
    tex: Path | None = None
    no_tex: str = ""


def write(sources: Iterable[Source], findings: Iterable[Finding], folder: Path) -> list[Written]:
    """Write a script for each finding that is a violation, beside search.json.

    Scripts of a search before are removed, once all of these are there.

    Returns:
        One for each finding; of those that are no violation, without path and reason.
    """
    claims = {source.name: source for source in sources}
    written: list[Written] = []
    try:
        with TemporaryDirectory(prefix=".scripts-", dir=folder) as apart:
            for number, finding in enumerate(findings):
                if not finding.found or finding.is_control:
                    written.append(Written(None))
                    continue
                name = f"{NAME}-{_plain(finding.claim)}-{_plain(finding.form)}"
                if any(folder / f"{name}.py" == other.path for other in written):
                    name += f"-{number}"  # two forms that begin alike
                of, path = (claims[finding.claim], finding), Path(apart) / f"{name}.py"
                reasons = [_why_not(kind, *of, path) for kind in (_script, _tex)]
                if reasons[0].startswith(SECOND):
                    reasons[1] = reasons[0]  # what is contradicted goes into no review
                made = [
                    None if why else folder / f"{name}{end}"
                    for why, end in zip(reasons, (".py", ".tex"), strict=True)
                ]
                if made[1] and finding.elsewhere:  # whoever pastes it has to know
                    tex = path.with_suffix(".tex")
                    said = f"% {finding.elsewhere}\n{tex.read_text(encoding='utf-8')}"
                    tex.write_text(said, encoding="utf-8")
                written.append(Written(made[0], reasons[0], made[1], reasons[1]))
            for before in (*folder.glob(f"{NAME}-*.py"), *folder.glob(f"{NAME}-*.tex")):
                before.unlink()
            for script in written:
                for file in filter(None, (script.path, script.tex)):
                    os.replace(Path(apart) / file.name, file)
    except OSError as error:
        raise cannot_write(error, folder) from error
    return written


def demoted(findings: Iterable[Finding], scripts: Iterable[Written]) -> list[Finding]:
    """Return the findings: one that its script contradicts is a candidate, whoever verified it.

    A script that samples may be unlucky.
    """
    return [
        replace(finding, status=CANDIDATE, reason=f"{script.reason}; {finding.reason}")
        if script.reason.startswith(SECOND) and finding.evidence != "sequential"
        else finding
        for finding, script in zip(findings, scripts, strict=True)
    ]


def _why_not(kind: Any, source: Source, finding: Finding, path: Path) -> str:
    """Write a file of a finding; return why there is none."""
    try:
        claim = loaded(source)
        form = next(form for form in claim.forms if form.key == finding.form)
        kind(claim, form, remade(finding, claim), path, finding.lhs or {}, finding.rhs)
    except OSError:
        raise
    except NoScriptError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - of ours: it costs no finding
        return failure(error)
    return ""


def _script(claim: Any, form: Any, case: Any, path: Path, lhs: Any, rhs: float | None) -> None:
    path.write_text(script_of(claim, form, case), encoding="utf-8")
    refuse_others(path, lhs, rhs)


def _tex(claim: Any, form: Any, case: Any, path: Path, lhs: Any, rhs: float | None) -> None:
    path.with_suffix(".tex").write_text(agreed_tex(claim, form, case, lhs, rhs), encoding="utf-8")


def agreed_tex(claim: Any, form: Any, case: Any, lhs: Mapping[str, Any], rhs: float | None) -> str:
    """Return the LaTeX of a refutation, whose sides are the judge's.

    Raises:
        NoScriptError: there is none, with the reason.
    """
    text, left, right, width = tex_of(claim, form, case)
    if not agrees(left, right, width / 6, lhs, rhs):
        raise NoScriptError(
            f"in fractions it is {left:g} > {right:g}, not the judge's numbers; please report it"
        )
    return text


def sides(script: Path) -> tuple[float, float, float]:
    """Run a script; return left side, right side and the left one's standard error (0: exact).

    Raises:
        NoScriptError: it fails, or takes too long.
    """
    try:
        ran = subprocess.run(
            [sys.executable, "-I", str(script)],
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoScriptError(f"it would run for more than {SECONDS} seconds") from None
    printed, error = PRINTED.search(ran.stdout), ERROR.search(ran.stdout)
    if ran.returncode or printed is None:
        last = (ran.stderr.strip() or "it prints no sides").splitlines()[-1]
        if last == "AssertionError":  # of assert left > right
            raise NoScriptError(f"{SECOND} does not see it")
        raise NoScriptError(f"its script fails ({last}); please report it")
    return float(printed[1]), float(printed[2]), float(error[1]) if error else 0.0


def refuse_others(script: Path, lhs: Mapping[str, Any], rhs: float | None) -> None:
    """Remove a script that does not give the judge's numbers.

    Raises:
        NoScriptError: it does not, or it does not run.
    """
    try:
        left, right, error = sides(script)
        if not agrees(left, right, error, lhs, rhs):
            raise NoScriptError(
                f"{SECOND} gives {left:g} > {right:g}, the judge "
                f"{number(lhs.get('mean'))} > {number(rhs)}; please report it"
            )
    except NoScriptError:
        script.unlink()
        raise


def agrees(
    left: float, right: float, error: float, lhs: Mapping[str, Any], rhs: float | None
) -> bool:
    """Say whether the sides of a script are those of a row, up to rounding and sampling.

    Args:
        error: the standard error of a sampled left side; six of them are allowed. Or a sixth of
            what the sides are known within.
    """
    slack = NEAR * (abs(left) + abs(right)) + 6 * error
    low, high = lhs.get("low"), lhs.get("high")
    above = low is None or left >= low - slack
    below = high is None or left <= high + slack
    if rhs is None or not (above and below):
        return False
    # where digits cancel in a constant, the judge's right side allows for what they were
    high_right = rhs + slack - 6 * error + 1e-12
    low_right = rhs - max(slack - 6 * error + 1e-12, min(ALLOWED * rhs, left - rhs))
    return low_right <= right <= high_right


def _plain(name: str) -> str:
    """Return a name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]
