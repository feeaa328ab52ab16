"""``driftproof show``: everything about one leaf."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from driftproof.commands._shared import as_json, names_of, print_json, table, tell
from driftproof.toolkit.discover import KINDS, Leaf, import_path, leaves, leaves_in
from driftproof.toolkit.errors import DriftproofError, unknown_name

ALL_ROLES = ("roles", "letters")
"""What NAME may be to see all of them."""
NAMED_BY_CLASS = ("problem", "algorithm", "network", "split")
"""Kinds whose NAME may be the class's."""
HEADS = (
    "source", "statement", "explanation", "parameters", "notation", "constants", "fits", "cases",
    "serves", "variants", "files", "one_or_more_of", "optional_files", "tolerance", "times",
    "sizes", "file",
)  # fmt: skip


@click.command()
@click.argument("name", shell_complete=names_of(*KINDS))
@click.option("--latex", is_flag=True, help="Print formulas as their LaTeX source.")
@as_json
def command(name: str, latex: bool, as_json: bool) -> None:
    """Show the statement, assumptions, constants, source and verdicts on record of NAME.

    NAME may be a Python file of your own: all that is declared in it is shown. It may be a role or
    a letter too; ``driftproof show roles`` shows all of them.
    """
    if name in ALL_ROLES:
        print_roles(as_json)
        return
    if name.endswith(".py"):
        own = list(leaves_in(Path(name)))
        if not own:
            raise DriftproofError(
                f"{name} declares nothing: no claim, problem or algorithm",
                "a decorator of driftproof's, such as @bound, above a function or a class",
                "driftproof new claim mine/drift writes a file that has one",
            )
        if as_json:
            print_json([_shown(leaf) for leaf in own])
            return
        for leaf in own:
            print_leaf(leaf, _shown(leaf), latex=latex)
        return
    known: dict[str, list[Leaf]] = {}
    for leaf in (leaf for kind in KINDS for leaf in leaves(kind).values()):
        for called in (leaf.name, *([leaf.symbol] if leaf.kind in NAMED_BY_CLASS else [])):
            known.setdefault(called, []).append(leaf)
    if name not in known and print_role(name, as_json):
        return
    if name not in known:
        from driftproof.toolkit.glossary import meanings

        words = {word for word, _, _ in meanings()} | {"roles"}
        names = {leaf.name for of_name in known.values() for leaf in of_name}
        raise unknown_name("name", name, names | words)
    shown = [_shown(leaf) for leaf in known[name]]  # a claim, and the experiment that draws it
    if as_json:
        print_json(shown if len(shown) > 1 else shown[0])
        return
    for leaf, of_leaf in zip(known[name], shown, strict=True):
        print_leaf(leaf, of_leaf, latex=latex)


def _shown(leaf: Leaf) -> dict[str, Any]:
    return {"kind": leaf.kind, "name": leaf.name, "file": str(leaf.path), **_details(leaf)}


def print_leaf(leaf: Leaf, shown: Mapping[str, Any], *, latex: bool) -> None:
    """Print what is known of a leaf before anything is run."""
    if not latex:
        from driftproof.toolkit.report.plain_math import plain_math

        assumptions = [
            (name, plain_math(text), x) for name, text, x in shown.get("assumptions", ())
        ]
        statement = plain_math(shown.get("statement") or "")
        shown = {**shown, "statement": statement, "assumptions": assumptions}
    click.echo(f"{leaf.kind} {leaf.name}\n")
    if shown["documentation"]:
        click.echo(f"{shown['documentation']}\n")
    for head in HEADS:
        if shown.get(head):
            click.echo(f"{head}: {_text(shown[head])}")
    for title, text, _ in shown.get("assumptions", []):
        click.echo(f"{title}: {text}")
    rights = shown.get("right_sides", {})
    if leaf.kind == "claim" and not latex:
        rights = rights | _pretty(leaf)
    for key, right in rights.items():
        lines, head = right.split("\n"), f"right side, {key}:"
        click.echo("\n    ".join([head, *lines]) if lines[1:] else f"{head} {right}")
    if leaf.kind == "claim":
        rows = [(form, verdict, str(count)) for form, verdict, count in shown["verdicts_on_record"]]
        if rows:
            table(["form", "verdict on record", "cases"], rows)
        else:
            tell(f"no verdict is on record; driftproof verify {leaf.typed} gives one")
        if shown["counterexample"]:
            tell(f"the counterexample as a script: {shown['counterexample']}")


