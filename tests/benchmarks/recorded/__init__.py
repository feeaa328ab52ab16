"""Scripts that measured frameworks which need environments of their own; run by hand."""
