"""Run Ballseptron of [SS05] on handwritten digits, and its bounds under noise."""
