"""Everything that Numba is taught: how plain Python bodies become one fast loop."""
