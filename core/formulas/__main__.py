"""`python -m core.formulas` records the numbers that the formulas tab shows before any model has loaded."""

from core.examples import EXAMPLES
from core.formulas.moment import SAVED, TOUR, TOUR_TEXT, Moment
from core.formulas.moments import moment
from core.models import Models
from core.runs import record, run
from core.settings import Settings


def made(settings: Settings, registry: Models, step: int) -> Moment:
    """A whole run of `settings` and its moment, at the head that follows words best."""
    layer, head = registry.alignment_head(settings.model) or (0, 0)
    *_, found = moment(run(settings, registry), record(settings, registry), step, layer, head)
    return found


if __name__ == "__main__":
    models = Models()
    for path, text in ((SAVED, EXAMPLES[0].text), (TOUR, TOUR_TEXT)):
        found = made(Settings(text=text), models, 1)
        path.write_bytes(found.to_bytes())
        print(f"{path.name}: {found.text}  ({path.stat().st_size:,} bytes)")
