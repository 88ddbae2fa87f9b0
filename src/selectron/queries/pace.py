"""Late answers: a question whose answer cannot help the next one is not worth asking yet."""

from selectron.compiler.verbs import helper

MOST_WAITING = 20


@helper
def too_many_wait(n_asked: int, n_overdue: int, n_labels: int) -> bool:
    """Tell whether so many answers are waited for that the next question would be a blind one."""
    return n_asked - n_labels - n_overdue >= max(MOST_WAITING, n_labels)
