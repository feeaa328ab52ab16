"""Tables as text: as wide as a terminal is, and no word is broken.

A cell is wrapped at spaces; if that does not do, after slashes too. If the table is still too wide,
columns that the caller can spare are left out, and it says which. What cannot be made to fit runs
over the edge: a name that is cut in two cannot be copied.
"""

import re
from collections.abc import Callable, Sequence

Pieces = Callable[[str], list[str]]
"""Cuts a cell where a line may end."""
GAP = 3
"""Spaces between columns; NARROW of them where room is short."""
NARROW = 2


def text_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    spare: Sequence[str] = (),
    styled: Callable[[str, str], str] = lambda text, cell: text,
) -> tuple[list[str], list[str]]:
    """Return a table's lines, and the heads of the columns that found no room (``lay_out``).

    Args:
        styled: from one line of a cell and the whole cell to that line in colour.

    >>> for line in text_table(["claim", "verdict"], [["a/b", "REFUTED"]], 80)[0]:
    ...     print(line)
     claim   verdict
     ───────────────
     a/b     REFUTED
    """
    _, cells, widths, left_out = lay_out(columns, rows, width, spare)
    lines = []
    for row in cells:
        for line in range(max(map(len, row))):
            parts = [cell[line] if line < len(cell) else "" for cell in row]
            coloured = [styled(p, " ".join(cell)) for p, cell in zip(parts, row, strict=True)]
            pads = [" " * (w - len(p)) for p, w in zip(parts, widths, strict=True)]
            text = "".join(p + pad for p, pad in zip(coloured, pads, strict=True))
            lines.append(" " + text.rstrip())
    rule = max(sum(widths[:-1]) + max(len(x) for r in cells for x in r[-1]), 1)
    lines.insert(max(map(len, cells[0])), " " + "─" * rule)
    return lines, left_out


def lay_out(
    columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, spare: Sequence[str] = ()
) -> tuple[list[str], list[list[list[str]]], list[int], list[str]]:
    """Fit a table into a width.

    Args:
        columns: their heads.
        rows: a cell for each column.
        width: letters of a line.
        spare: heads of columns that may be left out, the first of them first.

    Returns:
        The heads that are shown; each row's cells as lines, the heads' row first; the columns'
        widths, with the gap after them; and the heads that were left out.
    """
    heads = list(columns)
    left_out: list[str] = []
    while True:
        shown = [list(columns).index(head) for head in heads]
        cells = [[row[k] for k in shown] for row in (columns, *rows)]
        for pieces in (at_spaces, after_slashes):
            fitted = _widths(cells, width, pieces)
            if fitted is not None:
                wide, gap = fitted
                lines = [
                    [wrapped(cell, w, pieces) for cell, w in zip(row, wide, strict=True)]
                    for row in cells
                ]
                return heads, lines, [w + gap for w in wide], left_out
        if not (set(spare) & set(heads)):
            width = _least(cells)
            continue
        gone = next(head for head in spare if head in heads)
        heads.remove(gone)
        left_out.append(gone)


def _least(cells: Sequence[Sequence[str]]) -> int:
    """Return the width that a table needs whose every word stays whole."""
    columns = list(zip(*cells, strict=True))
    words = [[len(p.rstrip()) for cell in col for p in after_slashes(cell)] for col in columns]
    return 1 + NARROW * (len(columns) - 1) + sum(map(max, words))


def _widths(
    cells: Sequence[Sequence[str]], width: int, pieces: Pieces
) -> tuple[list[int], int] | None:
    """Return the columns' widths and the gap that fit, or None if no word may be broken."""
    columns = list(zip(*cells, strict=True))
    wide = [max(map(len, column)) for column in columns]
    least = [max(len(p.rstrip()) for cell in column for p in pieces(cell)) for column in columns]
    for gap in (GAP, NARROW):
        room = width - 1 - gap * (len(wide) - 1)
        if sum(wide) <= room:
            return wide, gap
        if sum(least) <= room:
            return _narrowed(columns, wide, least, room, pieces), gap
    return None


def _narrowed(
    columns: Sequence[Sequence[str]],
    wide: list[int],
    least: Sequence[int],
    room: int,
    pieces: Pieces,
) -> list[int]:
    """Narrow columns until they fit, each time the one that adds the fewest lines for its room."""
    heights = [[1] * len(columns[0]) for _ in columns]
    while sum(wide) > room:
        choices = []
        for k, column in enumerate(columns):
            if wide[k] == least[k]:
                continue
            lines = [wrapped(cell, wide[k] - 1, pieces) for cell in column]
            width = max(len(line) for cell in lines for line in cell)
            tall = list(map(len, lines))
            others = [heights[j] for j in range(len(columns)) if j != k]
            now, then = (
                sum(map(max, zip(*others, mine, strict=True))) for mine in (heights[k], tall)
            )
            saved = min(wide[k] - width, sum(wide) - room)
            choices.append(((then - now) / saved, -saved, k, width, tall))
        _, _, k, wide[k], heights[k] = min(choices, key=lambda choice: choice[:3])
    return wide


def at_spaces(cell: str) -> list[str]:
    """Return the pieces of a cell between which a line may end, spaces after them included.

    >>> at_spaces("two samples, as printed")
    ['two ', 'samples, ', 'as ', 'printed']
    """
    return re.findall(r"\S+\s*", cell) or [""]


def after_slashes(cell: str) -> list[str]:
    """Return the pieces of a cell, if a line may end after a slash between letters too.

    >>> after_slashes("fednest/theorem 1/K")
    ['fednest/', 'theorem ', '1/K']
    """
    return [part for word in at_spaces(cell) for part in re.split(r"(?<=[a-z]/)(?=[a-z])", word)]


def wrapped(cell: str, width: int, pieces: Pieces = at_spaces) -> list[str]:
    """Return a cell's lines.

    >>> wrapped("two samples, as in the proofs", 12)
    ['two samples,', 'as in the', 'proofs']
    """
    lines = [""]
    for piece in pieces(cell):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
