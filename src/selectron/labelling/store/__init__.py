"""Where events are kept: SQLite or PostgreSQL, behind one protocol."""
