"""How each pocket model is made: architecture, data, schedule. A literal dict, one entry a model."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Task:
    """One text-to-text task: `prefix` + line i of `<split>.<source>` in, line i of `<split>.<target>` out."""

    prefix: str
    source: str
    target: str


@dataclass(frozen=True)
class Recipe:
    """Everything `python -m core.train NAME` needs besides the data folder. Lengths and batches are in tokens."""

    model_type: str
    config: dict
    tasks: tuple[Task, ...]
    vocabulary: int = 8000
    languages: tuple[str, ...] = ("en", "de", "fr")
    epochs: int = 10
    batch_tokens: int = 2560
    max_length: int = 64
    learning_rate: float = 1.2e-2
    warmup_steps: int = 300
    final_rate: float = 0.02
    label_smoothing: float = 0.1
    seed: int = 0
    words: tuple[str, ...] = field(default=())


ENGLISH_TO_GERMAN = Task("translate English to German: ", "en", "de")

RECIPES: dict[str, Recipe] = {
    "pocket-t5": Recipe(
        model_type="t5",
        config=dict(
            d_model=192, num_layers=3, num_decoder_layers=3, num_heads=6, d_kv=32, d_ff=512,
            feed_forward_proj="relu", dropout_rate=0.2, tie_word_embeddings=True,
        ),
        tasks=(ENGLISH_TO_GERMAN,),
        # Prefix words of the tasks this family has or will have: each becomes a piece of its own.
        words=("translate", "English", "to", "German", "French", "summarize", "fill", ":"),
    ),
}
