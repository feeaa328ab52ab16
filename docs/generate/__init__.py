"""Writes what the documentation says of claims, errata and experiments."""
