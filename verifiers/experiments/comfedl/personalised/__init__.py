"""Personalised learning on CIFAR-10, each client with a class of its own: the ComFedL papers."""
