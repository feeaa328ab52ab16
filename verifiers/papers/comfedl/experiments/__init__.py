"""The figures of the ComFedL papers."""
