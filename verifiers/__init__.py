"""driftproof: judges claims; ``from verifiers import assert_claim`` in a test of your own."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "assert_claim":
        from verifiers.asserting import assert_claim

        return assert_claim
    raise AttributeError(f"module 'verifiers' has no attribute {name!r}")
