"""Problems on networks: losses, robust losses, meta-learning. Nothing of them is proven."""
