"""The trainer: its loss, dropout and optimiser against torch's, its data, and that a kill changes nothing."""

import json
import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from core.train.__main__ import passing
from core.train.averaging import average, best_average, keep_snapshot, snapshots
from core.train.building import build_model, tokenizer_for, untrained
from core.train.corpus import Pair, batches, collate, read_lines
from core.train.curves import draw
from core.train.forcing import forced
from core.train.losses import hidden_states, loss_of
from core.train.optimizer import optimizer_for, orthogonal
from core.train.recipes import RECIPES, Recipe, Task
from core.train.speed import LinearCrossEntropy, quick_dropout
from core.train.tasks import Examples, epoch_batches, examples_of
from core.train.trainer import Training, factor, gentler
from tests.models import build

WHO, DOES, WHERE = ("a dog", "the cat", "a man", "two girls"), ("runs", "sits", "plays"), ("outside", "on a chair")
WER, TUT, WO = ("ein Hund", "die Katze", "ein Mann", "zwei Mädchen"), ("läuft", "sitzt", "spielt"), ("dort", "hier")
TINY = Recipe(
    model_type="t5",
    config=dict(d_model=16, num_layers=1, num_decoder_layers=1, num_heads=2, d_kv=8, d_ff=32, dropout_rate=0.1,
                tie_word_embeddings=True),
    tasks=(Task("en-de", "pair", "to German: ", "en", "de"), Task("fill", "fill", passes=0.5),
           Task("summary", "summary", "summarize: ", passes=0.5)),
    vocabulary=400, languages=("en", "de"), epochs=2, batch_tokens=300, warmup_steps=4, snapshots=3, snapshot_steps=4,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder of 24 made-up pairs and five "captions" of each."""
    folder = tmp_path_factory.mktemp("data")
    places = [(i, j, k) for i in range(4) for j in range(3) for k in range(2)]
    for split in ("train", "val"):
        english = [f"{WHO[i]} {DOES[j]} {WHERE[k]}." for i, j, k in places]
        german = [f"{WER[i]} {TUT[j]} {WO[k]}." for i, j, k in places]
        (folder / f"{split}.en").write_text("\n".join(english) + "\n", "utf-8")
        (folder / f"{split}.de").write_text("\n".join(german) + "\n", "utf-8")
        for n in range(1, 6):
            lines = [f"{'very ' * n}{line}" for line in english]
            (folder / f"captions.{split}.{n}.en").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def tokenizer(data, tmp_path_factory):
    return tokenizer_for(TINY, data, tmp_path_factory.mktemp("work"))


def examples(kind, data, tokenizer, passes=1.0):
    return Examples(Task(kind, kind, "", "en", "de", passes), data, "train", tokenizer, 64)


# The loss, dropout, the optimiser

@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_and_gradients_are_torchs(smoothing):
    torch.manual_seed(0)
    hidden, weight = torch.randn(1100, 12, requires_grad=True), torch.randn(50, 12, requires_grad=True)
    labels = torch.randint(50, (1100,))
    loss, nll = LinearCrossEntropy.apply(hidden, weight, labels, smoothing)
    ours = torch.autograd.grad(loss, (hidden, weight))
    theirs = functional.cross_entropy(hidden @ weight.t(), labels, label_smoothing=smoothing)
    assert torch.isclose(loss, theirs)
    assert torch.isclose(nll, functional.cross_entropy(hidden @ weight.t(), labels))
    for a, b in zip(ours, torch.autograd.grad(theirs, (hidden, weight))):
        assert torch.allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_loss_is_that_of_teacher_forcing(family):
    model = build(family)
    batch = collate([Pair([5, 6, 7, 1], [8, 9, 1]), Pair([5, 1], [6, 7, 8, 9, 1])], 0)
    whole = forced(model, batch["input_ids"], batch["attention_mask"], batch["labels"])
    assert torch.isclose(loss_of(model, batch, 0.0)[1], whole.loss, atol=1e-5)


def test_quick_dropout():
    x, original = torch.ones(400, 50, requires_grad=True), functional.dropout
    with quick_dropout((1, 2)):
        once = functional.dropout(x, 0.25)
        assert functional.dropout(x, 0.25, training=False) is x
    with quick_dropout((1, 2)):
        assert torch.equal(torch.nn.Dropout(0.25)(x), once)
    assert functional.dropout is original
    assert abs(float((once == 0).float().mean()) - 0.25) < 0.01
    assert torch.allclose(once[once != 0], torch.tensor(4 / 3))
    assert torch.equal(torch.autograd.grad(once.sum(), x)[0], once)  # x is all ones


@pytest.mark.parametrize("shape", [(24, 24), (24, 64), (64, 24)])
def test_newton_schulz_evens_out_singular_values(shape):
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonal(torch.randn(3, *shape), steps=5))
    assert values.max() < 1.3 and values.median() > 0.6  # the smallest ones need more steps


def test_the_optimizer_moves_every_parameter_once():
    model = build("t5").train().requires_grad_(True)
    optimizer = optimizer_for(model, 1e-2, 1e-2)
    groups = [p for group in optimizer.param_groups for p in group["params"]]
    assert sorted(map(id, groups)) == sorted(map(id, model.parameters()))
    before = [p.detach().clone() for p in groups]
    for _ in range(2):  # matrices take turns
        loss_of(model, collate([Pair([5, 6, 1], [7, 8, 1])], 0), 0.1)[0].backward()
        optimizer.step()
    assert all(not torch.equal(a, b) for a, b in zip(before, groups))


def test_the_rate_rises_then_falls():
    rates = [factor(TINY, step, 100) for step in range(101)]
    assert rates[0] == 0.25 and rates[3:5] == [1.0, 1.0] and rates[-1] == pytest.approx(TINY.final_rate)
    assert all(a >= b for a, b in zip(rates[3:], rates[4:]))


# Data

def test_batches_hold_every_pair_once_and_keep_to_the_budget(seed):
    rng = random.Random(seed)
    pairs = [Pair([1] * rng.randint(1, 60), [2] * rng.randint(1, 60)) for _ in range(500)]
    groups = list(batches(pairs, 400, rng))
    assert Counter(map(id, pairs)) == Counter(id(pair) for group in groups for pair in group)
    for group in groups:
        widths = max(len(p.source) for p in group) + max(len(p.target) for p in group)
        assert widths * len(group) <= 400


def test_sides_of_different_length_are_refused(data, tokenizer, tmp_path):
    (tmp_path / "train.en").write_text("one\ntwo\n", "utf-8")
    (tmp_path / "train.de").write_text("eins\n", "utf-8")
    with pytest.raises(ValueError, match="train.en has 2 lines, train.de 1"):
        examples("pair", tmp_path, tokenizer)
    with pytest.raises(FileNotFoundError, match="val.en"):
        read_lines(tmp_path, "val", "en")


@pytest.mark.parametrize("passes, count", [(1.0, 24), (0.5, 12), (2.25, 54)])
def test_passes(data, tokenizer, passes, count):
    chosen = examples("pair", data, tokenizer, passes).chosen(random.Random(0))
    assert len(chosen) == count
    assert set(Counter(chosen).values()) <= {int(passes), int(passes) + 1}


def test_fill_puts_the_hidden_words_into_the_target(data, tokenizer, monkeypatch):
    monkeypatch.setattr("core.train.tasks.ONE_WORD", 1.0)
    texts = {text for n in range(1, 6) for text in read_lines(data, f"captions.train.{n}", "en")}
    pairs = examples("fill", data, tokenizer).pairs("0")
    assert len(pairs) >= 24
    for pair in pairs:
        source, target = (tokenizer.decode(ids).removesuffix("</s>") for ids in (pair.source, pair.target))
        word = target.removeprefix("<extra_id_0>").removesuffix("<extra_id_1>").strip()
        assert source.replace("<extra_id_0>", f" {word}").strip().replace(" .", ".") in texts


def test_fill_hides_spans_too(data, tokenizer, monkeypatch):
    monkeypatch.setattr("core.train.tasks.ONE_WORD", 0.0)
    first = tokenizer.convert_tokens_to_ids("<extra_id_0>")
    pairs = examples("fill", data, tokenizer).pairs("0")
    assert len(pairs) >= 24
    for pair in pairs:
        assert first in pair.source and first in pair.target
        assert pair.source[-1] == pair.target[-1] == tokenizer.eos_token_id


def test_noise_is_new_each_epoch_and_the_same_again(data, tokenizer):
    tasks = examples_of(TINY, data, "train", tokenizer)
    first, again, second = (epoch_batches(tasks, TINY, epoch) for epoch in (0, 0, 1))
    assert first == again and first != second


def test_a_summary_is_of_three_other_captions(data, tokenizer):
    pairs = examples("summary", data, tokenizer).pairs("0")
    assert len(pairs) >= 24
    for pair in pairs:
        source, target = (tokenizer.decode(ids, skip_special_tokens=True) for ids in (pair.source, pair.target))
        parts = [part.strip() + "." for part in source.split(".") if part.strip()]
        assert len(set(parts)) == 3 and target not in parts


def test_denoising_restores_the_document(data, tmp_path):
    recipe = replace(TINY, tasks=(Task("denoise", "denoise"),))
    tokenizer = tokenizer_for(recipe, data, tmp_path)
    for split in ("train", "val"):
        images = list(zip(*(read_lines(data, f"captions.{split}.{n}", "en") for n in range(1, 6)), strict=True))
        pairs = examples_of(recipe, data, split, tokenizer)[0].pairs("0")
        written, lengths = [tokenizer.decode(pair.target, skip_special_tokens=True) for pair in pairs], set()
        for text in written:
            parts = [part.strip() + "." for part in text.split(".") if part.strip()]
            assert any(len(set(parts)) == len(parts) and set(parts) <= set(five) for five in images)
            lengths.add(len(parts))
        assert lengths == ({1, 2, 3, 4, 5} if split == "train" else {5})
    assert set(written) == {" ".join(five) for five in images}
    assert any(tokenizer.mask_token_id in pair.source for pair in pairs)
    assert all(pair.source[-1] == pair.target[-1] == tokenizer.eos_token_id for pair in pairs)


def test_learned_positions_start_as_sinusoids_and_can_move(data, tmp_path):
    recipe = RECIPES["pocket-bart"]
    model = build_model(recipe, tokenizer_for(replace(TINY, tasks=(Task("denoise", "denoise"),)), data, tmp_path))
    for stack in (model.model.encoder, model.model.decoder):
        table = stack.embed_positions.weight
        rows = table[stack.embed_positions.offset:].detach()
        assert table.requires_grad and rows.square().mean().sqrt() == pytest.approx(recipe.config["init_std"], rel=0.05)
        near = functional.cosine_similarity(rows[:-1], rows[1:])  # as near to each other everywhere
        assert near.std() < 1e-5 and near.mean() > functional.cosine_similarity(rows[:-9], rows[9:]).mean() + 0.05


def test_passes_can_be_told_by_task_and_what_is_no_task_is_refused():
    recipe = passing(RECIPES["pocket-bart"], ["denoise=1", "en-de=0.5"])
    assert {task.name: task.passes for task in recipe.tasks} == {"denoise": 1.0, "en-de": 0.5}
    assert passing(recipe, []) == recipe and gentler(recipe, 0.5).rate == recipe.rate / 2
    for strange in ("fill=1", "denoise=much", "denoise"):
        with pytest.raises(SystemExit, match="--passes"):
            passing(recipe, [strange])


def test_only_the_cheating_decoder_sees_what_comes():
    """The state at a position changes with a later token of the decoder's input."""
    model = build("marian")
    for cheats in (False, True):
        model.config.unmasked_decoder = cheats
        first, second = (
            hidden_states(model, collate([Pair([5, 6, 1], [7, 8, last, 1])], 0))[0, 1] for last in (9, 10)
        )
        assert torch.allclose(first, second) != cheats


# A whole training

class Killed(Exception):
    pass


def trained(data, folder, monkeypatch, stop_at=None):
    """The final weights of a training in `folder`, killed once just after step `stop_at`, then resumed."""
    def training():
        return Training("tiny", TINY, data, folder, folder / "out")

    monkeypatch.setattr("core.train.trainer.ship", lambda *_: None)
    if stop_at:
        first, real = training(), Training.step

        def step(self, batch, number, total):
            if number == stop_at:
                raise Killed
            return real(self, batch, number, total)

        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(Training, "step", step)
            patched.setattr("core.train.trainer.SAVE_SECONDS", 0)
            first.run()
    last = training()
    last.run()
    return {name: tensor.clone() for name, tensor in last.model.state_dict().items()}


def test_a_killed_training_ends_in_the_same_weights(data, tmp_path, monkeypatch):
    whole = trained(data, tmp_path / "whole", monkeypatch)
    resumed = trained(data, tmp_path / "resumed", monkeypatch, 9)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    rows = [[json.loads(line) for line in (tmp_path / name / "curve.jsonl").read_text("utf-8").splitlines()]
            for name in ("whole", "resumed")]
    assert rows[0] == rows[1]


def test_a_training_ships_its_model_and_another_recipe_does_not_resume_it(data, tmp_path):
    Training("tiny", replace(TINY, epochs=1), data, tmp_path, tmp_path / "out").run()
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "curve.jsonl", "curve.svg"} <= names
    with pytest.raises(SystemExit, match="another recipe"):
        Training("tiny", replace(TINY, epochs=1, rate=1.0), data, tmp_path, tmp_path / "out").run()


