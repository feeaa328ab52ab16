"""Statements of Local-SCGDM (2022)."""
