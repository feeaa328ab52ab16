"""A user's implementation beside the printed algorithm, on the same instance and draws."""
