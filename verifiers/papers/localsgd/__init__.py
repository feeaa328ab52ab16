"""Local gradient descent: statements that the field knows, over whole classes of functions."""
