"""One Python file per custom component of the page; their script and style lie in assets/js and assets/css."""
