"""Errata: statements on record as refuted as printed, or with a hypothesis that nothing meets."""

from __future__ import annotations

from typing import Any

from toolkit.claims import Claim
from toolkit.discover import leaves
from toolkit.verdict import Verdict
from verifiers import record


def errata() -> list[dict[str, Any]]:
    """Return the statements that are false or empty as printed, with what holds instead."""
    found = []
    for name, forms in record.read().items():
        if name not in leaves("claim"):
            continue
        claim: Claim = leaves("claim")[name].load()
        for form, cases in forms.items():
            verdicts = set(cases.values())
            if not form.startswith("printed"):
                continue
            if Verdict.REFUTED not in verdicts and verdicts != {Verdict.INAPPLICABLE}:
                continue
            corrected = set(forms.get("corrected", {}).values())
            others = [
                other.removeprefix("printed: ")
                for other, held in forms.items()
                if other.startswith("printed: ") and set(held.values()) == {Verdict.SUPPORTED}
            ]
            found.append(
                {
                    "claim": name,
                    "form": form,
                    "verdict": str(
                        Verdict.REFUTED if Verdict.REFUTED in verdicts else Verdict.INAPPLICABLE
                    ),
                    "source": claim.source,
                    "finding": claim.explain,
                    "corrected": ", ".join(sorted(corrected)) or "none",
                    "supported_readings": others,
                }
            )
    return found
