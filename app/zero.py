"""ZeroGPU: a Space that lends a GPU for one call at a time, to a process that is forked for it.

The page's own process has no GPU and keeps everything that must be in one place: turns, tickets, sessions, what is drawn; its
models stay on the CPU. The forwards of a run are made in the forked process and come back as plain numpy, one by one, as they
are made. Where no GPU can be had (a visitor's daily share is used up) the run is made here. Elsewhere nothing of this is used,
and the package `spaces` is not imported.
"""

from collections.abc import Callable, Iterator

from core.errors import ModelError
from core.models import BUNDLED, Models
from core.settings import Settings

SECONDS = 30  # that one run may hold the GPU: visitors have a daily share of them


def lend(device: str = "cuda") -> Callable[[Settings], Iterator]:
    """What makes a run's forwards on the lent GPU; ModelError says that there is none to be had.

    ZeroGPU hands over what is on the device when the page starts, so all bundled models are loaded now. They are used by
    nobody else: a lock that a thread of this process held at the fork would be held for ever in the forked one.
    """
    import spaces  # refuses to come after CUDA is in use, so before torch

    registry = Models(device=device)
    for name in BUNDLED:
        registry.load(name)

    @spaces.GPU(duration=SECONDS)
    def on_gpu(settings: str) -> Iterator:
        from core.borrowed import forwards

        yield from forwards(Settings.from_json(settings)[0], registry)

    def made(settings: Settings) -> Iterator:
        import gradio as gr

        try:
            yield from on_gpu(settings.to_json())
        except gr.Error as error:
            raise ModelError(f"ZeroGPU lends no GPU now ({error.message}).") from None

    return made
