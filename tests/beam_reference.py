"""The reference of beam search: transformers' own `generate`, with everything that it ranked on the way.

Its results are public; what it ranked is read off its private steps, on one instance. Two wrong searches give the same
results often enough: only the trees tell them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from core.search_tree import FATES, FINISHED, KEPT, STOP, Level, tree_of
from tests.reference import cache_for

EMPTY = -1e8  # a score below is that of an empty place of the pool


@dataclass
class Ranking:
    """One step of one source: rows, ids and totals of what was ranked, places of what goes on and of what ended."""

    rows: list[int]
    ids: list[int]
    totals: np.ndarray
    going: list[int]
    ended: list[int]


@dataclass
class Searched:
    """What `generate` gives for one source: hypotheses best first, their scores (float32), the rows they went through."""

    sequences: list[list[int]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    steps: list[Ranking] = field(default_factory=list)


def searched(
    family: str, model: Any, sources: Sequence[Sequence[int]], beams: int, prompt: Sequence[int] | None = None, **options: Any
) -> list[Searched]:
    """Beam search over a padded batch of sources (pad id 0); options as `generate` takes them."""
    for part in (model, model.get_decoder()):
        assert part.config._attn_implementation == "eager", "the reference runs transformers' own eager attention"
    length = max(map(len, sources))
    ids = torch.tensor([[*source, *[0] * (length - len(source))] for source in sources])
    seen = torch.tensor([[1] * len(source) + [0] * (length - len(source)) for source in sources])
    if prompt is not None:
        options["decoder_input_ids"] = torch.tensor([list(prompt)] * len(sources))
    out = [Searched() for _ in sources]
    with _watched(model, out, beams):
        made = model.generate(
            ids, attention_mask=seen, num_beams=beams, num_return_sequences=beams, do_sample=False, output_scores=True,
            return_dict_in_generate=True, **cache_for(family), **options,
        )
    skipped = made.sequences.shape[1] - made.beam_indices.shape[1]
    for place, score in enumerate(made.sequences_scores.tolist()):
        if score > EMPTY:
            into, batch = out[place // beams], place // beams
            rows = [row - batch * beams for row in made.beam_indices[place].tolist() if row >= 0]
            into.rows.append(rows)
            into.sequences.append(made.sequences[place, skipped : skipped + len(rows)].tolist())
            into.scores.append(score)
    return out


class _watched:
    """Notes what each step of a search ranked, of every source."""

    def __init__(self, model: Any, out: list[Searched], beams: int):
        self.model, self.out, self.beams = model, out, beams

    def __enter__(self) -> None:
        model, beams = self.model, self.beams
        top, ongoing, finish = (getattr(model, name) for name in NAMES)

        def note_ranked(**given):
            totals, sequences, rows = top(**given)
            at = given["cur_len"]
            for batch, into in enumerate(self.out):
                parents = rows[batch, :, at - given["decoder_prompt_len"]].tolist()
                into.steps.append(Ranking(
                    [row - batch * beams for row in parents], sequences[batch, :, at].tolist(), totals[batch].numpy().copy(),
                    [], [],
                ))
            return totals, sequences, rows

        def note_going(**given):
            hits = given["next_token_hits_stopping_criteria"]
            for batch, into in enumerate(self.out):
                totals = given["topk_log_probs"][batch] + hits[batch].float() * -1e9
                into.steps[-1].going = torch.topk(totals, beams).indices.tolist()
            return ongoing(**given)

        def note_ended(**given):
            ended = given["next_token_hits_stopping_criteria"] & given["top_num_beam_mask"][None]
            for batch, into in enumerate(self.out):
                real = ended[batch] & (given["topk_log_probs"][batch] > EMPTY)  # a row that repeats the first is none
                into.steps[-1].ended = real.nonzero()[:, 0].tolist()
            return finish(**given)

        for name, call in zip(NAMES, (note_ranked, note_going, note_ended), strict=True):
            setattr(model, name, call)

    def __exit__(self, *_: Any) -> None:
        for name in NAMES:
            delattr(self.model, name)


NAMES = ("_get_top_k_continuations", "_get_running_beams_for_next_iteration", "_update_finished_beams")


def compare_results(levels: Sequence[Level], reference: Searched, beams: int, tolerance: float = 0.0) -> None:
    """Hypotheses, rows they went through, and scores: to the bit where tolerance is 0. AssertionError otherwise.

    Hypotheses of one score, to the bit, may stand in either order: torch's topk, which orders the reference's, promises none.
    """
    tree = tree_of(levels, beams)
    paths = [tree.path(node) for node in tree.ranking]
    ours = [(tree.token[path].tolist(), [tree.fed(node) for node in path]) for path in paths]
    theirs = list(zip(reference.sequences, reference.rows, strict=True))
    if ours != theirs and len(ours) == len(theirs):
        ours, theirs = (sorted(found, key=lambda one: (-scores[str(one)], one)) for found, scores in (
            (ours, dict(zip(map(str, ours), map(float, tree.score[tree.ranking]), strict=True))),
            (theirs, dict(zip(map(str, theirs), reference.scores, strict=True)))))
    assert [one for one, _ in ours] == [one for one, _ in theirs], "hypotheses differ"
    assert ours == theirs, "rows differ"
    assert np.abs(tree.score[tree.ranking] - np.float32(reference.scores)).max(initial=0) <= tolerance, "scores differ"
    assert tree.complete and tree.best == tree.ranking[0]


def compare_trees(levels: Sequence[Level], reference: Searched, tolerance: float = 0.0) -> None:
    """Everything that was ranked, in order, and what became of it. AssertionError otherwise."""
    assert len(levels) == len(reference.steps), f"{len(levels)} steps, the reference {len(reference.steps)}"
    for index, (level, step) in enumerate(zip(levels, reference.steps, strict=True)):
        ours = np.flatnonzero(level.fate < FATES.index("n-gram ban"))
        real = [place for place, total in enumerate(step.totals) if total > -np.inf]
        said = f"step {index}"
        assert level.row[ours].tolist() == [step.rows[k] for k in real], f"{said}: other rows are continued"
        assert level.token[ours].tolist() == [step.ids[k] for k in real], f"{said}: other tokens are ranked"
        assert np.abs(level.total[ours] - step.totals[real]).max() <= tolerance, f"{said}: totals differ"
        assert np.flatnonzero(level.fate == FINISHED).tolist() == step.ended, f"{said}: others have ended"
        going = np.flatnonzero(np.isin(level.fate, (KEPT, STOP))).tolist()
        if index + 1 < len(levels) or going:  # at the limit everything has ended, and theirs are never used
            # as a set: equal totals come in any order, and which row one became shows in the next step
            assert going == sorted(set(step.going) & set(real)), f"{said}: others go on"
