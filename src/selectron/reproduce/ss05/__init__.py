"""[SS05]: Ballseptron on handwritten digits, and its bounds under noise."""
