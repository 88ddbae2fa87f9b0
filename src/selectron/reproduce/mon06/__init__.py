"""Run [Mon06] again: sleeping radios, switching experts, and labels to learn digits."""
