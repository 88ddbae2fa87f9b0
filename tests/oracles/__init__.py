"""Slow, obvious twins of the rules, written from the papers: they import nothing of selectron."""
