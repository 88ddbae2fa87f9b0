"""The theorems as functions: one module per paper, one function per statement."""

from selectron.bounds import cbgz06, cbgz06_classes, ccg04, dkm09, mon06, mon06_experts, ng, ss05

__all__ = ["cbgz06", "cbgz06_classes", "ccg04", "dkm09", "mon06", "mon06_experts", "ng", "ss05"]
