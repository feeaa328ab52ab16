"""The statements, one file each."""
