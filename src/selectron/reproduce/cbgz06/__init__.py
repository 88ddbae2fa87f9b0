"""Repeat the experiments of [CBGZ06], section 4: selective sampling on newswire stories."""
