"""What a training keeps: a resumable state (every minute) and the model folder that ships. Neither uses pickle."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def save_state(folder: Path, model, optimizer, progress: dict) -> None:
    """Write weights, optimiser state and `progress` (plain JSON); a kill in the middle leaves the previous state."""
    tensors, scalars = {f"model.{k}": v.contiguous() for k, v in own_tensors(model).items()}, {}
    for index, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            if isinstance(value, torch.Tensor):
                tensors[f"optimizer.{index}.{key}"] = value.contiguous()
            else:
                scalars[f"{index}.{key}"] = value
    folder.mkdir(parents=True, exist_ok=True)
    meta = {"progress": json.dumps(progress), "scalars": json.dumps(scalars)}
    save_file(tensors, folder / "state.new", metadata=meta)
    (folder / "state.new").replace(folder / "state.safetensors")


def load_state(folder: Path, model, optimizer) -> dict | None:
    """Restore what `save_state` wrote and return its progress, or None if there is nothing to resume."""
    from safetensors import safe_open

    path = folder / "state.safetensors"
    if not path.exists():
        return None
    tensors = load_file(path)
    with safe_open(path, "pt") as file:
        meta = file.metadata()
    model.load_state_dict({k[6:]: v for k, v in tensors.items() if k.startswith("model.")}, strict=False)
    model.tie_weights()
    state: dict[int, dict] = {}
    values = {k[10:]: v for k, v in tensors.items() if k.startswith("optimizer.")} | json.loads(meta["scalars"])
    for name, value in values.items():
        index, key = name.split(".", 1)
        state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return json.loads(meta["progress"])


def export(folder: Path, model, tokenizer) -> None:
    """The folder that ships: float16 safetensors, configs, tokenizer. The model in memory stays float32."""
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    half = {name: tensor.to(torch.float16).contiguous() for name, tensor in own_tensors(model).items()}
    save_file(half, folder / "model.safetensors", metadata={"format": "pt"})


def own_tensors(model) -> dict[str, torch.Tensor]:
    """The state dict without second names of tied tensors."""
    seen, own = set(), {}
    for name, tensor in model.state_dict().items():
        if tensor.data_ptr() not in seen:
            seen.add(tensor.data_ptr())
            own[name] = tensor
    return own
