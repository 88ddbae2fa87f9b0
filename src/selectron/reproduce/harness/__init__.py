"""What all experiments share: how they run, where rows come from, what is counted, and reports."""
