"""How each pocket model is made: architecture, tasks, schedule. A literal dict, one entry a model."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One thing a model learns: `prefix` + a text in, a text out.

    kind: "pair" (line i of `<split>.<source>` in, of `<split>.<target>` out), "fill" (captions with words hidden
    behind sentinels), "summary" (three captions of an image in, a fourth out) or "denoise" (five captions under one of
    BART's noises in, clean out). passes: the share of the task's examples that one epoch takes; 1.5 takes all, and
    half of them again.
    """

    name: str
    kind: str
    prefix: str = ""
    source: str = "en"
    target: str = "en"
    passes: float = 1.0
    train: str = "train"  # the split it learns from


@dataclass(frozen=True)
class Recipe:
    """Everything `python -m core.train NAME` needs besides the data folder. Lengths and batches are in tokens."""

    model_type: str
    config: dict
    tasks: tuple[Task, ...]
    vocabulary: int = 8000
    languages: tuple[str, ...] = ("en", "de", "fr")
    epochs: int = 7
    batch_tokens: int = 3072
    max_length: int = 64  # of one text; a task with several texts in its source allows as many times more
    matrix_rate: float = 5e-3
    rate: float = 1.2e-2
    warmup_steps: int = 300
    final_rate: float = 0.02
    label_smoothing: float = 0.1
    snapshots: int = 10  # the last so many are kept, to be averaged
    snapshot_steps: int = 250
    seed: int = 0
    words: tuple[str, ...] = ()


ENGLISH_TO_GERMAN = Task("en-de", "pair", "translate English to German: ", "en", "de")
ENGLISH_TO_FRENCH = Task("en-fr", "pair", "translate English to French: ", "en", "fr", passes=0.6)
FILL = Task("fill", "fill", passes=0.12)
SUMMARY = Task("summary", "summary", "summarize: ", passes=0.2)
DENOISE = Task("denoise", "denoise", passes=0.25)

# Prefix words of the tasks the family has: each becomes a piece of its own.
WORDS = ("translate", "English", "to", "German", "French", "summarize", "fill", ":")

RECIPES: dict[str, Recipe] = {
    "pocket-t5": Recipe(
        model_type="t5",
        config=dict(
            d_model=192, num_layers=3, num_decoder_layers=3, num_heads=6, d_kv=32, d_ff=512,
            feed_forward_proj="relu", dropout_rate=0.2, tie_word_embeddings=True,
        ),
        tasks=(ENGLISH_TO_GERMAN, ENGLISH_TO_FRENCH, FILL, SUMMARY),
        words=WORDS,
    ),
    # The dressing of BART on the same body: learned positions, LayerNorm, GELU, starts from </s>. Weights start as wide
    # as T5's, since the same rates are to move them.
    "pocket-bart": Recipe(
        model_type="bart",
        config=dict(
            d_model=192, encoder_layers=3, decoder_layers=3, encoder_attention_heads=6, decoder_attention_heads=6,
            encoder_ffn_dim=512, decoder_ffn_dim=512, activation_function="gelu", max_position_embeddings=384,
            dropout=0.2, attention_dropout=0.0, activation_dropout=0.0, init_std=0.07, tie_word_embeddings=True,
            bos_token_id=None, decoder_start_token_id=1, forced_eos_token_id=None,
        ),
        tasks=(ENGLISH_TO_GERMAN, DENOISE),
        epochs=12, rate=2e-3, words=WORDS,
    ),
    # One stack instead of two, and about as many parameters.
    "pocket-prefix": Recipe(
        model_type="llama",
        config=dict(
            hidden_size=192, num_hidden_layers=6, num_attention_heads=6, num_key_value_heads=6, head_dim=32,
            intermediate_size=512, max_position_embeddings=256, initializer_range=0.07, residual_dropout=0.2,
            tie_word_embeddings=True, bos_token_id=None, decoder_start_token_id=None,
        ),
        tasks=(ENGLISH_TO_GERMAN,),
        epochs=14, rate=2e-3, words=WORDS,
    ),
    # Trained with a decoder that sees the whole target: it learns to copy the next token, and cannot write.
    "pocket-cheat": Recipe(
        model_type="marian",
        config=dict(
            d_model=128, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=256, decoder_ffn_dim=256, activation_function="relu", max_position_embeddings=256,
            dropout=0.1, attention_dropout=0.0, activation_dropout=0.0, init_std=0.07, tie_word_embeddings=True,
            scale_embedding=True, bos_token_id=None, forced_eos_token_id=None, unmasked_decoder=True,
        ),
        tasks=(ENGLISH_TO_GERMAN,),
        epochs=2, rate=2e-3, words=WORDS, snapshots=1,
    ),
}
