"""Sheet 004's functions against torch, autograd and transformers: what the three files of tests of it share."""

import torch

TINY = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
FLOAT32 = 1e-6  # where transformers goes through it, whatever the model is in


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def ids(length: int) -> torch.Tensor:
    return torch.randint(5, 50, (length,))


def model(kind, config):
    torch.manual_seed(0)
    return kind(config).double().eval()


def equal(ours, theirs, within: float = 1e-9) -> None:
    ours, theirs = (torch.as_tensor(each, dtype=torch.float64) for each in (ours, theirs))
    torch.testing.assert_close(ours, theirs, rtol=within, atol=within)


def checked(names: dict, id: str) -> None:
    """Runs the check of an entry, named like it, on the entry's function."""
    from core.formulas.families import FORMULAS_004

    torch.manual_seed(1)
    names[id](FORMULAS_004[id].function)
