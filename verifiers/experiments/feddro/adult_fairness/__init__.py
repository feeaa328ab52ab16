"""Accuracy and fairness on UCI Adult: FedDRO's figure 3."""
