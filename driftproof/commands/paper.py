"""``driftproof paper``: the theorems of a paper's LaTeX, and the claims that they are marked by."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftproof.commands import _shared as shared
from driftproof.toolkit.errors import DriftproofError

if TYPE_CHECKING:
    from driftproof.verifiers.latex_sync.compare import Found, Problem

STYLE = Path(__file__).parents[1] / "latex" / "driftproof.sty"
COLUMNS = ["theorem", "claim", "verdict", "evidence", "cases", "since", "as bound"]


@click.command()
@click.argument("main", metavar="MAIN.tex", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("claims", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--bind", is_flag=True, help="Accept that each theorem and its claim say the same now."
)
@click.option(
    "--by-eye",
    is_flag=True,
    help="With --bind: you compared by eye what cannot be read as a formula.",
)
@shared.out_of("the ledger, the page and the supplement  [default: report-paper]")
@click.option(
    "--profile", type=click.Choice(["smoke", "quick", "full"]), default="quick", show_default=True
)
@shared.workers
@click.option("--github", is_flag=True, help="Mark lines and write a summary, for GitHub Actions.")
@shared.as_json
@click.pass_context
def command(
    ctx: click.Context,
    main: Path,
    claims: tuple[Path, ...],
    bind: bool,
    by_eye: bool,
    out: Path | None,
    profile: str,
    workers: int,
    github: bool,
    as_json: bool,
) -> int:
    r"""Check the theorems of a paper against the claims that \driftproof{claim} marks them by.

    CLAIMS are files of your claims, or folders of them. --bind writes driftproof.lock.json, to be
    committed with the paper: from then on a change of a theorem, a claim or a verdict fails, with
    its line. A right side that cannot be read as a formula is NOT COMPARED, and bound with --by-eye
    alone. driftproof.aux.tex, beside MAIN.tex, has what the paper prints of its verdicts.

    Exit status 0 if every marked theorem is as bound and its claim's verdict good (as verify has
    it), 1 otherwise; 2 bad input, 3 something needed is missing, 130 interrupted.
    """
    from driftproof.toolkit.report.files import write_text
    from driftproof.verifiers.latex_sync import lockfile, written
    from driftproof.verifiers.latex_sync.compare import Problem, compared, unmarked
    from driftproof.verifiers.latex_sync.judged import KEY, claims_of, rows_of
    from driftproof.verifiers.latex_sync.theorems import theorems

    marked = theorems(main)
    if not marked:
        raise DriftproofError(
            f"{main} marks no theorem",
            r"\driftproof{claim} in at least one",
            r"write it behind \begin{theorem}\label{…}; docs/paper.md shows how",
        )
    chosen = claims_of(claims, marked)
    out = shared.folder(out, "paper")

    def judge(key: str) -> Any:
        from driftproof.verifiers.verify import Settings

        settings = Settings(profile=profile, workers=workers, resume=True)
        leaves, quiet = [*chosen.values()], ctx.obj["quiet"]
        return shared.verified(leaves, settings, out, quiet=quiet, about={KEY: key})

    rows = rows_of([*chosen.values()], claims, out, judge, profile)
    bound = lockfile.read(main)

    def look() -> list[Found]:
        return [
            compared(
                theorem,
                chosen[theorem.claim],
                [r for r in rows if r.claim == theorem.claim],
                bound.get(theorem.label),
            )
            for theorem in marked
        ]

    found = look()
    if bind:
        # what is read to differ is not bound: the claim, or the theorem, has to be mended
        left = [one for one in found if one.said or (one.uncompared and not by_eye)]
        kept = {one.theorem.label for one in left} & bound.keys()
        bound = {label: bound[label] for label in kept} | {
            one.theorem.label: one.now for one in found if one not in left
        }
        lockfile.write(main, bound)
        found = look()
    problems = [problem for one in found for problem in one.problems]
    problems += [
        Problem(main, 1, f"{label} was bound, and nothing that is marked has that label")
        for label in unmarked(bound, marked)
    ]
    write_text(main.with_name(written.AUX), written.aux(found))
    write_text(out / "supplement.tex", written.supplement(found, profile))
    if bind and not main.with_name(STYLE.name).exists():
        shutil.copyfile(STYLE, main.with_name(STYLE.name))
    if github:
        _on_github(problems, found)
    if as_json:
        shared.print_json([one.public() for one in found])
    else:
        _shown(found, problems, out)
        for one in found if bind else ():
            name = one.theorem.claim
            assumed = [f"{a.name}, {a.statement}" for a in chosen[name].load().assumes]
            said = "; ".join([*[one.proved] * bool(one.proved), *assumed]) or "nothing"
            said = f"{one.theorem.label}: {name} assumes {said}"
            shared.tell(f"{said}. Does the theorem? Compare the left sides, too")
    return 1 if problems else 0


def _shown(found: list[Found], problems: list[Problem], out: Path) -> None:
    """Print a line for each theorem, then what stands against some of them."""
    shared.table(
        COLUMNS,
        [
            (
                one.theorem.label,
                one.now.claim,
                one.verdict,
                one.now.evidence,
                one.now.cases,
                one.now.since,
                "no" if one.problems else f"right side, by {one.now.compared}",
            )
            for one in found
        ],
        spare=["since", "cases"],
    )
    for problem in problems:
        shared.tell(f"{problem.file}:{problem.line}: {problem.text}")
    shared.tell(
        "Mend the side that is wrong; or compare the two, and bind them again with --bind."
        if problems
        else f"All {len(found)} marked theorems are as bound. What they assume, and their left "
        "sides, nothing but your eye has compared."
    )
    click.echo(f"page: {out / 'index.html'}; table: {out / 'supplement.tex'}")


def _on_github(problems: list[Problem], found: list[Found]) -> None:
    """Mark the lines of the problems, and write the summary where the workflow shows it."""
    from driftproof.verifiers.latex_sync import written

    root = Path(os.environ.get("GITHUB_WORKSPACE", ".")).resolve()
    for line in written.marks(problems, root):
        click.echo(line)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(written.summary(found))