def _pretty(leaf: Leaf) -> dict[str, str]:
    """Return a claim's right sides as a terminal can show them, where they are formulas."""
    import sympy

    from driftproof.toolkit.constants import MEASURED
    from driftproof.verifiers.in_print.formulas import right_sides_of

    shown = {}
    for form, right in right_sides_of(leaf.load()):
        names = {s: sympy.Symbol(s.name.removeprefix(MEASURED)) for s in right.free_symbols}
        right = right.xreplace(names)
        for extremum in (sympy.Max, sympy.Min):  # the printer takes only a function's arguments
            right = right.replace(extremum, sympy.Function(extremum.__name__.lower()))
        shown[form.key] = sympy.pretty(right, use_unicode=True, wrap_line=False)
    return shown


def print_roles(as_json: bool) -> None:
    """Print every role with its kind, its meaning and its letters."""
    from driftproof.toolkit.glossary import roles

    if as_json:
        print_json([vars(role) for role in roles()])
        return
    rows = [(r.name, r.kind, r.meaning, ", ".join(r.letters) or "–") for r in roles()]
    table(["role", "kind", "meaning", "letters"], rows)


def print_role(name: str, as_json: bool) -> bool:
    """Print one role, or what a letter stands for in each paper; say whether there is one."""
    from driftproof.toolkit.glossary import roles

    matching = [role for role in roles() if name in (role.name, *role.letters)]
    if as_json and matching:
        print_json([vars(role) for role in matching])
        return True
    for role in matching:
        tell(f"{role.name} ({role.kind}): {role.meaning}")
        for letter, owners in role.letters.items():
            tell(f"    {letter} in {', '.join(owners)}")
    return bool(matching)


def _details(leaf: Leaf) -> dict[str, Any]:
    import inspect
    import sys

    loaded = leaf.load()
    owner = sys.modules[leaf.module] if leaf.module else import_path(leaf.path)
    documentation = inspect.cleandoc(owner.__doc__ or "")
    common = {"documentation": documentation, "source": leaf.metadata.get("source")}
    common["statement"] = leaf.metadata.get("statement")
    if leaf.kind == "claim":
        return common | {"statement": loaded.statement} | _claim(leaf, loaded)
    if leaf.kind == "problem":
        member = loaded()
        return common | {
            "parameters": member.values(),
            "constants": dict(member.constants),
            "notation": dict(member.notation),
        }
    if leaf.kind == "algorithm":
        from driftproof.toolkit.federation import fitting

        member = loaded()
        return common | {
            "parameters": member.values(),
            "notation": dict(member.notation),
            "fits": ", ".join(fitting(member.needs)),
        }
    if leaf.kind == "kernel":
        return common | {
            "serves": f"{', '.join(loaded.algorithm)} on {', '.join(loaded.problem)}",
            "variants": {name: way.device for name, way in loaded.variants.items()},
            "tolerance": f"{loaded.tolerance:g} units in the last place",
        }
    if leaf.kind in ("network", "split"):
        return common | {"parameters": loaded().values()}
    if leaf.kind == "dataset":
        names = {"files": loaded.files, "one_or_more_of": loaded.some}
        names |= {"optional_files": loaded.optional}
        return common | {key: list(value) for key, value in names.items()}
    if leaf.kind == "case":
        return common | {
            "times": loaded.kernel,
            "sizes": loaded.points,
        }
    return common


def _claim(leaf: Leaf, claim: Any) -> dict[str, Any]:
    from driftproof.verifiers import record
    from driftproof.verifiers.verify import claim_entry

    recorded = record.read().get(leaf.name, {})
    counted = [
        (form, verdict, sum(v == verdict for v in cases.values()))
        for form, cases in recorded.items()
        for verdict in dict.fromkeys(cases.values())
    ]
    about = claim_entry(leaf)
    return {
        "assumptions": about["assumes"],
        "right_sides": about["forms"],
        "explanation": about["explain"],
        "cases": [str(case) for case in claim.judged_on],
        "verdicts_on_record": counted,
        "counterexample": about["counterexample"],
    }


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {item}" for key, item in value.items())
    if isinstance(value, list):
        shown = [f"\n  {item}" for item in value[:8]]
        return "".join(shown) + (f"\n  … {len(value)} in all" if len(value) > 8 else "")
    return str(value)
