"""Two people draw two masks on one shared model through the handlers of the masks tab: neither ever gets the other's answer."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from app.decoder_sections import RowPart
from app.engine import Engine
from app.mask_looks import Looks
from app.mask_sections import LeakPart
from app.masked import Drawn, Masked
from app.views import masks as tab
from core.fields import differences
from core.interventions import Masks, StackMask
from core.models import Models
from core.settings import Decoding, Settings
from tests import models as tiny
from tests.test_mask_sections import section

ROUNDS = 50
CHOICES = {
    "one": Masks(encoder=StackMask("causal"), cross=StackMask(hidden=(3,))),
    "other": Masks(encoder=StackMask("window", 1), decoder=StackMask("diagonal")),
}


class Fresh(Masked):
    """Keeps no run for the pair, so that each edit runs the model again."""

    def kept(self, settings):
        return None


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> Engine:
    engine = Engine(Models({"tiny": tiny.saved(tiny.noisy("bart"), tmp_path_factory.mktemp("models") / "tiny")}))
    engine.models.load("tiny")
    return engine


def settings(values) -> Settings:
    drawn = values["drawn"]
    return Settings(tiny.TEXT, "tiny", masks=drawn.masks, edits=drawn.edits, decoding=Decoding(max_new_tokens=8))


def answers(engine: Engine, visitor: str, parts: SimpleNamespace, leak: LeakPart) -> tuple:
    """What this visitor's edit of the grid and then a leak test show."""
    values = {"drawn": Drawn(), "token": 1, leak.token: 4}
    sent = {"masks": differences(CHOICES[visitor])}
    *_, last = tab.edited(Fresh(engine), parts, values, sent, visitor)
    told = leak.perturb(values)[leak.told]
    return str(last["told"]), str(told)


def test_two_visitors_on_one_model_never_mix(engine):
    parts = SimpleNamespace(drawn="drawn", told="told", grid="grid", maps="maps", settings=settings)
    parts.leak = SimpleNamespace(token="token", offer=lambda trace, chosen: {})
    parts.heads = SimpleNamespace(emptied=lambda trace, edits: {})
    looks = Looks(Masked(engine))
    leak = section(looks, lambda looks, _: LeakPart(looks, settings, None))
    alone = {visitor: answers(engine, visitor, parts, leak) for visitor in CHOICES}
    assert alone["one"][0] != alone["other"][0] and alone["one"][1] != alone["other"][1]
    found = {visitor: [] for visitor in CHOICES}
    start = threading.Barrier(2)

    def work(visitor: str) -> None:
        start.wait()
        for _ in range(ROUNDS):
            found[visitor] += answers(engine, visitor, parts, leak)

    threads = [threading.Thread(target=work, args=[visitor]) for visitor in CHOICES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = [(visitor, at % 2, one) for visitor in CHOICES for at, one in enumerate(found[visitor])]
    wrong = [(visitor, which) for visitor, which, one in every if one != alone[visitor][which]]
    assert (len(every), wrong) == (200, [])


def test_a_row_of_a_site_out_of_reach_is_refused_with_its_reason(engine, monkeypatch):
    looks = Looks(Masked(engine))
    part = section(looks, lambda looks, _: RowPart(looks, settings))
    values = dict(zip(part.controls, (3, "cross", 0, 0, 2, 1.0), strict=True))
    values |= {part.held: "", part.hand: None, "drawn": Drawn()}
    *_, there = part.look(values, "one")
    assert np.isfinite(there[part.maps]["panels"][0]["high"])  # the run is kept; its row can still be looked at
    loaded = engine.models.load("tiny")
    for key in [key for key, (stack, _) in loaded.sites.of.items() if stack == "cross"]:
        monkeypatch.delitem(loaded.sites.of, key)
    *_, refused = part.write(values, "one", None)
    assert "cross attention of tiny cannot be reached" in refused[part.told]["text"]
    assert refused[part.maps] is None
