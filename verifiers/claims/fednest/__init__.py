"""The statements of 002."""
