"""FedDRO (2023): federated compositional optimization for distributionally robust learning."""
