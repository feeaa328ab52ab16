"""Reports: ``results.json``, the page, and each plot as SVG and PDF, from the same rows."""
