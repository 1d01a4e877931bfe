"""One file per tab beside the first: TITLE is a key of its words, `build(engine, controls)` makes its components and events."""
