"""``driftproof.verify``: claims judged from Python, and the outcome as one object."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.groups import Group, grouped
from driftproof.toolkit.report.claim_view import views
from driftproof.toolkit.report.figures import Figure
from driftproof.toolkit.report.files import write_report
from driftproof.toolkit.report.forms_table import COLUMNS, SPARE, cells, chance, meaning, reasons
from driftproof.toolkit.report.notebook import CLAIMS_IN_FULL, shown_verdicts
from driftproof.toolkit.report.page import figures
from driftproof.toolkit.report.results_table import frame
from driftproof.toolkit.report.text_table import text_table
from driftproof.toolkit.verdict import Row, Verdict
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.claim_types.sources import Source, loaded
from driftproof.verifiers.in_print.entry import claim_entry
from driftproof.verifiers.search.shrink import shrunk
from driftproof.verifiers.verify import Settings, header, judge, select, union_bound

if TYPE_CHECKING:
    import pandas

LINES = 60
"""The most forms that are shown as text."""
ATTEMPTS = 200
"""How many simpler cases are tried instead of one that refutes."""


@dataclass(frozen=True, repr=False, eq=False)
class Verification(Sequence[Row]):
    """What became of claims: a sequence of rows, one for each case of each form of a statement.

    A notebook shows it as formula, table and plots; elsewhere it is the table as text.

    Attributes:
        rows: as ``results.json`` has them.
        sources: the claims.
        settings: how they were judged.
    """

    rows: tuple[Row, ...]
    sources: tuple[Source, ...]
    settings: Settings

    @overload
    def __getitem__(self, number: int) -> Row: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, number: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[number]

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        raise DriftproofError(
            "a verification where True or False is wanted",
            "a question that it can answer: there are four verdicts",
            'write made.verdict == "SUPPORTED"; in a test, assert_claim(claim)',
        )

    @cached_property
    def forms(self) -> tuple[Group, ...]:
        """The forms in which each statement was judged: as printed, in each reading, corrected."""
        return tuple(form for forms in grouped(self.rows).values() for form in forms)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each claim as printed, in the best of its admissible readings.

        Where nothing is printed, that on what it states.
        """
        claims = views({"claims": {}}, self.rows)
        return {name: view.verdict for name, view in claims.items()}

    @property
    def verdict(self) -> Verdict:
        """The verdict on the one claim that was judged.

        Raises:
            DriftproofError: there are several.
        """
        if len(self.verdicts) != 1:
            raise DriftproofError(
                f"the verdict on {len(self.verdicts)} claims",
                "one claim",
                "look at made.verdicts, which has each by its name",
            )
        return next(iter(self.verdicts.values()))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The plots, of both sides or of a rate; a notebook shows each, and ``svg()`` is its file.

        Of each claim there are its first and its strongest refutation, and its tightest support.
        """
        return tuple(figure for of_claim in figures(self.rows).values() for figure in of_claim)

    def frame(self) -> pandas.DataFrame:
        """Return a pandas frame with a line for each row.

        Raises:
            MissingError: pandas is not installed.
        """
        return frame(self.rows)

    def page(self, folder: str | Path) -> Path:
        """Write the page, tables and plots as the command does, and return the page's path.

        There is no ledger: ``driftproof verify`` keeps one.
        """
        head = header(self.sources, self.settings) | {"union_bound": union_bound(self.rows)}
        write_report(Path(folder), head, self.rows, plots=True)
        return Path(folder) / "index.html"

    def counterexample(self, claim: str | None = None) -> Case | None:
        """Return a case that refutes a claim, made as simple as was found.

        Fewer rounds, clients and coordinates are tried first, rounder numbers last. A simpler case
        has to refute the same form without sampling: exactly, or in ball arithmetic. The case of a
        rate is as the claim has it. What refutes a bound over a class is in its certificate.

        Args:
            claim: its name; the first that is refuted on a case, if it is left out.

        Returns:
            None if no case refutes it.
        """
        for source in self.sources:
            own = loaded(source)
            cases = {case.key: case for case in own.cases_for(self.settings.profile)}
            for form in grouped(self.rows)[own.name] if claim in (None, own.name) else ():
                case = cases.get(form.deciding.case["key"])
                if form.verdict is Verdict.REFUTED and case is not None:
                    if not own.searched:
                        return case
                    return shrunk(case, partial(self._refutes, own, form), ATTEMPTS)
        return None

    def _refutes(self, claim: Claim[Any], form: Group, case: Case) -> bool:
        rows = judge([claim.on(case)], self.settings)
        return any(
            row.form_key == form.title
            and row.verdict is Verdict.REFUTED
            and not (row.evidence and row.evidence.by_chance)
            for row in rows
        )

    def _sentences(self) -> list[str]:
        """Return what a reader has to know of all the verdicts."""
        lines = [*meaning(self.rows, "FOLDER"), chance(union_bound(self.rows))]
        if any(row.proofs for row in self.rows):
            lines.append('made.page("FOLDER") writes the certificates.')
        return lines

    def __repr__(self) -> str:
        width = shutil.get_terminal_size((100, 24)).columns
        shown = self.forms[:LINES]
        lines, left_out = text_table(COLUMNS, list(map(cells, shown)), width, SPARE)
        lines += [f"Left out for want of width: {', '.join(left_out)}."] if left_out else []
        if len(shown) < len(self.forms):
            lines.append(f"{len(self.forms) - len(shown)} more forms: made.frame() has them all.")
        elif len(self.verdicts) <= CLAIMS_IN_FULL:
            lines += reasons(shown)
        return "\n".join([*lines, *self._sentences()])

    def _repr_html_(self) -> str:
        whole = len(self.verdicts) <= CLAIMS_IN_FULL
        entries = {one.name: claim_entry(one) for one in self.sources} if whole else {}
        return shown_verdicts(self.rows, entries, self._sentences())


def verify(*claims: Claim[Any] | str, profile: str = "quick", seed: int = 0) -> Verification:
    """Judge claims, and return the outcome.

    Runs in this process, on one thread, and writes no file; the command uses all cores, and keeps
    a ledger. Verdicts are the same.

    >>> made = verify("comfedl/lemma-2", profile="smoke")
    >>> str(made.verdict), round(made[0].ratio, 6), made.forms[0].cases
    ('SUPPORTED', 1.0, '1')

    Args:
        claims: what the decorators made, or names, globs and files as the command takes them.
        profile: "smoke", "quick" or "full".
        seed: of every draw.

    Raises:
        DriftproofError: a name that there is not, or a claim that cannot be judged.
    """
    settings = Settings(profile=profile, seed=seed)
    chosen: list[Source] = []
    for claim in claims:
        chosen += select([claim]) if isinstance(claim, str) else [_shipped(claim)]
    return Verification(tuple(judge(chosen, settings)), tuple(chosen), settings)


def _shipped(claim: Claim[Any]) -> Source:
    """Return the leaf of a claim of driftproof's, of which more is known than of the object."""
    leaf = leaves("claim").get(getattr(claim, "name", ""))
    return leaf if leaf is not None and leaf.load() is claim else claim
