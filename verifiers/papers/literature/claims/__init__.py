"""The statements, one file a method."""
