"""Parameters of an encoder-decoder, counted from its sizes by block, beside the course's estimate and what makes the difference.

P ≈ 12 N_enc d² + 16 N_dec d² + V d (sheet 000, lesson 5) assumes d_ff = 4d, heads · d_k = d, two matrices in each feed-forward,
one table for embedding and head, and nothing else. `assets/js/budget/` counts the same way in the browser.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FAMILIES = ("t5", "mt5", "umt5", "bart", "mbart", "marian", "pegasus", "t5gemma")
_POST_NORM = ("bart", "marian")  # no norm after the last block


@dataclass(frozen=True)
class Architecture:
    """The sizes that decide how many parameters there are.

    d: width. heads (the decoder's) of width d_kv; kv_heads: of keys and values, where they are fewer. gated: three matrices in
    a feed-forward, not two. tied: one table for embedding and head. positions: rows of each stack's position table, or buckets
    of its bias.
    """

    family: str
    d: int
    encoder: int
    decoder: int
    heads: int
    d_kv: int
    d_ff: int
    vocab: int
    gated: bool = False
    tied: bool = True
    positions: int = 0
    kv_heads: int = 0

    @property
    def inner(self) -> int:
        """Width of all heads together."""
        return self.heads * self.d_kv

    @property
    def inner_kv(self) -> int:
        """Width of all heads of keys together."""
        return (self.kv_heads or self.heads) * self.d_kv

    @property
    def matrices(self) -> int:
        """Matrices of one feed-forward."""
        return 3 if self.gated else 2

    @property
    def biased(self) -> bool:
        """Whether linear layers have biases, and norms too: BART and its kin."""
        return self.family in ("bart", "mbart", "marian", "pegasus")


def blocks(a: Architecture) -> dict[str, int]:
    """Part -> parameters; they add up to the model's exact count. One entry for all layers of a stack together."""
    attention = 2 * a.d * (a.inner + a.inner_kv)
    forward = a.matrices * a.d * a.d_ff
    norm = 2 * a.d if a.biased else a.d
    # T5Gemma has a norm before and one after each part of a block; all others one a part
    each = 2 if a.family == "t5gemma" else 1
    ends = 0 if a.family in _POST_NORM else 2
    starts = 2 if a.family in ("bart", "mbart") else 0  # a norm over the embeddings of each stack
    bias = a.inner + 2 * a.inner_kv + a.d if a.biased else 0
    forward_bias = a.d_ff + a.d if a.biased else 0
    return {
        "embedding": a.vocab * a.d,
        "tables": ((not a.tied) + (a.family == "t5gemma")) * a.vocab * a.d,  # T5Gemma embeds source and target apart
        "encoder.attention": a.encoder * attention,
        "encoder.feed_forward": a.encoder * forward,
        "decoder.attention": a.decoder * attention,
        "decoder.cross": a.decoder * attention,
        "decoder.feed_forward": a.decoder * forward,
        "biases": a.encoder * (bias + forward_bias) + a.decoder * (2 * bias + forward_bias),
        "norms": norm * (each * (2 * a.encoder + 3 * a.decoder) + ends + starts),
        "positions": positions(a),
    }


def positions(a: Architecture) -> int:
    """Position parameters of both stacks; none where positions are rotations (T5Gemma). UMT5 has a table in each layer."""
    if a.family == "t5gemma":
        return 0
    if a.family in ("t5", "mt5", "umt5"):
        tables = a.encoder + a.decoder if a.family == "umt5" else 2
        return tables * a.positions * a.heads
    return 2 * (a.positions + (2 if a.family in ("bart", "mbart") else 0)) * a.d  # BART keeps two rows it never reads


def frozen(a: Architecture) -> int:
    """Of these, the sinusoids of Marian and PEGASUS: counted as parameters, never trained."""
    return positions(a) if a.family in ("marian", "pegasus") else 0


def exact(a: Architecture) -> int:
    """All parameters."""
    return sum(blocks(a).values())


def estimate(a: Architecture) -> int:
    """12 N_enc d² + 16 N_dec d² + V d."""
    return 12 * a.encoder * a.d**2 + 16 * a.decoder * a.d**2 + a.vocab * a.d


def refined(a: Architecture) -> int:
    """N_enc (4 d a + g d f) + N_dec (8 d a + g d f) + V d: a = heads · d_k, g matrices of inner width f."""
    forward = a.matrices * a.d * a.d_ff
    return a.encoder * (4 * a.d * a.inner + forward) + a.decoder * (8 * a.d * a.inner + forward) + a.vocab * a.d


def reasons(a: Architecture) -> dict[str, int]:
    """What the estimate leaves out (+) or counts too much (−); these add up to exact − estimate."""
    found = blocks(a)
    attention = found["encoder.attention"] + found["decoder.attention"] + found["decoder.cross"]
    forward = found["encoder.feed_forward"] + found["decoder.feed_forward"]
    square = a.d**2
    return {
        "attention": attention - 4 * square * (a.encoder + 2 * a.decoder),
        "feed_forward": forward - 8 * square * (a.encoder + a.decoder),
        "tables": found["tables"], "biases": found["biases"], "norms": found["norms"], "positions": found["positions"],
    }


def architecture_of(config: Mapping[str, Any], tied: bool | None = None) -> Architecture | None:
    """The sizes that a checkpoint's config names; None for a family that is counted from its weights alone.

    tied: what the loaded weights say; a config alone is wrong for T5 v1.1.
    """
    family = str(config.get("model_type", ""))
    if family not in FAMILIES:
        return None
    together = bool(config.get("tie_word_embeddings", True)) if tied is None else tied
    if family == "t5gemma":
        return _gemma(config, together)
    if "d_kv" in config:
        return Architecture(
            family, config["d_model"], config["num_layers"], config["num_decoder_layers"] or config["num_layers"],
            config["num_heads"], config["d_kv"], config["d_ff"], config["vocab_size"],
            str(config.get("feed_forward_proj", "")).startswith("gated"), together, config["relative_attention_num_buckets"])
    heads, feed = config["decoder_attention_heads"], config["decoder_ffn_dim"]
    if feed != config["encoder_ffn_dim"]:
        return None  # stacks of different shapes: the course's formula does not speak of them
    return Architecture(
        family, config["d_model"], config["encoder_layers"], config["decoder_layers"], heads, config["d_model"] // heads, feed,
        config["vocab_size"], False, together, config["max_position_embeddings"])


def _gemma(config: Mapping[str, Any], tied: bool) -> Architecture | None:
    sides = config["encoder"], config["decoder"]
    same = ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size")
    if any(sides[0][name] != sides[1][name] for name in same):
        return None
    one = sides[0]
    return Architecture("t5gemma", one["hidden_size"], one["num_hidden_layers"], sides[1]["num_hidden_layers"],
                        one["num_attention_heads"], one["head_dim"], one["intermediate_size"],
                        config.get("vocab_size") or one["vocab_size"], True, tied, 0, one["num_key_value_heads"])


def counted(loaded: Any) -> list[tuple[str, int, str, int]]:
    """(stack, layer, part, parameters) of a loaded model, each parameter once: what is there, not what a config says.

    stack: "" for what belongs to none. layer counts from 1, 0 for a stack's own. part: embedding, head, attention, cross,
    feed_forward, norms, positions.
    """
    places = {id(module): place for module, place in ((m, loaded.sites.of.get(id(m))) for m in loaded.model.modules()) if place}
    inside = {id(p): places[id(m)] for m in loaded.model.modules() if id(m) in places for p in m.parameters()}
    embeddings = {id(p) for p in loaded.model.get_input_embeddings().parameters()}
    head = {id(p) for p in loaded.model.get_output_embeddings().parameters()} - embeddings
    sums: dict[tuple[str, int, str], int] = {}
    for name, parameter in loaded.model.named_parameters():
        key = _place(name, id(parameter), inside, embeddings, head)
        sums[key] = sums.get(key, 0) + parameter.numel()
    order = {"": 0, "encoder": 1, "decoder": 2}
    return [(*key, sums[key]) for key in sorted(sums, key=lambda key: (order[key[0]], key[1]))]


def _place(
    name: str, id: int, inside: Mapping[int, tuple[str, int]], embeddings: set[int], head: set[int]
) -> tuple[str, int, str]:
    words = name.lower().split(".")
    stack = "encoder" if "encoder" in words else "decoder" if "decoder" in words else ""
    layer = next((int(word) + 1 for word in words if word.isdigit()), 0)
    if id in embeddings:
        return "", 0, "embedding"
    if id in head:
        return "", 0, "head"
    if any("position" in word or word == "relative_attention_bias" for word in words):
        return stack, 0, "positions"
    if id in inside:
        site = inside[id][0]
        return "encoder" if site == "encoder" else "decoder", layer, "cross" if site == "cross" else "attention"
    if any("norm" in word for word in words):
        return stack, layer, "norms"
    if any(word in ("embed_tokens", "word_embeddings", "wte") for word in words):
        return stack, 0, "embedding"
    return stack, layer, "feed_forward"
