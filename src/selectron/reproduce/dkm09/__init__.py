"""[DKM09]: labels that the modified Perceptron needs on the unit sphere."""
