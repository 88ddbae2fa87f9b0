"""Print one hash a mixture: run with and without JIT, and for other processors."""

import json
import sys
from hashlib import sha256

import numpy as np

from selectron.experts import best_alpha, optimal_alphas
from tests.experts.twins import one_of_each


def scenario():
    """Return losses with sleepers, ties and extremes."""
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=(24, 5)) * rng.choice([0.0, 0.1, 1.0, 50.0, 1e6], (24, 1))
    losses[rng.random((24, 5)) < 0.15] = np.nan
    losses[np.isnan(losses).all(axis=1)] = 1.0
    return losses


# Another processor is compiled for anew: there each rate has one of the mixtures.
FEW = {1.0: "markov", "adahedge": "learn"}


def hashes(few=False):
    """Return the hash of everything each mixture computes."""
    losses, found = scenario(), {}
    for eta in FEW:
        for name, experts in one_of_each(5, eta=eta).items():
            if few and not name.startswith(FEW[eta]):
                continue
            parts = [experts.run(losses), experts.weights, experts._log_weights()]
            parts += [np.asarray(experts.predict([0.1, 0.2, np.nan, 0.4, 0.5]))]
            parts += [np.asarray(value) for value in experts.state().values()]
            blob = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
            found[f"{name} {eta}"] = sha256(blob).hexdigest()
    found["alphas"] = sha256(optimal_alphas(horizon=60).tobytes()).hexdigest()
    best = best_alpha(np.nan_to_num(losses[:12], nan=0.3))
    found["best alpha"] = sha256(np.array(best).tobytes()).hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(hashes("few" in sys.argv)))  # noqa: T201
