"""ComFedL: arXiv preprint (000) and journal version (001) of compositional federated learning."""
