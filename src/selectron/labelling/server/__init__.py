"""HTTP: calls, who may make them, and what each is answered."""
