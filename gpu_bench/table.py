"""The table of a benchmark: its columns, its cells, and what its marks mean."""

from collections.abc import Mapping
from typing import Any

COLUMNS = ("case", "way", "ms a round (quartiles)", "client-steps/s", "limit, set by", "agrees to")
LETTERS = {"clients": "K", "replicates": "R", "dim": "d", "local_steps": "τ", "noise": "σ"}
DISTURBED = (
    "† the machine was busy with something else as well: the upper quartile of the readings is "
    "more than twice the lower one, or the share is beyond what arithmetic allows. Measure again "
    "before relying on it."
)

Head = Mapping[str, Any]
Row = Mapping[str, Any]


def size_text(size: Mapping[str, Any]) -> str:
    """Return a workload's size as tables print it.

    >>> size_text({"dim": 10, "replicates": 64})
    'd=10 R=64'
    """
    return " ".join(f"{LETTERS.get(key, key)}={value}" for key, value in size.items())


def cells(row: Row) -> list[str]:
    """Return a row of the table; what was not measured says why in its third cell."""
    way = f"{row['variant']}, {row['dtype']}{' *' if row['taken'] else ''}"
    first = [f"{row['case']} {size_text(row['size'])}", way]
    if "seconds" not in row:
        return [*first, str(row["note"]), "", "", ""]
    spread = f"{_ms(row['low'])}–{_ms(row['high'])}"
    if len(row["readings"]) == 1:
        spread = "one reading"
    mark = " †" if row.get("disturbed") else ""
    agrees = f"{row['error']:.0e}" if row["error"] else "0"
    return [
        *first,
        f"{_ms(row['seconds'])} ({spread}){mark}",
        f"{row['client_steps_per_second']:.2e}",
        f"{100 * row['share']:.0f} %, {row['bound']}" if "share" in row else "–",
        "reference" if row.get("reference") and not row["error"] else agrees,
    ]


def _ms(seconds: float) -> str:
    """Return milliseconds, with three digits or whole.

    >>> _ms(0.00123456), _ms(1.9512)
    ('1.23', '1,951')
    """
    return f"{1e3 * seconds:.3g}" if seconds < 1 else f"{1e3 * seconds:,.0f}"


def ceiling_lines(head: Head) -> list[str]:
    """Return what marks and limits mean, and the ceilings in words."""
    ceilings = head["ceilings"]
    flops = ", ".join(
        f"{1e-9 * max(rates.values()):.0f} Gflop/s ({dtype}, {max(rates, key=rates.__getitem__)})"
        for dtype, rates in ceilings["flops"].items()
    )
    operations = "; ".join(
        f"{dtype}: " + ", ".join(f"{1e-6 * v:.0f} M {name} a second" for name, v in rates.items())
        for dtype, rates in ceilings["operations"].items()
    )
    words = ", ".join(f"{1e-6 * v:.0f} M/s ({k})" for k, v in ceilings["words"].items())
    lines = [
        "* what the federation takes. Limit: the least time that the ceilings below allow, as a "
        "share of the measured one.",
        f"Ceilings, in this run: copy {1e-9 * ceilings['copy']:.1f} GB/s; arithmetic "
        f"{flops}; 64-bit random words {words}; smallest operation "
        f"{1e6 * ceilings['launch']:.2g} µs." + (f" {operations}." if operations else ""),
    ]
    if any(row.get("disturbed") for row in head["rows"]):
        lines.insert(1, DISTURBED)
    return lines
