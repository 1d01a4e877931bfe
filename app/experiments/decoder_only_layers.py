"""What moves on lessons 4 and 5 of sheet 003: the block, its norms and their gradients, the output head, all weights."""

from collections.abc import Mapping
from math import prod

import numpy as np
import plotly.graph_objects as go

from app.experiments.drawing import bars, figure, function, line, nats, normal, points, seeded, shown, word
from app.experiments.experiment import Dial, Experiment
from app.palette import BLUE, GREEN, GREY, VERMILION

Dials = Mapping[str, float]


def _block(at: Dials) -> go.Figure:
    blocks, width, h = int(at["N"]), 16, normal(6, 16)
    norm, sizes = function("layernorm"), [float(h.square().mean().sqrt())]
    for block in range(blocks):
        w = normal(5, width, width, seed=block + 1) / width**0.5

        def attend(x, w=w):
            return function("multi_head")(x, w[None, 0], w[None, 1], w[None, 2], w[3])[0]

        def feed(x, w=w):
            return function("mlp")(x, w[4], w[0, 0], w[4].T, w[1, 0])

        between, h = function("block_prenorm")(h, attend, feed, (norm, norm))
        sizes += [float(each.square().mean().sqrt()) for each in (between, h)]
    steps = np.arange(len(sizes)) / 2
    return figure(f"RMS(H), N = {blocks}, d = 16; H ~ N(0, 1), W ~ N(0, 1/d), {seeded(f'0 … {blocks}')}", "ℓ", "RMS(H)",
                  line(steps, sizes, "H̃, H′", mode="lines+markers"), yaxis_rangemode="tozero")


def _mlp(at: Dials) -> go.Figure:
    import torch

    inner = int(at["d_ff"])
    x = torch.linspace(-4, 4, 81, dtype=torch.float64)
    w, b, up = normal(3, 64)[:, :inner].unbind()
    y = function("mlp")(x[:, None], 2 * w[:, None], 2 * b, up[None] / inner**0.5, torch.zeros(1, dtype=torch.float64))
    return figure(f"φ = GELU, d = 1, d_ff = {inner}; W_1, b_1 ~ N(0, 2²), W_2 ~ N(0, 1/d_ff), b_2 = 0, {seeded('0')}", "x",
                  "MLP(x)",
                  line(x, y[:, 0]))


def _residual(at: Dials) -> go.Figure:
    import torch

    layers, width, gain = int(at["N"]), 8, at["g"]
    x, with_it, without = normal(width), [1.0], [1.0]
    one = torch.full((width,), width**-0.5, dtype=torch.float64)
    kept, bare = one, one
    for layer in range(layers):
        w = gain * normal(width, width, seed=layer + 1) / width**0.5

        def sublayer(a, w=w):
            return torch.tanh(w @ a)

        jacobian = function("residual_jacobian")(sublayer, x)
        kept, bare = jacobian @ kept, (jacobian - torch.eye(width, dtype=torch.float64)) @ bare
        x = x + sublayer(x)
        with_it.append(float(kept.norm()))
        without.append(float(bare.norm()))
    steps = range(layers + 1)
    return figure(f"‖∏ ∂y/∂x · v‖, F = tanh(Wx), d = 8; W ~ N(0, g²/d), {seeded('0')} …", "ℓ", "‖·‖",
                  line(steps, with_it, "I + ∂F/∂x", mode="lines+markers"),
                  line(steps, without, "∂F/∂x", VERMILION, mode="lines+markers"), yaxis_type="log")


def _layernorm(at: Dials) -> go.Figure:
    x = 2 * normal(16) + at["μ"]
    y = function("layernorm")(x, at["γ"], at["β"])
    spread = shown(y.std(correction=0))
    return figure(f"μ(LN) = {shown(y.mean())}, σ(LN) = {spread}; d = 16, ε = 1e−5, x ~ N(μ, 2²), "
                  f"{seeded('0')}", "k",
                  "x, LN(x)", bars(x, "x", colour=GREY), bars(y, "LN(x)"))


def _gradients(norm: str, x, upstream):
    """∂L/∂x by torch's autograd through the forward function of the entry."""
    import torch

    leaf = x.clone().requires_grad_()
    with torch.enable_grad():
        function(norm)(leaf).backward(upstream)
    return leaf.grad


def _layernorm_backward(at: Dials) -> go.Figure:
    x, g = at["σ"] * normal(12), normal(12, seed=1)
    found = function("layernorm_backward")(x, g)
    theirs = _gradients("layernorm", x, g)
    apart = float((found - theirs).abs().max())
    return figure(f"max |∂ℒ/∂x − autograd| = {apart:.0e}; d = 12, γ = 1, x ~ N(0, σ²), g ~ N(0, 1), {seeded('0, 1')}", "i",
                  "∂ℒ/∂x_i", bars(g, "g", colour=GREY), bars(found, "∂ℒ/∂x"), points(theirs, "autograd"))


