"""The hypothesis of a search that wins under GNMT's penalties, as a run of its own, to be looked into as any other."""

from dataclasses import replace
from typing import Any

from app.engine import Engine
from app.tree_packs import Head, received
from core.decode.rescoring import Hypothesis, ranked
from core.settings import Settings
from core.trace import Trace


def winner(trace: Trace, head: Head, beta: float) -> int:
    """The node of the hypothesis that ranks first under GNMT with the search's own α and β; the search's own best in a tie."""
    alpha, tree = trace.settings.decoding.length_penalty, trace.tree
    hypotheses = [
        Hypothesis(str(int(node)), float(tree.total[node]), int(tree.step[node]) + 1, tuple(received(trace, node, head)))
        for node in tree.ranking
    ]
    return int(ranked(hypotheses, "GNMT", alpha, beta)[0].hypothesis.name)


def forced(trace: Trace, node: int) -> Settings:
    """Settings of the run that writes exactly the hypothesis which ends in `node`."""
    ids = tuple(trace.tree.token[trace.tree.path(node)].tolist())
    settings = trace.settings
    return replace(settings, decoding=replace(settings.decoding, beams=1), edits=replace(settings.edits, forced=ids))


def reranked(engine: Engine, trace: Trace, beta: float) -> Any:
    """The run of the winner, not begun; None where the search's own best stays."""
    if not beta or trace.tree is None or not trace.tree.ranking:
        return None
    node = winner(trace, engine.models.alignment_head(trace.settings.model), beta)
    if node == int(trace.tree.best):
        return None
    from core.runs import run

    return run(forced(trace, node), engine.models)
