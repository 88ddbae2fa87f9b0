"""[Mon06]: sleeping radios, regret of switching experts, and labels to learn digits."""
