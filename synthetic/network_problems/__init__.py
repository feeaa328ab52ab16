"""Problems on networks: losses, robust losses, meta-learning; no constants, no certified optimum."""
