"""Shares as they are printed."""


def percent(share: float, unit: str = " %") -> str:
    """Write a share with one digit after the point, more for the smallest."""
    digits = 1 if share == 0.0 or abs(share) >= 0.001 else 3
    return f"{100.0 * share:.{digits}f}{unit}"
