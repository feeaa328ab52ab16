"""Overrides: a claim's own cases with other values of some parameters, from a command line.

A verdict on overridden cases says something of the statement. It says nothing of the record, whose
cases were chosen by the claim: it is neither compared with it nor written to it.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.parameters import Parameters
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.claim_types.comparison import ComparisonClaim
from driftproof.verifiers.claim_types.rate import RateClaim

Values = tuple[tuple[str, tuple[Any, ...]], ...]
"""Parameters with the values of each, as they were typed."""
OPTIONS = {"problem": "-p", "algorithm": "-a"}
"""The command's option for each part of a case."""
LARGEST = 2**1023
"""A whole number above it is no float."""


@dataclass(frozen=True)
class Overrides:
    """Values that take the place of those in a claim's cases.

    Attributes:
        problem, algorithm: the parameters of each, with one value or several.
        replicates: the most replicates that a case may take (None: the profile's).

    >>> made = Overrides.parsed(["heterogeneity=0,1", "clients=4"], ["branch=special"])
    >>> made.problem
    (('heterogeneity', (0, 1)), ('clients', (4,)))
    >>> str(made)
    '-p heterogeneity=0,1 -p clients=4 -a branch=special'
    """

    problem: Values = ()
    algorithm: Values = ()
    replicates: int | None = None

    @classmethod
    def parsed(
        cls, problem: Iterable[str], algorithm: Iterable[str], replicates: int | None = None
    ) -> Overrides:
        """Return what words like ``heterogeneity=0,1,10`` say.

        Raises:
            DriftproofError: a word without a name or a value, or a name twice.
        """
        parts = {"problem": problem, "algorithm": algorithm}
        made = {part: tuple(_parsed(w, OPTIONS[part]) for w in x) for part, x in parts.items()}
        for part, values in made.items():
            names = [name for name, _ in values]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise DriftproofError(
                    f"{OPTIONS[part]} {twice}=… twice",
                    "each parameter once, with all its values",
                    f"write {OPTIONS[part]} {twice}=1,2",
                )
        return cls(**made, replicates=replicates)

    @classmethod
    def given(
        cls,
        problem: Mapping[str, Any] | None = None,
        algorithm: Mapping[str, Any] | None = None,
        replicates: int | None = None,
    ) -> Overrides:
        """Return overrides from parameters with one value or a list of values each.

        Raises:
            DriftproofError: an empty list, or no replicates.

        >>> str(Overrides.given({"heterogeneity": [0, 1]}, {"local_steps": 2}))
        '-p heterogeneity=0,1 -a local_steps=2'
        """
        made = {
            part: tuple((name, _several(name, value)) for name, value in (values or {}).items())
            for part, values in {"problem": problem, "algorithm": algorithm}.items()
        }
        if replicates is not None and replicates < 1:
            raise DriftproofError(
                f"replicates = {replicates}", "1 or more", "write replicates=64, say"
            )
        return cls(**made, replicates=replicates)

    def __bool__(self) -> bool:
        return bool(self.problem or self.algorithm or self.replicates is not None)

    def __str__(self) -> str:
        words = [
            f"{OPTIONS[part]} " + shlex.quote(f"{name}=" + ",".join(map(str, values)))
            for part in OPTIONS
            for name, values in getattr(self, part)
        ]
        words += [] if self.replicates is None else [f"--replicates {self.replicates}"]
        return " ".join(words)

    def of(self, source: Claim[Any] | Leaf) -> Claim[Any] | Leaf:
        """Return a claim with these values, or a claim's leaf that loads it so."""
        if not self:
            return source
        if isinstance(source, Leaf):
            return OverriddenLeaf(**vars(source), overrides=self)
        return self.applied(source)

    def applied(self, claim: Claim[Any]) -> Claim[Any]:
        """Return a claim on its own cases with these values, each case once.

        A case without such a parameter is left out, and so is one that may not have such a value.

        Raises:
            DriftproofError: no case has a parameter of that name, or may have one of the values, or
                the claim has no cases of its own choice.
        """
        changed: dict[str, Any] = {}
        if self.replicates is not None and isinstance(claim, RateClaim):
            changed["replicates"] = self.replicates
        if self.problem or self.algorithm:
            if not isinstance(claim, BoundClaim | ComparisonClaim) or not claim.judged_on:
                raise DriftproofError(
                    f"{self} with {claim.name}, a @{claim.way}",
                    "a claim that is judged on cases: a @bound or a @comparison",
                    "leave it out; of a rate the schedule says what its cases are",
                )
            refused = _Refused()
            kept = ("cases", "full", "classes")
            lists = {name: list(getattr(claim, name)) for name in kept if hasattr(claim, name)}
            self._check_names(claim, [case for cases in lists.values() for case in cases])
            changed |= {name: self._overridden(cases, refused) for name, cases in lists.items()}
            refused.check(claim, self, [case for name in lists for case in changed[name]])
        return replace(claim, **changed) if changed else claim

    def _check_names(self, claim: Claim[Any], cases: Sequence[Case]) -> None:
        """Raise unless some case has every parameter that is named."""
        known = {part: _names(getattr(case, part) for case in cases) for part in OPTIONS}
        for part, other in (("problem", "algorithm"), ("algorithm", "problem")):
            for name, _ in getattr(self, part):
                if name in known[part]:
                    continue
                if name in known[other]:
                    raise DriftproofError(
                        f"{OPTIONS[part]} {name}: {claim.name} has no such parameter of its {part}",
                        f"{name} of its {other}",
                        f"write {OPTIONS[other]} {name}=…",
                    )
                raise unknown_name(f"parameter of the {part} of {claim.name}", name, known[part])

    def _overridden(self, cases: Sequence[Case], refused: _Refused) -> list[Case]:
        """Return cases with every combination of these values."""
        made: dict[str, Case] = {}
        for case in cases:
            parts = [list(self._variants(case, part, refused)) for part in OPTIONS]
            for problem, algorithm in product(*parts):
                new = replace(case, problem=problem, algorithm=algorithm)
                made.setdefault(new.key, new)
        return list(made.values())

    def _variants(self, case: Case, part: str, refused: _Refused) -> Iterator[Any]:
        values, old = getattr(self, part), getattr(case, part)
        if not values:
            yield old
            return
        has = _names([old])
        if not all(name in has for name, _ in values):
            return
        names = [name for name, _ in values]
        for chosen in product(*(options for _, options in values)):
            fields = {
                name: _as_before(getattr(old, name), value)
                for name, value in zip(names, chosen, strict=True)
            }
            odd = [
                name for name, value in fields.items() if _another_kind(getattr(old, name), value)
            ]
            if odd:
                was, got = getattr(old, odd[0]), fields[odd[0]]
                refused.errors.append(
                    DriftproofError(
                        f"{type(old).__name__}: {odd[0]} = {got!r}", f"a value like {was!r}", ""
                    )
                )
                continue
            try:
                yield replace(old, **fields)
            except DriftproofError as error:
                refused.errors.append(error)

    def left_out(self, claim: Claim[Any]) -> int:
        """Return how many of a claim's own cases lack a parameter, or may not have these values."""
        if not (self.problem or self.algorithm):
            return 0
        own = [*claim.cases, *claim.full, *getattr(claim, "classes", ())]
        return sum(not self._overridden([case], _Refused()) for case in own)

    @property
    def swept(self) -> list[tuple[str, str]]:
        """The part and the name of each parameter that has several values."""
        return [
            (part, name) for part in OPTIONS for name, x in getattr(self, part) if len(x) > 1
        ]  # fmt: skip

    def said(self, claims: Iterable[Claim[Any]]) -> str:
        """Say what is judged instead of the claims' own cases."""
        left_out = sum(map(self.left_out, claims))
        without = "" if not left_out else (
            f" {left_out} of the claims' cases have no such parameter, or may not have such a "
            "value, and are left out."
        )  # fmt: skip
        return f"Overridden by {self}: nothing is compared with the record.{without}"


