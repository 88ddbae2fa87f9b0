"""`selectron warm`: compile ahead."""

from argparse import Namespace
from time import perf_counter

from selectron.classifier.warm import warm as compile_ahead
from selectron.cli.named import learner_of
from selectron.cli.output import check_outputs, tell


def warm(options: Namespace) -> int:
    check_outputs(options)
    began = perf_counter()
    compile_ahead(
        options.features,
        classes=options.classes,
        sparse=options.sparse,
        dtype="float32" if options.float32 else "float64",
        learner=learner_of(options.rules),
    )
    seconds = round(perf_counter() - began, 1)
    return tell(options, f"compiled, or found compiled, in {seconds} s", {"seconds": seconds})
