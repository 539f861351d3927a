"""Lower bounds and necessary conditions, each with its proof and where it applies."""
