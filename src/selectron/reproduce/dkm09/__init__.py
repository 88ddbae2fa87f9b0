"""Count the labels that the modified Perceptron of [DKM09] needs on the unit sphere."""
