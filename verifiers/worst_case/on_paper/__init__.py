"""Certificates as proofs on paper: what an author pastes, and a referee checks by hand."""
