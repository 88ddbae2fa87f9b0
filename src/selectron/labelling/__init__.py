"""Label items in the browser: a desk that asks what is worth asking, and a log that keeps it.

The log of events is the truth (`store`). The `desk` folds events into its books, decides what
follows from a call, and has a learner that trails the log. `service` puts the two together with one
writer. `server` speaks HTTP, and `page` is what people see. `intake` brings items of `sources`.
"""