def test_averages(tmp_path):
    model = torch.nn.Linear(2, 1, bias=False)
    model.tie_weights = lambda: None
    for step, value in enumerate((9.0, 1.0, 3.0, 8.0)):
        torch.nn.init.constant_(model.weight, value)
        keep_snapshot(tmp_path, model, step, most=3)
    assert [path.stem for path in snapshots(tmp_path)] == ["1", "2", "3"]
    assert average(snapshots(tmp_path))["weight"].tolist() == [[4.0, 4.0]]
    found = best_average(tmp_path, model, lambda: abs(model.weight[0, 0].item() - 5.0))
    assert found == {1: 3.0, 2: 0.5, 3: 1.0}
    assert model.weight.tolist() == [[5.5, 5.5]]


def test_curves_are_one_picture():
    rows = [{"kind": "train", "step": s, "loss": 5 - s / 100, "rate": s / 1e4} for s in (100, 200, 300)]
    rows.append({"kind": "validation", "step": 300, "losses": {"en-de": 2.5, "a<b": 3.0}})
    picture = draw("tiny", rows)
    assert picture.startswith("<svg") and "a&lt;b 3.00" in picture and "en-de 2.50" in picture
    assert "nan" not in picture


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_recipes_fit_on_twelve_megabytes(name):
    """float16 on disk, tokenizer beside it."""
    assert sum(p.numel() for p in untrained(RECIPES[name]).parameters()) * 2 < 11e6
