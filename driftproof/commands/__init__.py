"""Every file in this folder is one command."""
