"""``driftproof show``: everything about one leaf."""

import re
from collections import Counter
from collections.abc import Mapping
from inspect import getdoc
from pathlib import Path
from typing import Any

import click

from driftproof.commands._shared import as_json, names_of, print_json, table, tell
from driftproof.toolkit.discover import KINDS, Leaf, leaves, leaves_in
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.parameters import constraints

ALL_ROLES = ("roles", "letters")
"""What NAME may be to see all of them."""
CLASSES = ("problem", "algorithm", "network", "split")
"""Kinds of which a leaf is a class with parameters, whose own name is a NAME too."""
HEADS = (
    "source", "statement", "explanation", "parameters", "choices", "means", "state", "notation",
    "constants", "fits", "cases", "serves", "variants", "files", "one_or_more_of",
    "optional_files", "tolerance", "times", "sizes", "file",
)  # fmt: skip


@click.command()
@click.argument("name", shell_complete=names_of(*KINDS))
@click.option("--latex", is_flag=True, help="Print formulas as their LaTeX source.")
@as_json
def command(name: str, latex: bool, as_json: bool) -> None:
    """Show the statement, assumptions, constants, source and verdicts on record of NAME.

    NAME may be a Python file of your own: all that is declared in it is shown; FILE::NAME is one.
    It may be a role or a letter too; ``driftproof show roles`` shows all of them.
    """
    if name in ALL_ROLES:
        print_roles(as_json)
        return
    every = [leaf for kind in KINDS for leaf in leaves(kind).values()]
    file, _, within = name.partition("::")
    own = file.endswith(".py")
    found = [one for one in every if name in (one.name, one.kind in CLASSES and one.symbol)]
    if own:  # claims that a call makes, or a loop, too
        from driftproof.verifiers.claim_types.sources import claims_in

        others = (leaf for leaf in leaves_in(Path(file)) if leaf.kind != "claim")
        every = [*claims_in(Path(file)), *others]
        found = [one for one in every if not within or within in (one.name, one.symbol)]
        if every and not found:
            raise unknown_name(f"name of {file}", within, {one.name for one in every})
    if own and not found:
        raise DriftproofError(
            f"{name} declares nothing: no claim, problem or algorithm",
            "a decorator of driftproof's, such as @bound, above a function or a class",
            "driftproof new claim mine/drift writes a file that has one",
        )
    if not found and print_role(name, as_json):
        return
    if not found:
        from driftproof.toolkit.glossary import meanings

        words = {word for word, _, _ in meanings()} | {"roles"}
        raise unknown_name("name", name, {leaf.name for leaf in every} | words)
    # several: those of a file, or a claim and the experiment that draws it
    shown = [
        {"kind": leaf.kind, "name": leaf.name, "file": str(leaf.path), **_details(leaf)}
        for leaf in found
    ]
    if as_json:
        print_json(shown if own or len(shown) > 1 else shown[0])
        return
    said = ""  # leaves of one file may have its docstring in common
    for leaf, of_leaf in zip(found, shown, strict=True):
        print_leaf(leaf, of_leaf, latex=latex, said=said)
        said = of_leaf["documentation"]


