"""What was tried while the pocket models were made, and what came of it; the cards list it."""

NOTES = (
    'A unigram vocabulary (tokenizers\' own trainer) cut common words such as "läuft" in three; BPE does not.',
    "AdamW at 2e-3 for everything, on T5's initialisation, learns far slower than Adafactor with parameter scaling "
    "(BLEU 8 against 20 after 4 epochs): T5's embeddings start at a standard deviation of 1 and need larger steps.",
    "Loss after 160 steps of English to German, batches of 2,560 tokens: Adafactor at 0.012 5.02; Adam at 0.002 with "
    "0.01 for embeddings 5.13, at 0.004 with 0.02 4.96; Muon at 0.007 with 0.01 4.86, at 0.014 with 0.02 4.77.",
    "The first joint training had Muon at 0.02 with 0.03 and never read its source: validation loss of English to German "
    "4.1 after 13 epochs, 0.01 more with the sources shuffled. Short runs had misled: the highest rate learns the language "
    "model fastest. After 600 steps of English to German, Muon at 0.004 with 0.012: 3.61, and 5.21 with shuffled sources; "
    "Adafactor at 0.012: 4.03 and 5.04, a fifth less time a step.",
    "bfloat16 autocast on a CPU is slower than float32.",
    "torch's own dropout takes 18 ns a number on a CPU, a sixth of a step; a seeded byte stream takes 1.",
)
