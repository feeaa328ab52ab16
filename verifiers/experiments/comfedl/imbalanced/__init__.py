"""Robust averaging on one large and nine small clients: the ComFedL papers' experiments."""
