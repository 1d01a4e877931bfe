"""What moves on sections 1, 3, 4 and 10 of sheet 004: attention, feed-forward, GELU, the block, positions."""

from app.experiments.drawing import bars, counted, curves, figure, function, grouped, heat, normal, panels, seeded, word
from app.experiments.experiment import Dial, Experiment

GAIN = Dial("c", 0.0, 8.0, 1.0, 0.25)  # what scores are multiplied by, through Q


def attention_steps(at):
    q, k, v = at["c"] * normal(5, 8), normal(6, 8, seed=1), normal(6, 4, seed=2)
    scores, weights, output = function("attention_steps")(q, k, v)
    return panels(f"c·Q, c = {at['c']:g}; Q, K, V: N(0, 1), {seeded('0, 1, 2')}", "j", "i",
                  {word("scores"): scores, word("weights"): weights, word("output"): output})


def general_attention(at):
    import torch

    keys, grid = torch.linspace(-3, 3, 13).double()[:, None], torch.linspace(-3, 3, 61).double()[:, None]
    values = torch.sin(keys)

    def score(q, k):
        return -at["c"] * ((q - k) ** 2).sum(-1)

    attend = function("general_attention")
    found = [attend(q, keys, values, score)[1][0] for q in grid]
    weights, out = attend(torch.tensor([at["q"]]).double(), keys, values, score)
    made = curves(f"f(q, k) = −c (q − k)², v = sin k; Σ αᵢ vᵢ = {out[0]:.3f}", "q, k", "", grid[:, 0], {"Σ αᵢ vᵢ": found},
                  [(at["q"], out[0])])
    return made.add_trace(bars(weights, "αᵢ", keys[:, 0].tolist(), None).update(opacity=0.5))


def residual_sum(at):
    import torch

    x, w = normal(8), normal(8, 8, seed=1) / 8**0.5

    def sublayer(x):
        return at["c"] * torch.tanh(x @ w)

    total = function("residual_sum")(x, sublayer)
    return grouped(f"Sublayer(x) = c·tanh(xW), c = {at['c']:g}; x, W: {seeded('0, 1')}", "d", "", counted("x", 8),
                   {"x": x, "Sublayer(x)": sublayer(x), "x + Sublayer(x)": total})


def feed_forward(at):
    import torch

    inner, x = int(at["d_ff"]), torch.linspace(-4, 4, 161).double()[:, None]
    w_2 = normal(32, 1, seed=2)[:inner] / inner**0.5
    given = (normal(1, 32)[:, :inner], normal(32, seed=1)[:inner], w_2, torch.zeros(1).double())
    found = {name: function("feed_forward")(x, *given, kind)[:, 0] for name, kind in (("ReLU", "relu"), ("GELU", "gelu"))}
    return curves(f"d = 1, d_ff = {inner}; W₁, b₁, W₂: N(0, 1), {seeded('0, 1, 2')}; W₂/√d_ff", "x", "FFN(x)", x[:, 0], found)


def gelu(at):
    import torch

    x, here = torch.linspace(-5, 5, 201).double(), torch.tensor(at["x"]).double()
    value = function("gelu")(here)
    return curves(f"GELU({at['x']:g}) = {value:.5f}", "x", "", x, {"GELU(x)": function("gelu")(x), "max(0, x)": x.clamp(min=0)},
                  [(at["x"], value)])


def gelu_tanh(at):
    import torch

    x, here = torch.linspace(-6, 6, 241).double(), torch.tensor(at["x"]).double()
    gap = function("gelu_tanh")(x) - function("gelu")(x)
    value = function("gelu_tanh")(here)
    return curves(f"GELU({at['x']:g}) ≈ {value:.6f}; erf: {function('gelu')(here):.6f}", "x", "Δ", x, {"tanh − erf": gap},
                  [(at["x"], value - function("gelu")(here))])


def post_norm_block(at):
    import torch

    x, w = at["c"] * normal(5, 16), normal(16, 16, seed=1) / 4

    def norm(x):
        return torch.nn.functional.layer_norm(x, (16,))

    def attend(x):
        return (x @ x.T / 4).softmax(-1) @ x

    z, out = function("post_norm_block")(x, attend, lambda x: torch.relu(x @ w), (norm, norm))
    spread = {name: each.std(-1, correction=0) for name, each in (("xₗ₋₁", x), ("zₗ", z), ("xₗ", out))}
    return grouped(f"σ; c·x, c = {at['c']:g}; d = 16, {seeded('0, 1')}; γ = 1, β = 0", "i", "σ", counted("x", 5), spread)


def causal_attention(at):
    n = int(at["n"])
    q, k, v = at["c"] * normal(16, 8)[:n], normal(16, 8, seed=1)[:n], normal(16, 4, seed=2)[:n]
    weights, _ = function("causal_attention")(q, k, v)
    return figure(f"softmax((QKᵀ + M)/√d_k); c·Q, c = {at['c']:g}; n = {n}; d_k = 8, {seeded('0, 1')}", "j", "i",
                  heat(weights, signed=False, zmax=1))


def cross_attention(at):
    n = int(at["n"])
    real = [1] * n + [0] * (12 - n)
    q, k, v = at["c"] * normal(5, 8).numpy(), normal(12, 8, seed=1).numpy(), normal(12, 4, seed=2).numpy()
    weights, _ = function("cross_attention")(q, k, v, real)
    return figure(f"A (m × n), m = 5, n = {n} + {12 - n} pad; c·Q, c = {at['c']:g}; {seeded('0, 1')}", "j (enc)", "i (dec)",
                  heat(weights, signed=False, zmax=1))


