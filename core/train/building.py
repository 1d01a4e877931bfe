"""A model and its tokenizer, fresh from a recipe or from a folder."""

from pathlib import Path

import torch
from tokenizers import AddedToken
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedTokenizerBase
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding

from core.formulas.decoder_only.language import sinusoids
from core.prefix_model import PrefixForCausalLM, drop_residuals
from core.train.corpus import read_lines
from core.train.recipes import Recipe
from core.train.vocabulary import train_tokenizer


def tokenizer_for(recipe: Recipe, data: Path, work: Path) -> PreTrainedTokenizerBase:
    """The recipe's tokenizer: trained once from the training text, then read back from the work folder."""
    folder = work / "tokenizer"
    if not (folder / "tokenizer.json").exists():
        lines = [line for language in recipe.languages for line in read_lines(data, "train", language)]
        tokenizer = train_tokenizer(lines, recipe.vocabulary, recipe.words)
        if any(task.kind == "denoise" for task in recipe.tasks):  # the same pieces, and one more
            tokenizer.add_special_tokens({"mask_token": AddedToken("<mask>", lstrip=True, special=True)})
        tokenizer.save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder)


def config_of(recipe: Recipe, vocabulary: int, pad: int, eos: int):
    """The transformers config of the recipe's architecture; the decoder starts from pad, unless the recipe says so."""
    ours = dict(vocab_size=vocabulary, pad_token_id=pad, eos_token_id=eos, decoder_start_token_id=pad)
    return AutoConfig.for_model(recipe.model_type, **ours | recipe.config)


def class_of(recipe: Recipe):
    """What builds and reads the recipe's models: two stacks, or one."""
    return PrefixForCausalLM if recipe.model_type == "llama" else AutoModelForSeq2SeqLM


def from_config(recipe: Recipe, config, **options):
    """A model of random weights."""
    if recipe.model_type == "llama":
        return PrefixForCausalLM(config)
    return AutoModelForSeq2SeqLM.from_config(config, **options)


def untrained(recipe: Recipe):
    """The recipe's architecture without memory or values (meta device): for counting."""
    with torch.device("meta"):
        return from_config(recipe, config_of(recipe, recipe.vocabulary, 0, 1))


def build_model(recipe: Recipe, tokenizer: PreTrainedTokenizerBase):
    """A freshly initialised model of the recipe."""
    config = config_of(recipe, len(tokenizer), tokenizer.pad_token_id, tokenizer.eos_token_id)
    torch.manual_seed(recipe.seed)
    model = from_config(recipe, config, attn_implementation="sdpa")
    waves_first(model)
    return model


@torch.no_grad()
def waves_first(model) -> None:
    """Learned tables of positions start as sinusoids instead of noise, as loud as the noise was.

    In small data each row of a table is met too seldom to learn how far two places are apart. Sinusoids say it from the
    start, and each row stays free to move. Not measured yet: the shipped pocket-bart started from noise.
    """
    for module in model.modules():
        if isinstance(module, BartLearnedPositionalEmbedding):
            rows = module.weight[module.offset:]
            waves = sinusoids(*rows.shape).to(rows.dtype)
            rows.copy_(waves * rows.square().mean().sqrt() / waves.square().mean().sqrt())


def start(recipe: Recipe, data: Path, work: Path, init: Path | None):
    """(model, tokenizer) to train, in float32.

    Dropout is on what is added to the residual stream, not on attention weights or inside the feed-forward, as in
    fairseq's recipes for small data; it is also half the work.
    """
    if init:
        tokenizer = AutoTokenizer.from_pretrained(init)
        model = class_of(recipe).from_pretrained(init, dtype=torch.float32, attn_implementation="sdpa")
    else:
        tokenizer = tokenizer_for(recipe, data, work)
        model = build_model(recipe, tokenizer)
    model.config.task_specific_params = {task.name: {"prefix": task.prefix} for task in recipe.tasks}
    if isinstance(model, PrefixForCausalLM):
        drop_residuals(model, model.config.residual_dropout)
    for module in model.modules():
        if type(module).__name__ == "T5Attention":
            module.dropout = 0.0
        if type(module).__name__ in ("T5DenseActDense", "T5DenseGatedActDense"):
            module.dropout = torch.nn.Identity()
    return model, tokenizer
