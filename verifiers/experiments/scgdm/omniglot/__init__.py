"""Local-SCGDM's few-shot classification: its images, runs and sentences."""
