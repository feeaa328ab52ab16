"""The contexts in which an algorithm's one text runs; one more is in ``toolkit.wire``."""
