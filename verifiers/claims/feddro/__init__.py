"""Statements of 004, FedDRO."""
