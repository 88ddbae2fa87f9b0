"""A small client of the labelling service, for programs."""
