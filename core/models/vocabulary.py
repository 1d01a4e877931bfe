"""A model folder's tokenizer by the tokenizers library alone: cutting a text needs neither torch nor transformers.

It has just what `core.text` and `core.noise` ask of a tokenizer, and never changes, so that many may use it at once.
"""

import json
from functools import cached_property
from pathlib import Path
from typing import Any

from core.errors import ModelError

_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class Vocabulary:
    """What `AutoTokenizer` would give for a folder with a tokenizer.json, as far as cutting a text goes."""

    is_fast = True

    def __init__(self, folder: Path):
        from tokenizers import Tokenizer

        try:
            self._inner = Tokenizer.from_file(str(folder / "tokenizer.json"))
            named = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        except Exception as error:  # tokenizers raises a bare Exception
            raise ModelError(f"The tokenizer of {folder.name} cannot be read before the model is loaded ({error}).") from None
        self._inner.no_truncation()
        self._inner.no_padding()
        tokens = {name: _content(named.get(name)) for name in _NAMED}
        self.mask_token = tokens["mask_token"]
        self.unk_token_id = self.convert_tokens_to_ids(tokens["unk_token"]) if tokens["unk_token"] else None
        added = {token.content for token in self._inner.get_added_tokens_decoder().values() if token.special}
        known = {self._inner.token_to_id(text) for text in [*added, *filter(None, tokens.values())]}
        self.all_special_ids = sorted(id for id in known if id is not None)

    def __call__(self, text: str, **_: Any) -> dict[str, list]:
        made = self._inner.encode(text)
        return {"input_ids": made.ids, "special_tokens_mask": made.special_tokens_mask, "offset_mapping": made.offsets}

    def __len__(self) -> int:
        return self._inner.get_vocab_size()

    @cached_property
    def backend_tokenizer(self) -> Any:
        return self._inner

    def decode(self, ids: list[int], skip_special_tokens: bool = True, **_: Any) -> str:
        return self._inner.decode(ids, skip_special_tokens)

    def convert_ids_to_tokens(self, id: int) -> str | None:
        return self._inner.id_to_token(id)

    def convert_tokens_to_ids(self, name: str) -> int | None:
        found = self._inner.token_to_id(name)
        return getattr(self, "unk_token_id", None) if found is None else found


def rows_in(folder: Path) -> int | None:
    """Ids that the folder's model has a row for, by its config; None where it does not say."""
    try:
        found = json.loads((folder / "config.json").read_text("utf-8")).get("vocab_size")
    except (OSError, ValueError, AttributeError, RecursionError):
        return None
    return found if type(found) is int and found > 0 else None


def _content(token: Any) -> str | None:
    """Named tokens are a text, or a text with how it is stripped."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None
