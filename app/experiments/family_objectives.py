"""What moves on the objectives of sheet 004, sections 2 to 9, and on how ALBERT counts its weights."""

import numpy as np

from app.experiments.drawing import counted, curves, figure, function, grouped, heat, line, nats, normal, seeded
from app.experiments.experiment import Dial, Experiment
from core.noise import bart

VOCAB, LENGTH = 20, 16
SURE = Dial("c", 0.0, 10.0, 3.0, 0.25)  # what is added to the logit of the true token


def _made(c: float, length: int = LENGTH):
    """Logits (length, vocab) of a model that is as sure of the true tokens as c says, and those tokens."""
    import torch

    tokens = torch.randint(0, VOCAB, (LENGTH,), generator=torch.Generator().manual_seed(1))
    logits = normal(LENGTH, VOCAB)
    logits[torch.arange(LENGTH), tokens] += c
    return logits[:length], tokens[:length]


def _how() -> str:
    """How these logits are made."""
    return f"z: N(0, 1) + c·y, |V| = {VOCAB}, {seeded('0, 1')}"


def _alone(length: int):
    """Masks (length, length), each of one place: the share of a loss that comes from there."""
    import torch

    return torch.eye(length, dtype=torch.bool)


def _masked(id: str, at):
    import torch

    logits, tokens = _made(at["c"])
    count = int(at["|M|"])
    places = torch.zeros(LENGTH, dtype=torch.bool)
    places[torch.randperm(LENGTH, generator=torch.Generator().manual_seed(2))[:count]] = True
    loss = function(id)
    each = torch.stack([loss(logits, tokens, one & places) for one in _alone(LENGTH)])
    total = loss(logits, tokens, places)
    return grouped(f"Σ = {total:.3f} {nats()}, |M| = {count}, Σ/|M| = {total / count:.3f}; {_how()}; M: {seeded('2')}", "i ∈ M",
                   nats(),
                   counted("x", LENGTH), {"−log P": each})


def mlm_loss(at):
    return _masked("mlm_loss", at)


def generator_loss(at):
    import torch

    count = int(at["|M|"])
    grid = torch.linspace(0, 10, 41)
    places = torch.arange(LENGTH) < count
    loss = function("generator_loss")
    found = [loss(*_made(float(c)), places) for c in grid]
    here = loss(*_made(at["c"]), places)
    return curves(f"L_G = {here:.3f} {nats()}, |M| = {count}; {_how()}", "c", f"L_G ({nats()})", grid, {"L_G": found},
                  [(at["c"], here)])


def _yes_no(id: str, names: tuple[str, str], at):
    import torch

    grid, loss = torch.linspace(-8, 8, 81).double(), function(id)
    found = {name: [loss(torch.stack([z, 0 * z]), answer) for z in grid] for answer, name in enumerate(names)}
    here = [loss(torch.tensor([at["z"], 0.0]).double(), answer) for answer in (0, 1)]
    return curves(f"z = {at['z']:g}: {here[0]:.4f}, {here[1]:.4f} {nats()}; z = z₀ − z₁", "z", nats(), grid, found,
                  [(at["z"], value) for value in here])


def nsp_loss(at):
    return _yes_no("nsp_loss", ("−log P(IsNext)", "−log P(NotNext)"), at)


def sop_loss(at):
    return _yes_no("sop_loss", ("−log P(InOrder)", "−log P(Swapped)"), at)


def bert_loss(at):
    count, mlm, nsp = at["|M|"], at["MLM"], at["NSP"]
    total = function("bert_loss")
    names = ["1/|M| Σ", "Σ"]
    return grouped(f"L_BERT = {total(mlm, nsp):.2f} (1/|M| Σ), {total(count * mlm, nsp):.2f} (Σ) {nats()}", "", nats(), names,
                   {"L_MLM": [mlm, count * mlm], "L_NSP": [nsp, nsp]}, stacked=True)


def _summed(title: str, names: list[str], sums: list[float]):
    """What each token adds to a loss, and the sum so far."""
    made = grouped(title, "t", nats(), names, {"−log P": np.diff([0.0, *sums])})
    return made.add_trace(line([0], sums, "Σ", None, mode="lines+markers").update(x=names))


