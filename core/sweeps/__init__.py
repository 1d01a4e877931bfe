"""Corpus sweeps: models x settings x test sets, cut into chunks that any engine makes; python -m core.sweeps runs one."""
