"""driftproof: problem families, with proven constants, on which claims are judged."""
