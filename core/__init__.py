"""The model core of Two Stacks."""