def print_leaf(leaf: Leaf, shown: Mapping[str, Any], *, latex: bool, said: str = "") -> None:
    """Print what is known of a leaf before anything is run.

    Args:
        said: a documentation that stands above, which is not printed again.
    """
    from driftproof.toolkit.report.plain_math import plain_math

    formula = str if latex else plain_math
    statement = formula(shown["statement"] or "")
    rights = shown.get("right_sides", {})
    if leaf.kind == "claim" and not latex:
        rights = rights | _pretty(leaf)
    click.echo(f"{leaf.kind} {leaf.name}\n")
    if shown["documentation"] not in ("", said):
        click.echo(f"{shown['documentation']}\n")
    for head in HEADS:
        told: Any = statement if head == "statement" else shown.get(head)
        if told and head == "means":
            click.echo("means:" + "".join(f"\n  {key}: {text}" for key, text in told.items()))
        elif told:
            click.echo(f"{head}: {_text(told)}")
    for title, text, _ in shown.get("assumptions", []):
        click.echo(f"{title}: {formula(text)}")
    for key, right in rights.items():
        inset = "\n    " if "\n" in right else " "
        click.echo(f"right side, {key}:{inset}" + right.replace("\n", inset))
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
    loaded = leaf.load()
    details: dict[str, Any] = {
        "documentation": leaf.about,
        "source": leaf.metadata.get("source"),
        "statement": leaf.metadata.get("statement"),
    }
    if leaf.kind == "claim":
        return details | _claim(leaf, loaded)
    if leaf.kind in CLASSES:
        member = loaded()
        details["parameters"] = member.values()
        limits = constraints(loaded).items()
        details["choices"] = {name: list(of.choices) for name, of in limits if of.choices}
        details["means"] = _meanings(loaded)
        named = (name for name in ("constants", "notation") if hasattr(member, name))
        details |= {name: dict(getattr(member, name)) for name in named}
    if leaf.kind == "algorithm":
        from driftproof.toolkit.federation import fitting

        details["fits"] = ", ".join(fitting(member.needs))
        details["state"] = _state(leaf, member)
    if leaf.kind == "kernel":
        details |= {
            "serves": f"{', '.join(loaded.algorithm)} on {', '.join(loaded.problem)}",
            "variants": {name: way.device for name, way in loaded.variants.items()},
            "tolerance": f"{loaded.tolerance:g} units in the last place",
        }
    if leaf.kind == "dataset":
        names = {"files": loaded.files, "one_or_more_of": loaded.some}
        names |= {"optional_files": loaded.optional}
        details |= {key: list(value) for key, value in names.items()}
    if leaf.kind == "case":
        details |= {"times": loaded.kernel, "sizes": loaded.points}
    return details


def _meanings(of: type) -> dict[str, str]:
    """Return what the Args of a class's docstring, or of its base's, say of its parameters."""
    inherited = _meanings(of.__base__) if of.__base__ else {}
    _, _, told = (getdoc(of) or "").partition("\nArgs:\n")
    entries = re.split(r"^ {4}(?=\S)", told.partition("\n\n")[0], flags=re.MULTILINE)[1:]
    pairs = (" ".join(entry.split()).partition(": ") for entry in entries)
    return inherited | {name: text for name, _, text in pairs}


def _state(leaf: Leaf, algorithm: Any) -> str:
    """Return what a round begins with, as conform names it; empty where that cannot be seen."""
    from driftproof.toolkit.user_traceback import telling_the_file

    try:  # one's own code may fail, or Hypothesis be missing, and the rest is shown all the same
        from driftproof.verifiers.conform.reference import fields_of
        from driftproof.verifiers.search.strategies import examples_of

        with telling_the_file(leaf.path if leaf.module is None else None):
            fields, own = fields_of(algorithm, examples_of(algorithm.needs))
    except DriftproofError:
        return ""
    each = {True: " (one per client)", False: " (one per client as the first round begins)"}
    return ", ".join(name + (each[own[name]] if name in own else "") for name in fields)


def _claim(leaf: Leaf, claim: Any) -> dict[str, Any]:
    from driftproof.verifiers.in_print.errata import viewed

    view = viewed({leaf.name: leaf})[leaf.name]
    about = view.about
    return {
        "statement": about["statement"],
        "assumptions": about["assumes"],
        "right_sides": about["forms"],
        "explanation": about["explain"],
        "cases": [str(case) for case in claim.judged_on],
        "verdicts_on_record": [
            (form.title, str(verdict), count)
            for form in view.forms
            for verdict, count in Counter(row.verdict for row in form.rows).items()
        ],
        "counterexample": about["counterexample"],
    }


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{key} = {' or '.join(map(repr, item)) if isinstance(item, list) else item}"
            for key, item in value.items()
        )
    if isinstance(value, list):
        shown = [f"\n  {item}" for item in value[:8]]
        return "".join(shown) + (f"\n  … {len(value)} in all" if len(value) > 8 else "")
    return str(value)
