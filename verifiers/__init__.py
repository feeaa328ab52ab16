"""driftproof's judges, claims, record and experiments."""
