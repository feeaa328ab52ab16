"""What papers print: formulas and statements beside what is judged, citations, and errata."""
