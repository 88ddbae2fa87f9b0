"""How the defaults of this library were chosen, and what they are worth on fresh seeds."""
