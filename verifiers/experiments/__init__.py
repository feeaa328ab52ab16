"""One folder a paper, one file a figure or table."""
