"""The page is served: what the host set, what Gradio is told to leave, and how long it goes on."""

import logging
import os
import threading

import gradio as gr
from starlette.middleware import Middleware

from app import health, processes, shutdown
from app.config import AppConfig
from app.door import REFUSALS, Door
from app.theme import CSS, theme
from app.widgets.scripts import head
from app.words import TRANSLATIONS
from core.errors import InputError

log = logging.getLogger("two-stacks")
LOOKS = 0.008  # seconds between two looks at the queue


def launch(page: gr.Blocks, config: AppConfig) -> None:
    """Serve until interrupted. InputError where the port is taken, SessionError where another process has the sessions' mount."""
    if said_so := processes.ignored():
        log.warning(said_so)
        del os.environ["WEB_CONCURRENCY"]  # uvicorn would read it, too, and stumble over a word
    claimed = page.engine.keeper.storage.claim(config.port)
    try:
        serve(page, config)
    except OSError:
        raise InputError(f"Port {config.port} of {config.host} cannot be used: another program has it, or it is not allowed. "
                         "Set PORT, or --port.") from None
    print(f"Two Stacks on http://{config.host}:{config.port}", flush=True)
    # A host that no one visits loads too, so that its first visitor does not wait.
    loading = threading.Timer(20, page.engine.load_in_background)
    loading.daemon = True
    loading.start()
    shutdown.wait()
    shutdown.end(page)
    del claimed  # until here the sessions were ours


def serve(page: gr.Blocks, config: AppConfig) -> None:
    """Answer from threads of its own.

    Off: run history (slows every update, and 6.27-6.31 can leak a host's token through it with SSR), SSR (Spaces turns
    it on), monitoring, PWA, error details. MCP: where the host asks for it. Uploads are open even without a file component,
    so they are kept small; every session keeps the last value of each component, so few sessions are kept.
    """
    page.queue(max_size=config.queue_size, default_concurrency_limit=20)
    page._queue.sleep_when_free = LOOKS  # Gradio's own millisecond takes a twentieth of a core from an idle page
    page._queue.compute_analytics_summary = lambda records: None  # a table of the last 10,000 events, made anew after each one
    page.launch(
        i18n=TRANSLATIONS, server_name=config.host, server_port=config.port, theme=theme(), css=CSS, head=head(), footer_links=[],
        run_history=False, ssr_mode=False, enable_monitoring=False, pwa=False, mcp_server=config.mcp, share=False,
        max_file_size="1mb", blocked_paths=page.engine.keeper.storage.places(), show_error=False, root_path=config.root_path,
        state_session_capacity=200, prevent_thread_lock=True, quiet=True, app_kwargs={
            "routes": [health.route(page), page.presence.route()], "middleware": [Middleware(Door, page=page)],
            "exception_handlers": dict(REFUSALS)},
        _frontend=False,  # else Gradio asks itself for the page, and ends where a busy machine takes more than 3 s for it
    )
