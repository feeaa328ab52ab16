"""One folder a paper, one file a statement."""
