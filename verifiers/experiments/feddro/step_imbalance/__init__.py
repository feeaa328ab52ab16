"""FedDRO's figures 1 and 2: images of which half of the classes are rare."""