def gpt_loss(at):
    import torch

    length, loss = int(at["T"]), function("gpt_loss")
    logits, tokens = _made(at["c"])
    logits = torch.cat([logits[1:], logits[:1]])  # row t is read after token t, so it knows of token t + 1
    sums = [float(loss(logits[:t], tokens[:t])) for t in range(1, length + 1)]
    return _summed(f"L_GPT = {sums[-1]:.3f} {nats()}, T = {length}; {_how()}", counted("x", length), sums)


def t5_loss(at):
    length, loss = int(at["T"]), function("t5_loss")
    sums = [float(loss(*_made(at["c"], t))) for t in range(1, length + 1)]
    return _summed(f"L_T5 = {sums[-1]:.3f} {nats()}, L/T = {sums[-1] / length:.3f}; {_how()}", counted("y", length), sums)


def roberta_loss(at):
    import torch

    from core.formulas.families.objectives import dynamic_masks

    first = int(at["seed"])
    masks = dynamic_masks(LENGTH, at["p"], range(first, first + 8))
    logits, tokens = _made(3.0)
    loss = function("roberta_loss")
    each = torch.stack([torch.stack([loss(logits, tokens, mask & one) for one in _alone(LENGTH)]) for mask in masks])
    totals = ", ".join(f"{loss(logits, tokens, mask):.1f}" for mask in masks)
    return figure(f"L = {totals} {nats()}; p = {at['p']:g}, M: {seeded(f'{first}–{first + 7}')}; {_how()}, c = 3", "i",
                  f"M ({seeded(f'{first} …')})", heat(each, signed=False, y=[str(first + row) for row in range(8)]))


def discriminator_loss(at):
    import torch

    loss, grid, real = function("discriminator_loss"), torch.linspace(-8, 8, 81).double(), torch.arange(8) >= at["k"]
    found = {name: [loss(z[None], torch.tensor([one])) for z in grid] for one, name in ((1, "−log D"), (0, "−log(1 − D)"))}
    found["L_D / n"] = [loss(z.expand(8), real) / 8 for z in grid]
    total = loss(torch.full((8,), at["z"]).double(), real)
    return curves(f"n = 8, k = {at['k']:g} (x_corrupt ≠ x): L_D = {total:.3f} {nats()}; D = σ(z), z₁ = … = z₈", "z", nats(),
                  grid, found,
                  [(at["z"], total / 8)])


def electra_loss(at):
    weight, discriminator, generator = at["λ"], at["L_D"], at["L_G"]
    total = function("electra_loss")(discriminator, generator, weight)
    return grouped(f"L_ELECTRA = {total:.3f} {nats()}, λ = {weight:g}", "", nats(), ["L_D", "λ L_G", "L_ELECTRA"],
                   {"": [discriminator, total - discriminator, total]})


def mask_decoder(at):
    place = at["c"] * normal(8, 16, seed=1)
    given = normal(16, 12, seed=2) / 4, 0.0
    p = function("mask_decoder")(normal(1, 16).expand(8, 16), place, *given)
    return figure(f"Hᵢ = h + c·pᵢ, c = {at['c']:g}; h, pᵢ, W: {seeded('0, 1, 2')}; |V| = 12", "V", "i", heat(p, signed=False))


# as the sheet calls them, and as core.noise does
CORRUPTIONS = (("mask", "masking"), ("delete", "deletion"), ("infill", "infilling"), ("permute", "permutation"))


