"""FedDRO (004): federated compositional optimization for distributionally robust learning."""
