"""The experiments of FedDRO (2023)."""