def attention_score(at):
    d_k = int(at["d_k"])
    x, w_q, w_k = normal(7, 16), normal(16, 64, seed=1)[:, :d_k] / 4, normal(16, 64, seed=2)[:, :d_k] / 4
    e = function("attention_score")(x, w_q, w_k)
    return figure(f"d_k = {d_k}, d = 16; σ(e) = {e.std():.2f}; {seeded('0, 1, 2')}", "j", "i", heat(e))


def attention_dropout(at):
    seed = int(at["seed"])
    weights, _ = function("attention_dropout")(normal(6, 8), normal(8, 3, seed=1), at["p"], seed)
    names = [f"{row}: Σ = {total:.2f}" for row, total in enumerate(weights.sum(-1).tolist())]
    return figure(f"p = {at['p']:g}; QKᵀ/√d_k: N(0, 1), {seeded('0')}; Dropout: {seeded(seed)}", "j", "i",
                  heat(weights, signed=False, y=names))


def learned_positions(at):
    import torch

    n = int(at["n"])
    rows = function("learned_positions")(torch.arange(n), normal(16, 12))
    return figure(f"pᵢ, i < {n}; P: 16 × 12, N(0, 1), {seeded('0')}", "d", "i", heat(rows, y=list(range(n)), zmin=-3, zmax=3))


def relative_keys(at):
    furthest = int(at["k"])
    table = normal(15, 8, seed=3)[7 - furthest : 8 + furthest]
    given = normal(8, 16), normal(16, 8, seed=1) / 4, normal(16, 8, seed=2) / 4
    e, content = function("relative_keys")(*given, table), function("relative_keys")(*given, 0 * table)
    return panels(f"|i − j| ≤ k, k = {furthest}; r: {2 * furthest + 1} × d_k, d_k = 8; N(0, 1), {seeded('0–3')}", "j", "i",
                  {"eᵢⱼ": e, "r = 0": content, "Δ": e - content}, shared=True)


def bert_input(at):
    import torch

    first = int(at["n_A"])
    ids = torch.tensor([0, 3, 4, 5, 3, 4, 1, 5, 3, 4, 6, 1])
    segments = (torch.arange(12) >= first).long()
    tables = normal(7, 10), normal(2, 10, seed=1), normal(12, 10, seed=2)
    zeros = [0 * table for table in tables]
    build = function("bert_input")
    kept = {name: [table if at == row else zeros[at] for at, table in enumerate(tables)]
            for row, name in enumerate(map(word, ("token", "segment", "position")))} | {word("input"): tables}
    parts = {name: build(ids, segments, *each) for name, each in kept.items()}
    return panels(f"n_A = {first}, n = 12, d = 10; N(0, 1), {seeded('0, 1, 2')}", "d", "i", parts, shared=True)


def disentangled(at):
    furthest = int(at["k"])
    q_r, k_r = (normal(16, 8, seed=seed)[8 - furthest : 8 + furthest] for seed in (2, 3))
    terms = function("disentangled")(normal(8, 8), normal(8, 8, seed=1), q_r, k_r, furthest, paper=bool(at["δ(j,i)"]))
    last = "δ(j,i)" if at["δ(j,i)"] else "δ(i,j)"
    return panels(f"k = {furthest}; {{δ, K}}: {last}; d_k = 8, N(0, 1), {seeded('0–3')}", "j", "i",
                  {"{Q, K}": terms[0], "{Q, δ}": terms[1], "{δ, K}": terms[2], "Σ": sum(terms)}, shared=True)


LENGTH = Dial("n", 2, 12, 8)
BLOCKS: dict[str, Experiment] = {
    "attention_steps": Experiment((GAIN,), attention_steps),
    "general_attention": Experiment((Dial("q", -3.0, 3.0, 0.5, 0.1), Dial("c", 0.0, 20.0, 2.0, 0.5)), general_attention),
    "residual_sum": Experiment((Dial("c", 0.0, 3.0, 1.0, 0.1),), residual_sum),
    "feed_forward": Experiment((Dial("d_ff", 1, 32, 8),), feed_forward),
    "gelu": Experiment((Dial("x", -5.0, 5.0, 1.0, 0.1),), gelu),
    "gelu_tanh": Experiment((Dial("x", -6.0, 6.0, 2.0, 0.1),), gelu_tanh),
    "post_norm_block": Experiment((Dial("c", 0.1, 10.0, 3.0, 0.1),), post_norm_block),
    "causal_attention": Experiment((LENGTH, GAIN), causal_attention),
    "cross_attention": Experiment((Dial("n", 1, 12, 8), GAIN), cross_attention),
    "attention_score": Experiment((Dial("d_k", 1, 64, 8),), attention_score),
    "attention_dropout": Experiment((Dial("p", 0.0, 0.9, 0.3, 0.1), Dial("seed", 0, 20, 0)), attention_dropout),
    "learned_positions": Experiment((Dial("n", 1, 16, 12),), learned_positions),
    "relative_keys": Experiment((Dial("k", 1, 7, 3),), relative_keys),
    "bert_input": Experiment((Dial("n_A", 1, 11, 7),), bert_input),
    "disentangled": Experiment((Dial("k", 1, 8, 4), Dial("δ(j,i)", 0, 1, 0)), disentangled),
}
