"""Gradio writes an editor stub (.pyi) for each component class whenever it is imported: more than half of its import.

`leave_out()`, called before the first `import gradio`, spares a server that time. Gradio 6.31 skips a class whose file
`inspect.getfile` cannot name (component_meta.create_or_modify_pyi); so it is told that there is none, for its component
classes only.
"""

import inspect


def leave_out() -> None:
    """Have Gradio skip the stubs in this process."""
    named = inspect.getfile

    def getfile(thing):
        if type(thing).__name__ == "ComponentMeta":
            raise OSError("no stub is wanted")
        return named(thing)

    inspect.getfile = getfile
