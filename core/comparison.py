"""Two runs of the same weights under two masks: what changed in the output, in tokens and in log P."""

import difflib
import hashlib
import math
from dataclasses import dataclass

import numpy as np

from core.interventions import STACKS, Edits, wording
from core.records import pack, unpack
from core.settings import Settings
from core.text import Token
from core.trace import Trace

Opcode = tuple[str, int, int, int, int]  # equal, replace, delete or insert: old[i1:i2] becomes new[j1:j2] (difflib)
_MINUS = str.maketrans("-", "−")


@dataclass(frozen=True)
class Comparison:
    """old and new are trace ids; opcodes turn the old tokens into the new ones. log P in nats, of whole outputs.

    changed of total: tokens that are not in a common block, of the longer output. logp_old_now: of the old output
    under the new settings, written a token at a time; NaN where it was not asked for.
    """

    kind = "comparison"

    old: str
    new: str
    what: str
    old_tokens: tuple[Token, ...]
    new_tokens: tuple[Token, ...]
    opcodes: tuple[Opcode, ...]
    logp_old: float
    logp_new: float
    logp_old_now: float = math.nan

    @property
    def id(self) -> str:
        """The same for the same two traces."""
        return hashlib.sha256(f"comparison\n{self.old}\n{self.new}\n{math.isnan(self.logp_old_now)}".encode()).hexdigest()

    @property
    def total(self) -> int:
        """Tokens of the longer output."""
        return max(len(self.old_tokens), len(self.new_tokens))

    @property
    def changed(self) -> int:
        """Tokens that differ."""
        return self.total - sum(i2 - i1 for tag, i1, i2, _, _ in self.opcodes if tag == "equal")

    @property
    def sentence(self) -> str:
        """Such as: Encoder causal instead of bidirectional: 3 of 9 tokens changed, log P −4.1 → −7.9."""
        text = f"{self.what}: {self.changed} of {self.total} tokens changed, "
        text += f"log P {_nats(self.logp_old)} → {_nats(self.logp_new)}"
        if not math.isnan(self.logp_old_now):
            text += f"; the old output now has {_nats(self.logp_old_now)}"
        return text + "."

    def to_bytes(self) -> bytes:
        """One self-contained file (safetensors); no pickle."""
        head = {
            "old": self.old, "new": self.new, "what": self.what, "opcodes": [list(code) for code in self.opcodes],
            "old_tokens": [[t.text, t.id, t.start, t.end] for t in self.old_tokens],
            "new_tokens": [[t.text, t.id, t.start, t.end] for t in self.new_tokens],
        }
        return pack(self.kind, head, {"logp": np.array([self.logp_old, self.logp_new, self.logp_old_now])})

    @classmethod
    def from_bytes(cls, data: bytes) -> "Comparison":
        """What `to_bytes` wrote; RecordError says what is wrong with anything else."""
        return unpack(cls.kind, data, cls._read)

    @classmethod
    def _read(cls, head: dict, arrays: dict[str, np.ndarray]) -> "Comparison":
        old, new = (
            tuple(Token(str(text), int(id), int(start), int(end)) for text, id, start, end in head[name])
            for name in ("old_tokens", "new_tokens")
        )
        before, after, now = map(float, arrays["logp"])
        opcodes = difference(old, new)
        if [list(code) for code in opcodes] != head["opcodes"]:
            raise ValueError("the opcodes do not turn the old tokens into the new ones")
        if not (math.isfinite(before) and math.isfinite(after)) or math.isinf(now):
            raise ValueError("a log P that is not finite")
        return cls(str(head["old"]), str(head["new"]), str(head["what"]), old, new, opcodes, before, after, now)


def difference(old: tuple[Token, ...], new: tuple[Token, ...]) -> tuple[Opcode, ...]:
    """Opcodes from the ids of `old` to those of `new`."""
    matcher = difflib.SequenceMatcher(None, [t.id for t in old], [t.id for t in new], autojunk=False)
    return tuple(matcher.get_opcodes())


def compare(old: Trace, new: Trace, logp_old_now: float = math.nan) -> Comparison:
    """Two traces of the same weights; logp_old_now: `likelihood.score(run of new, ids of old, stepwise=True).total`."""
    if old.fingerprint != new.fingerprint:
        raise ValueError("The two runs are of different weights; what differs is then not the mask.")
    return Comparison(
        old.id, new.id, what_differs(old.settings, new.settings), old.target, new.target,
        difference(old.target, new.target), _logp(old), _logp(new), logp_old_now,
    )


def what_differs(old: Settings, new: Settings) -> str:
    """The masks and edits that differ, in words: "Encoder causal instead of bidirectional; cross head 1.2 off"."""
    words = []
    for stack in STACKS:
        one, two = old.masks.of(stack), new.masks.of(stack)
        before, after = wording(one, stack), wording(two, stack)
        if before != after:
            words.append(f"{stack} {after} instead of {before}")
        elif (one.exceptions, one.hidden) != (two.exceptions, two.hidden):
            words.append(f"{stack} other cells")
        elif one != two:  # a preset by its name that holds anyway
            words.append(f"{stack} {after}, which it is anyway")
    words += _edits(old.edits, new.edits)
    if not words:
        words = ["the same masks" if (old.masks, old.edits) == (new.masks, new.edits) else "other edits"]
    text = "; ".join(words)
    return text[0].upper() + text[1:]


def _edits(old: Edits, new: Edits) -> list[str]:
    words = []
    for state, ours, theirs in (("off", new, old), ("on again", old, new)):
        heads = [h for h in ours.heads if h not in theirs.heads]
        words += [f"{h.stack} head {h.layer + 1}.{h.head + 1} {state}" for h in heads[:4]]
        words += [f"{len(heads) - 4} more heads {state}"] if len(heads) > 4 else []
    if new.rows != old.rows:
        words.append(f"{len(new.rows)} row{'s' * (len(new.rows) != 1)} set by hand instead of {len(old.rows)}")
    if new.pads != old.pads:
        words.append(f"{new.pads} pad tokens instead of {old.pads}")
    if new.padding_mask != old.padding_mask:
        words.append("padding mask " + ("on" if new.padding_mask else "off"))
    return words


def _logp(trace: Trace) -> float:
    """log P(y | x) of what was written: Σ_t log P(y_t | y_<t, x)."""
    return float(sum(place.logprob for place in trace.line()))


def _nats(value: float) -> str:
    return f"{value:.1f}".translate(_MINUS)
