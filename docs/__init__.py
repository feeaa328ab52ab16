"""The documentation: ``python -m docs.generate`` writes its pages from the claims."""
