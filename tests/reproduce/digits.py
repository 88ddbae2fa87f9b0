"""A folder with small files in the shape of MNIST and USPS: ten patterns, and noise."""

import numpy as np


def write_digits(folder, each=40, noise=45.0):
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 200, (10, 36))
    classes = rng.permutation(np.repeat(np.arange(10, dtype=np.uint8), each))
    shades = patterns[classes] + noise * rng.standard_normal((len(classes), 36))
    pixels = np.clip(np.rint(shades), 0, 255).astype(np.uint8).reshape(-1, 6, 6)
    np.savez(folder / "mnist.npz", x_train=pixels, y_train=classes)
    grey = np.round(pixels / 127.5 - 1.0, 3).astype(np.float32)
    half = len(grey) // 2
    np.savez(
        folder / "usps.npz",
        x_train=grey[:half], y_train=classes[:half], x_test=grey[half:], y_test=classes[half:],
    )  # fmt: skip
