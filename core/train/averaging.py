"""Checkpoint averaging: the last weights of a training, averaged over as many as validation likes best."""

from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from core.train.checkpoints import own_tensors

CANDIDATES = (1, 2, 3, 5, 8, 10, 15, 20)


def snapshots(folder: Path) -> list[Path]:
    """Kept weights, oldest first."""
    return sorted(folder.glob("*.safetensors"), key=lambda path: int(path.stem))


def keep_snapshot(folder: Path, model, step: int, most: int) -> None:
    """Keep the weights at `step`, and no more than `most` files."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({k: v.contiguous() for k, v in own_tensors(model).items()}, folder / "new")
    (folder / "new").replace(folder / f"{step}.safetensors")
    for path in snapshots(folder)[:-most]:
        path.unlink()


def average(paths: list[Path]) -> dict[str, torch.Tensor]:
    """The mean of every tensor over `paths`, summed in float64."""
    total = {name: tensor.double() for name, tensor in load_file(paths[0]).items()}
    for path in paths[1:]:
        for name, tensor in load_file(path).items():
            total[name] += tensor
    return {name: (tensor / len(paths)).float() for name, tensor in total.items()}


def best_average(folder: Path, model, loss: Callable[[], float]) -> dict[int, float]:
    """Leave in `model` the average of the last k snapshots with the lowest `loss()`; returns loss by k."""
    paths, found, best = snapshots(folder), {}, {}
    for k in (k for k in CANDIDATES if k <= len(paths)):
        tensors = average(paths[-k:])
        put(model, tensors)
        found[k] = loss()
        if found[k] == min(found.values()):
            best = tensors
    put(model, best)
    return found


def put(model, tensors: dict[str, torch.Tensor]) -> None:
    """Load `tensors`; tied weights have one name in them."""
    model.load_state_dict(tensors, strict=False)
    model.tie_weights()
