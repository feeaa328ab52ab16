"""The figures of the ComFedL papers (000 and 001)."""
