"""Statements of the literature, true and false ones, as a measured set."""
