"""Share between experiments how they run, what they read, what they count and what they show."""
