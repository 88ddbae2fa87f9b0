"""Rules in dual form: hypotheses as sums over support vectors, through a kernel."""
