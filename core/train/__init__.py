"""The trainer that makes the bundled models: `python -m core.train NAME --data DIR`."""
