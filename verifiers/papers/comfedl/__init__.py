"""ComFedL, compositional federated learning: arXiv v1 (2021) and the journal version, v3."""
