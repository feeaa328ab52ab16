"""Local-SCGDM (003): local stochastic compositional gradient descent with momentum."""