def bart_loss(at):
    import torch

    name, kind = CORRUPTIONS[int(at["corrupt"])]
    tokens = list(range(2, 14))
    stop, mask = 1, 0
    text = [*tokens[:4], stop, *tokens[4:7], stop, *tokens[7:], stop]
    step, seed = bart.NOISES[kind], int(at["seed"])
    drawn = np.random.default_rng(seed)
    starts = [token != stop for token in text]
    spoiled = step(text, starts, mask, stop, drawn, **({} if kind == "permutation" else {"ratio": bart.RATIO}))
    logits = torch.zeros(len(text), 14).double()
    for row, token in enumerate(text):
        logits[row, token] = 6.0 if token in spoiled else 0.0  # it can copy, and guesses else
    loss = function("bart_loss")
    each = [loss(logits[row][None], torch.tensor([token])) for row, token in enumerate(text)]
    letters = [_name(token) for token in text]
    return grouped(f"corrupt_{name}(x), {seeded(seed)}: {' '.join(map(_name, spoiled))}; "
                   f"L = {loss(logits, torch.tensor(text)):.2f} {nats()}; z = 6·[x ∈ corrupt(x)], |V| = 14", "x", nats(),
                   [f"{row + 1}: {letter}" for row, letter in enumerate(letters)], {"−log P": each})


def _name(token: int) -> str:
    return ("▢", ".")[token] if token < 2 else chr(ord("a") + token - 2)


def factorized_embedding(at):
    vocab, inner = int(at["V"]), int(at["E"])
    grid = list(range(16, 1025, 16))
    count = function("factorized_embedding")
    found = [count(vocab, 768, each) for each in grid]
    whole, factors = count(vocab, 768, inner)
    return curves(f"V = {vocab:,}, H = 768, E = {inner}: {whole:,} → {factors:,} ({factors / whole:.1%})", "E", "θ", grid,
                  {"V·H": [a for a, _ in found], "V·E + E·H": [b for _, b in found]}, [(inner, factors)])


def shared_layers(at):
    layers, width = int(at["l"]), int(at["H"])
    count = function("shared_layers")
    found = [count(each, width, 4 * width) for each in range(1, 25)]
    own, shared = count(layers, width, 4 * width)
    return curves(f"l = {layers}, H = {width}, d_ff = 4H: {own:,} / {shared:,}", "l", "θ", range(1, 25),
                  {"W₁ … W_l": [a for a, _ in found], "W_shared": [b for _, b in found]}, [(layers, own), (layers, shared)])


SOME, LOGIT, STEPS = Dial("|M|", 1, LENGTH, 4), Dial("z", -8.0, 8.0, 2.0, 0.2), Dial("T", 2, LENGTH, 10)
OBJECTIVES: dict[str, Experiment] = {
    "mlm_loss": Experiment((SOME, SURE), mlm_loss),
    "nsp_loss": Experiment((LOGIT,), nsp_loss),
    "bert_loss": Experiment((Dial("MLM", 0.0, 10.0, 2.0, 0.1), Dial("NSP", 0.0, 3.0, 0.7, 0.1), Dial("|M|", 1, 77, 20)),
                            bert_loss),
    "gpt_loss": Experiment((STEPS, SURE), gpt_loss),
    "t5_loss": Experiment((STEPS, SURE), t5_loss),
    "roberta_loss": Experiment((Dial("seed", 0, 50, 0), Dial("p", 0.05, 0.5, 0.15, 0.05)), roberta_loss),
    "generator_loss": Experiment((SOME, SURE), generator_loss),
    "discriminator_loss": Experiment((LOGIT, Dial("k", 0, 8, 2)), discriminator_loss),
    "electra_loss": Experiment(
        (Dial("λ", 0.0, 1.0, 0.02, 0.02), Dial("L_D", 0.0, 20.0, 4.0, 0.5), Dial("L_G", 0.0, 50.0, 20.0, 1.0)), electra_loss),
    "mask_decoder": Experiment((Dial("c", 0.0, 4.0, 1.0, 0.1),), mask_decoder),
    "bart_loss": Experiment((Dial("corrupt", 0, 3, 2), Dial("seed", 0, 30, 3)), bart_loss),
    "factorized_embedding": Experiment((Dial("E", 16, 1024, 128, 16), Dial("V", 5000, 60000, 30000, 5000)), factorized_embedding),
    "shared_layers": Experiment((Dial("l", 1, 24, 12), Dial("H", 128, 1024, 768, 64)), shared_layers),
    "sop_loss": Experiment((LOGIT,), sop_loss),
}
