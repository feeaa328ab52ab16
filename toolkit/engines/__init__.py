"""Engines: the contexts in which an algorithm's one text runs."""
