"""Run active learners of other libraries on the same problems."""
