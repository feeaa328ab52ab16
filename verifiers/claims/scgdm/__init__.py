"""Statements of 003, Local-SCGDM."""
