"""Every file in this folder is one hot stretch of steps, fused."""