AS_WRITTEN = Overrides()
"""No overrides."""


class _Refused:
    """What parameters refused, for a value that no case may have."""

    def __init__(self) -> None:
        self.errors: list[DriftproofError] = []

    def check(self, claim: Claim[Any], overrides: Overrides, made: Sequence[Case]) -> None:
        """Raise unless each value is that of some case."""
        for part, option in OPTIONS.items():
            for name, values in getattr(overrides, part):
                had = [getattr(getattr(case, part), name, None) for case in made]
                lacking = [value for value in values if value not in had]
                if lacking and self.errors:
                    raise DriftproofError(
                        self.errors[0].got, self.errors[0].wanted, f"change {option} {name}=…"
                    )
                if lacking:
                    raise DriftproofError(
                        f"{overrides}: no case of {claim.name} has all of these parameters",
                        "parameters that one of its cases has together",
                        f"driftproof verify {claim.name} with one of them at a time",
                    )


@dataclass(frozen=True)
class OverriddenLeaf(Leaf):
    """A claim's leaf that loads the claim with other values in its cases."""

    overrides: Overrides = AS_WRITTEN

    @property
    def typed(self) -> str:
        """What a command calls it."""
        return f"{super().typed} {self.overrides}"

    def load(self) -> Any:
        """Import the claim, and return it with other values."""
        return _applied(self.overrides, super().load())


@cache
def _applied(overrides: Overrides, claim: Claim[Any]) -> Claim[Any]:
    """Return a claim with other values: one and the same in a process."""
    return overrides.applied(claim)


def _names(parts: Iterable[Parameters | None]) -> set[str]:
    """Return the parameters that some of the parts have."""
    return {name for part in parts if part is not None for name in part.values()}


def _as_before(old: Any, value: Any) -> Any:
    """Return a value as the claim's author would have written it: 1.0 for 1 where numbers are real.

    A case's key tells 1 from 1.0, and both are the same case.
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if isinstance(old, float) and whole else value


def _another_kind(old: Any, value: Any) -> bool:
    """Say whether a word stands where a number or a flag was, or the other way round."""
    if old is None:
        return False
    typed = isinstance(old, int | float | str)  # no list of conditions can be typed, say
    return not typed or isinstance(old, str) != isinstance(value, str)


def _several(name: str, value: Any) -> tuple[Any, ...]:
    """Return a parameter's values: those of a list, or the one that is given."""
    if isinstance(value, list | tuple | range):
        if not len(value):
            raise DriftproofError(
                f"{name} = {value!r}", "a value, or a list of values", f"write {name}=[1, 2], say"
            )
        return tuple(value)
    return (value,)


def _parsed(word: str, option: str) -> tuple[str, tuple[Any, ...]]:
    name, equals, text = word.partition("=")
    name, text = name.strip(), text.strip()
    if not (name.isidentifier() and equals and text):
        raise DriftproofError(
            f"{option} {word}",
            "NAME=VALUE, or NAME=VALUE,VALUE",
            f"write {option} clients=2,8, say",
        )
    return name, tuple(_literal(part.strip()) for part in text.split(","))


def _literal(text: str) -> Any:
    """Return a number, True or False as what it is, anything else as a word."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if isinstance(value, int) and abs(value) > LARGEST:
        return text
    return value if isinstance(value, int | float | str) else text
