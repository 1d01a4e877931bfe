"""Published figures to stand beside our own, named as published. Other models, other data: never the same scale.

Taken from public transcriptions of the papers' tables; no PDF was opened. A source says how each was read.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """One row of a published table. noise: our name of the same noise, or "". values: in the order of the table's columns."""

    label: str
    noise: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Table:
    """A published table. higher: for each column whether more is better."""

    name: str
    source: str
    columns: tuple[str, ...]
    higher: tuple[bool, ...]
    rows: tuple[Figures, ...]

    def of(self, noise: str) -> Figures | None:
        """The row of one of our noises."""
        return next((row for row in self.rows if row.noise == noise), None)


_T5 = ("GLUE", "CNN/DM R-2", "SQuAD EM", "SuperGLUE", "En-De BLEU", "En-Fr BLEU", "En-Ro BLEU")

T5_OBJECTIVES = Table(
    "T5 objectives (Raffel et al. 2020, base size, validation)",
    "read in a course transcription, the BERT-style row in two; the paper's table numbers (4 and 5) are from memory",
    _T5, (True,) * 7, (
        Figures("Prefix LM", "prefix_lm", (80.69, 18.94, 77.99, 65.27, 26.86, 39.73, 27.49)),
        Figures("BERT-style", "bert_style", (82.96, 19.17, 80.65, 69.85, 26.78, 40.03, 27.41)),
        Figures("Deshuffling", "deshuffle", (73.17, 18.59, 67.61, 58.47, 26.11, 39.30, 25.62)),
        Figures("MASS-style", "mass_style", (82.32, 19.16, 80.10, 69.28, 26.79, 39.89, 27.55)),
        Figures("Replace corrupted spans", "iid", (83.28, 19.24, 80.88, 71.36, 26.98, 39.82, 27.65)),
        Figures("Drop corrupted tokens", "drop", (84.44, 19.31, 80.52, 68.67, 27.07, 39.76, 27.82)),
    ),
)

T5_SPANS = Table(
    "T5, i.i.d. against spans (Raffel et al. 2020)",
    "read in one course note, which says Table 7; lengths 2, 5 and 10 were not read",
    _T5[:5], (True,) * 5, (
        Figures("i.i.d.", "", (83.28, 19.24, 80.88, 71.36, 26.98)),
        Figures("Mean span length 3", "spans", (83.49, 19.62, 81.84, 72.53, 26.86)),
    ),
)

BART_TABLE = Table(
    "BART Table 1 (Lewis et al. 2020, base models, comparable training)",
    "read identically in three public notes",
    ("SQuAD F1", "MNLI acc", "ELI5 ppl", "XSum ppl", "ConvAI2 ppl", "CNN/DM ppl"),
    (True, True, False, False, False, False), (
        Figures("BERT base (published)", "", (88.5, 84.3, None, None, None, None)),
        Figures("Masked LM", "bert", (90.0, 83.5, 24.77, 7.87, 12.59, 7.06)),
        Figures("Masked seq2seq", "", (87.0, 82.1, 23.40, 6.80, 11.43, 6.19)),
        Figures("Language model", "", (76.7, 80.1, 21.40, 7.00, 11.51, 6.56)),
        Figures("Permuted LM", "", (89.1, 83.7, 24.03, 7.69, 12.23, 6.96)),
        Figures("Multitask masked LM", "", (89.2, 82.4, 23.73, 7.50, 12.39, 6.74)),
        Figures("BART token masking", "token_masking", (90.4, 84.1, 25.05, 7.08, 11.73, 6.10)),
        Figures("BART token deletion", "token_deletion", (90.4, 84.1, 24.61, 6.90, 11.46, 5.87)),
        Figures("BART text infilling", "text_infilling", (90.8, 84.0, 24.26, 6.61, 11.05, 5.83)),
        Figures("BART document rotation", "document_rotation", (77.2, 75.3, 53.69, 17.14, 19.87, 10.59)),
        Figures("BART sentence shuffling", "sentence_permutation", (85.4, 81.5, 41.87, 10.93, 16.67, 7.89)),
        Figures("BART infilling + shuffling", "combined", (90.8, 83.8, 24.17, 6.62, 11.12, 5.41)),
    ),
)

TABLES = (T5_OBJECTIVES, T5_SPANS, BART_TABLE)


def figures_of(noise: str) -> list[tuple[Table, Figures]]:
    """The published rows of one of our noises, with their tables."""
    return [(table, row) for table in TABLES if (row := table.of(noise))]
