"""What moves on lessons 9 and 10 of sheet 003: fine-tuning and preferences, sampling, the cache."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.experiments.drawing import bars, figure, function, line, nats, normal, point, seeded, shown, word
from app.experiments.experiment import Dial, Experiment
from app.palette import BLUE, GREY, VERMILION

Dials = Mapping[str, float]
WEIGHTS = Path(__file__).resolve().parents[2] / "assets/models/pocket-t5/model.safetensors"
WEIGHT = "decoder.block.0.layer.1.EncDecAttention.q.weight"


def _sft(at: Dials) -> go.Figure:
    import torch

    count, prompt = 10, int(at["n"])
    z, ids, places = normal(count, 12), torch.arange(count), torch.arange(count)
    each = [function("sft_loss")(z, ids, places == t) for t in range(count)]
    total = function("sft_loss")(z, ids, places >= prompt)
    return figure(f"ℒ_SFT = {shown(total)} {nats()}, n = {prompt}; V = 12, z ~ N(0, 1), {seeded('0')}", "t", "−log P",
                  bars(each[:prompt], "t ≤ n", list(range(1, prompt + 1)), GREY),
                  bars(each[prompt:], "t > n", list(range(prompt + 1, count + 1))))


@cache
def _frozen() -> Any:
    """One weight of the pocket model, float32: only it is read from the file, so no model has to be there."""
    from safetensors import safe_open

    with safe_open(WEIGHTS, "pt") as file:
        return file.get_tensor(WEIGHT).float()


def _lora(at: Dials) -> go.Figure:
    import torch

    rank, w = int(at["r"]), _frozen()
    a, b = normal(32, w.shape[1])[:rank].float() / w.shape[1] ** 0.5, normal(w.shape[0], 32, seed=1)[:, :rank].float() / 50
    whole, change = function("lora")(w, a, b, at["α"])
    share = rank * sum(w.shape) / w.numel()
    size = shown(change.norm() / w.norm())
    return figure(f"pocket-t5 {WEIGHT.removesuffix('.weight')}: ‖ΔW‖/‖W_0‖ = {size}, r(d + k)/(dk) = {share:.1%}; "
                  f"A ~ N(0, 1/k), B ~ N(0, 0.02²), {seeded('0, 1')}", "i", "σ_i",
                  *[line(range(1, len(w) + 1), torch.linalg.svdvals(each), name, colour, dash) for each, name, colour, dash in
                    ((w, "W_0", GREY, "solid"), (whole, "W", BLUE, "dot"), (change, "ΔW", VERMILION, "solid"))])


def _bradley_terry(at: Dials) -> go.Figure:
    import torch

    def loss(better: float, worse: float) -> Any:
        return function("bradley_terry")(*torch.tensor([[better], [worse]], dtype=torch.float64))

    grid, here = np.linspace(-8, 8, 81), loss(at["r_w"], at["r_l"])
    return figure(f"ℒ_RM = {shown(here)} {nats()}, P(y_w ≻ y_l) = {shown((-here).exp())}", "r_w − r_l", "ℒ_RM",
                  line(grid, [loss(each, 0.0) for each in grid]), point(at["r_w"] - at["r_l"], here))


def _anchored(at: Dials) -> go.Figure:
    beta, tilt = at["β"], at["w"]
    rewards, reference = normal(6), normal(6, seed=1).log_softmax(-1)

    def value(tilt: float) -> Any:
        policy = (reference + tilt * rewards).log_softmax(-1)
        return function("kl_anchored")(rewards, policy, reference, beta, policy.exp())

    grid = np.linspace(0, 8, 81)
    best = 1 / beta
    return figure(f"π ∝ π_ref e^(w r): J = {shown(value(tilt))}, w* = 1/β = {shown(best)}; 6 y, r, z_ref ~ N(0, 1), "
                  f"{seeded('0, 1')}",
                  "w", "J", line(grid, [value(each) for each in grid]), line([best] * 2, [-1, value(best)], "w*", GREY, "dot"),
                  point(tilt, value(tilt)), xaxis_range=[-0.2, 8.2])


def _ppo(at: Dials) -> go.Figure:
    import torch

    def value(ratio: float) -> Any:
        return function("ppo_clip")(*torch.tensor([[ratio], [at["Â"]]], dtype=torch.float64), at["ε"])

    grid = np.linspace(0, 2.5, 101)
    return figure(f"Â = {at['Â']:g}, ε = {at['ε']:g}: {shown(value(at['ρ']))}", "ρ", "ℒ^CLIP",
                  line(grid, at["Â"] * grid, "ρÂ", GREY, "dot"), line(grid, [value(each) for each in grid], "min(·, ·)"),
                  point(at["ρ"], value(at["ρ"])), yaxis_range=[-5, 5])


def _dpo(at: Dials) -> go.Figure:
    import torch

    def loss(better: float, worse: float) -> Any:
        return function("dpo")(*torch.tensor([[better], [worse], [0.0], [0.0]], dtype=torch.float64), at["β"])

    grid, better, worse = np.linspace(-20, 20, 81), at["Δ_w"], at["Δ_l"]
    return figure(f"Δ = log π_θ/π_ref: ℒ_DPO = {shown(loss(better, worse))} {nats()}, β = {at['β']:g}", "Δ_w − Δ_l", "ℒ_DPO",
                  line(grid, [loss(each, 0.0) for each in grid]), point(better - worse, loss(better, worse)), yaxis_range=[0, 6])


def _generation(at: Dials) -> go.Figure:
    count, chances = int(at["m"]), normal(12, 6).softmax(-1).amax(-1).numpy()
    found = [function("factorization")(np.log(chances[:step])) for step in range(1, count + 1)]
    return figure(f"P(y | x) = {shown(found[-1])}, m = {count}; max p̂, z ~ N(0, 1), V = 6, {seeded('0')}", "t", "P",
                  bars(chances[:count], "P(y_t | x, y_<t)", colour=GREY), bars(found, "P(y_≤t | x)"), yaxis_type="log",
                  xaxis_range=[0.4, 12.6])


def _temperature(at: Dials) -> go.Figure:
    z = 2 * normal(12).sort(descending=True).values
    plain, p = function("temperature")(z, 1.0), function("temperature")(z, at["T"])
    return figure(f"T = {at['T']:g}, max p̂ = {shown(p.max())}; V = 12, z ~ N(0, 2²), {seeded('0')}", "w", "p̂_w",
                  bars(plain, "T = 1", colour=GREY), bars(p, "p̂(T)"), yaxis_range=[0, 1.02])


def _top_p(at: Dials) -> go.Figure:
    z = 1.5 * normal(1, 20).sort(descending=True).values
    p = function("temperature")(z, 1.0)[0]
    kept, left = function("top_p")(z, at["p"])
    return figure(f"|S| = {int(kept.sum())}, Σ_S p̂ = {shown(p[kept[0]].sum())} ≥ p = {at['p']:g}; V = 20, z ~ N(0, "
                  f"1.5²), {seeded('0')}",
                  "w", "p̂_w", bars(p, "p̂", colour=GREY), bars(left[0], "p̂ (S)"))


def _kv_bytes(at: Dials) -> go.Figure:
    def size(length: float) -> float:
        return function("kv_bytes")(int(at["N_layers"]), 1, int(at["d"]), int(length), bytes_per=2) / 2**30

    grid, count = np.linspace(0, 131072, 33), 2 ** int(at["log₂ n"])
    return figure(f"{shown(size(count))} GiB, n = {count}; {word('bytes')}", "n", "GiB",
                  line(grid, [size(each) for each in grid]),
                  point(count, size(count)), yaxis_rangemode="tozero")


USING = {
    "sft_loss": Experiment((Dial("n", 0, 10, 4),), _sft),
    "lora": Experiment((Dial("r", 1, 32, 4), Dial("α", 1, 64, 8)), _lora),
    "bradley_terry": Experiment((Dial("r_w", -4, 4, 1, 0.1), Dial("r_l", -4, 4, 0, 0.1)), _bradley_terry),
    "kl_anchored": Experiment((Dial("β", 0.15, 2, 0.5, 0.05), Dial("w", 0, 8, 1, 0.1)), _anchored),
    "ppo_clip": Experiment((Dial("ρ", 0, 2.5, 1.5, 0.05), Dial("Â", -2, 2, 1, 0.1), Dial("ε", 0, 0.5, 0.2, 0.05)), _ppo),
    "dpo": Experiment((Dial("β", 0.05, 1, 0.1, 0.05), Dial("Δ_w", -10, 10, 2, 0.5), Dial("Δ_l", -10, 10, 0, 0.5)), _dpo),
    "factorization": Experiment((Dial("m", 1, 12, 6),), _generation),
    "temperature": Experiment((Dial("T", 0.1, 5, 1.5, 0.05),), _temperature),
    "top_p": Experiment((Dial("p", 0.05, 1, 0.8, 0.05),), _top_p),
    "kv_bytes": Experiment((Dial("log₂ n", 7, 17, 13), Dial("N_layers", 1, 96, 32), Dial("d", 256, 16384, 4096, 256)), _kv_bytes),
}