def _rmsnorm(at: Dials) -> go.Figure:
    from core.formulas.decoder_only.block import rmsnorm_gradient

    x, g = normal(12) + at["μ"], normal(12, seed=1)
    y, found, theirs = function("rmsnorm")(x), rmsnorm_gradient(x, g), _gradients("rmsnorm", x, g)
    return figure(f"{word('mean')} RMS(x) = {shown(y.mean())}; d = 12, γ = 1, ε = 1e−5, "
                  f"x ~ N(μ, 1), g ~ N(0, 1), {seeded('0, 1')}",
                  "i",
                  "x, RMS(x), ∂ℒ/∂x", bars(x, "x", colour=GREY), bars(y, "RMS(x)"), bars(found, "∂ℒ/∂x", colour=GREEN),
                  points(theirs, "autograd ∂ℒ/∂x"))


def _softmax(at: Dials) -> go.Figure:
    h = normal(1, 4).numpy()
    h[0, 0] = at["h_1"]
    z, p = function("softmax")(h, normal(4, 10, seed=1).numpy())
    return figure(f"max z = {shown(z.max())}; d = 4, V = 10, h, W_U ~ N(0, 1), {seeded('0, 1')}", "w", "p̂_w", bars(p[0]),
                  yaxis_range=[0, 1.02])


def _cross_entropy(at: Dials) -> go.Figure:
    import torch

    count, vocab = 8, 12
    ids = torch.arange(count)
    z = normal(count, vocab) + at["z"] * torch.eye(count, vocab, dtype=torch.float64)
    total, loss = function("cross_entropy")(z, ids)
    each = [function("cross_entropy")(z[t : t + 1], ids[t : t + 1])[1] for t in range(count)]
    return figure(f"log P = {shown(total)} {nats()}, ℒ = {shown(loss)} {nats()}; n = 8, V = 12, z ~ N(0, 1) + z · y, "
                  f"{seeded('0')}", "t",
                  "−log p̂", bars(each), line([0.5, count + 0.5], [loss, loss], "ℒ", VERMILION), yaxis_range=[0, 5])


def _logit_gradient(at: Dials) -> go.Figure:
    import torch

    z = normal(1, 8)
    z[0, 0] = at["z_1"]
    found = function("logit_gradient")(z, torch.tensor([2]))
    return figure(f"p̂ − y, y = e_3; V = 8, z ~ N(0, 1), {seeded('0')}", "w", "∂ℒ/∂z_w",
                  bars(found[0], colour=[VERMILION if w == 2 else BLUE for w in range(8)]), yaxis_range=[-1.05, 1.05])


def _parameters(at: Dials) -> go.Figure:
    layers, width, vocab = int(at["N"]), int(at["d"]), 32000
    counts = dict.fromkeys(("E", "W_Q … W_O", "W_1, W_2, b", "γ, β", "W_U"), 0)
    for name, shape in function("parameters")(layers, width, 4 * width, vocab).items():
        own = name.rpartition(".")[2]
        group = own if own in counts else "γ, β" if own[0] in "γβ" else "W_1, W_2, b" if own[-1] in "12" else "W_Q … W_O"
        counts[group] += prod(shape)
    return figure(f"|θ| = {sum(counts.values()):,}; V = 32000, d_ff = 4d", "θ", "#",
                  bars(list(counts.values()), x=list(counts)), yaxis_type="log", yaxis_range=[3, 11])


LAYERS = {
    "block_prenorm": Experiment((Dial("N", 1, 12, 4),), _block),
    "mlp": Experiment((Dial("d_ff", 1, 64, 8),), _mlp),
    "residual_jacobian": Experiment((Dial("N", 1, 12, 8), Dial("g", 0.1, 2, 0.5, 0.1)), _residual),
    "layernorm": Experiment((Dial("μ", -4, 4, 2, 0.1), Dial("γ", -2, 2, 1, 0.1), Dial("β", -2, 2, 0, 0.1)), _layernorm),
    "layernorm_backward": Experiment((Dial("σ", 0.2, 4, 1, 0.1),), _layernorm_backward),
    "rmsnorm": Experiment((Dial("μ", -4, 4, 1, 0.1),), _rmsnorm),
    "softmax": Experiment((Dial("h_1", -4, 4, 1, 0.1),), _softmax),
    "cross_entropy": Experiment((Dial("z", 0, 8, 2, 0.1),), _cross_entropy),
    "logit_gradient": Experiment((Dial("z_1", -4, 8, 1, 0.1),), _logit_gradient),
    "parameters": Experiment((Dial("N", 1, 48, 12), Dial("d", 64, 4096, 768, 64)), _parameters),
}
