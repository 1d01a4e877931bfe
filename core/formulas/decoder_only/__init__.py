"""Sheet 003, the decoder-only course: each displayed formula that sheet 000 does not have, and the functions, on torch tensors.

What sheet 000 has already (causal mask, logit gradient, the product of chances) is its entry there, with `also`. Importing
this imports no torch; the functions' modules do.
"""

from core.formulas.decoder_only.layers import LAYERS
from core.formulas.decoder_only.reading import READING
from core.formulas.decoder_only.training import TRAINING
from core.formulas.decoder_only.using import USING
from core.formulas.formula import Formula

__all__ = ["FORMULAS_003"]

# In the order of the sheet.
FORMULAS_003: dict[str, Formula] = {one.id: one for one in (*READING, *LAYERS, *TRAINING, *USING)}
