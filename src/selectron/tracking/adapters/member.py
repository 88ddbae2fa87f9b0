"""What a tracker wants of any learner."""

from typing import Protocol

from selectron.arrays import Matrix, Vector


class Member(Protocol):
    """A learner with a say in the vote; before it has learnt anything its margins are 0."""

    def margins(self, X: Matrix) -> Vector:
        """Return the margin of every row; nothing changes."""

    def learn(self, x: Vector, y: float) -> None:
        """Learn the label of one row, -1 or +1."""
