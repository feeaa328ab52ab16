"""The layout of a script: what nothing reads is left out, and long lines are broken."""

import ast
import re
import textwrap

WIDEST = 99
"""Characters of a line."""
STRING = re.compile(r"""(["'])(?:\\.|(?!\1).)*\1""")


def beside(found: re.Match[str]) -> str:
    """Return lines that name a number each as lines of several."""
    pairs, made = [line.split(" = ") for line in found[0].splitlines()], ""
    while pairs:
        count = len(pairs)
        while len(line := " = ".join(map(", ".join, zip(*pairs[:count], strict=True)))) > WIDEST:
            count -= 1
        made, pairs = f"{made}{line}\n", pairs[count:]
    return made


def used(text: str) -> str:
    r"""Return a text without assignments, functions and imports that nothing in it reads.

    >>> print(used("def f():\n    return 1\ndef g():\n    return 2\nx = g()\nprint(x)"))
    def g():
        return 2
    x = g()
    print(x)
    """
    while True:
        tree, lines = ast.parse(text), text.splitlines()
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        read = [
            n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        ]
        unread = [node for node in nodes if (of := _defined(node)) and not of & set(read)]
        if not unread:
            return re.sub(r"\n{3,}", "\n\n", text)
        drop = {
            k for node in unread for k in range(node.lineno - 1, node.end_lineno or node.lineno)
        }
        text = "\n".join(line for k, line in enumerate(lines) if k not in drop)


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines and does nothing else."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.ImportFrom | ast.Import):
        return {alias.asname or alias.name for alias in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AugAssign) else targets
    drawn = isinstance(node, ast.Assign) and any(
        isinstance(n, ast.Name) and n.id in ("draw", "some_of") for n in ast.walk(node.value)
    )
    return (
        set() if drawn else {n.id for x in targets for n in ast.walk(x) if isinstance(n, ast.Name)}
    )


def wrapped(line: str) -> str:
    """Return a line as several, if it is long: in brackets, which a statement may need.

    >>> len(wrapped("x = " + "a + " * 30 + "b").splitlines())
    2
    """
    if len(line) <= WIDEST:
        return line
    inset = " " * (len(line) - len(line.lstrip()))
    code, mark, comment = f"  {line.strip()}".partition("  # ")
    code = code.strip()
    if mark:
        short = textwrap.shorten(comment, max(10, WIDEST - len(inset + code) - 4), placeholder=" …")
        return (wrapped(inset + code) + "  " if code else inset) + f"# {short}"
    found = re.match(r"(return |assert |[\w, ]+ = )(.*)", code)
    value = ast.parse(found[2], mode="eval").body if found else None
    if found and not isinstance(value, ast.Call | ast.Subscript):
        tested, said = found[2], ""
        if found[1] == "assert " and isinstance(value, ast.Tuple):  # which is always true
            tested = str(ast.get_source_segment(tested, value.elts[0]))
            said = found[2].removeprefix(tested).replace(" ", "\0", 1)
        code = f"{found[1]}({tested}){said}"
    code = re.sub(STRING, lambda of: of[0].replace(" ", "\0"), code)  # no line ends in a string
    return "\n".join(
        textwrap.wrap(
            code,
            WIDEST,
            initial_indent=inset,
            subsequent_indent=inset + "    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ).replace("\0", " ")
