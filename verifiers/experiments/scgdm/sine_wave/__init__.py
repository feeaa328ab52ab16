"""Local-SCGDM's sine waves: what is printed, the tasks, the runs, the sentences."""
