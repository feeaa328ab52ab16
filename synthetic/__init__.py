"""On what claims are judged: problem families whose constants are proven, not estimated."""
