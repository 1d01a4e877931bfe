"""Appendix C: every acronym and every symbol of the course, in a line; and how each symbol stands in the formulas."""

from core.formulas.formula import Term

CONFIG, STATE, THETA = "CONFIG", "STATE", "θ"

_ACRONYMS = (
    Term("seq2seq", "seq2seq", "Sequence-to-sequence: one sequence in, another out, as in translation and summaries."),
    Term("enc-dec", "enc–dec", "Encoder–decoder: two stacks, one that reads and one that writes (T5, BART)."),
    Term("mlm", "MLM", "Masked language modelling, BERT's objective: about 15 % of the tokens are hidden and named where they "
        "stand."),
    Term("ce", "CE", "Cross-entropy, the training loss: −log of the probability that the true token was given."),
    Term("kv-cache", "KV cache", "Keys and values that are kept so that no step computes them again: one cache grows with the "
        "output, "
         "the one of cross-attention stays as it is.", label=STATE),
    Term("ffn", "FFN / MLP", "Feed-forward network: two layers on each position alone, W₂ φ(W₁x + b₁) + b₂, about 4d wide "
        "inside.",
         forms=(r"\mathrm{FFN}",), label=THETA),
    Term("mha", "MHA", "Multi-head attention: h heads side by side, each d/h wide, put together by W_O.",
         forms=(r"\mathrm{MHA}_{\text{bidir}}",)),
    Term("bpe", "BPE / SentencePiece", "Ways to cut words into pieces, so that hardly a word is unknown; T5 uses SentencePiece."),
    Term("prefix-lm", "prefix-LM", "Prefix language model: one stack whose beginning is open both ways and whose rest is "
        "causal (lesson 6)."),
    Term("map", "MAP", "Maximum a posteriori: the output with the highest probability, which beam search comes near to."),
    Term("nmt", "NMT", "Neural machine translation."),
    Term("bleu", "BLEU", "Bilingual evaluation understudy: how many n-grams of a translation stand in a reference, with a "
        "penalty for "
         "short ones.", forms=(r"\text{BLEU}",)),
    Term("rouge", "ROUGE", "Recall-oriented understudy for gisting evaluation: how much of a reference comes back, by n-grams "
        "or by LCS.",
         forms=(r"\text{ROUGE-L}",)),
    Term("lcs", "LCS", "Longest common subsequence: the most words that both texts have in one order; ROUGE-L counts it.",
         forms=(r"\mathrm{LCS}",)),
    Term("kd", "KD", "Knowledge distillation: a small student learns to answer as a large teacher does.",
         forms=(r"\mathcal L_{\text{KD}}",)),
    Term("oov", "OOV", "Out of vocabulary: a word that the model has no token for; a reason to copy."),
    Term("lora", "LoRA", "Low-rank adaptation: fine-tuning a few small matrices instead of all weights."),
    Term("rmsnorm", "RMSNorm", "Normalisation by the root mean square, without taking off the mean; T5's.",
        forms=(r"\mathrm{Norm}",)),
    Term("gelu", "GELU / ReLU / GeGLU", "Activation functions inside the FFN: BART has GELU, T5 ReLU, T5 v1.1 GeGLU.",
        label=CONFIG),
    Term("bos", "<bos> / <eos> / <pad>", "Special tokens: begin of sequence, end of sequence, padding.",
         forms=(r"\text{bos}",)),
    Term("sentinels", "<X>,<Y>,<Z>", "T5's sentinels: each stands for a span that was cut out (lesson 7)."),
)

_SYMBOLS = (
    Term("x", "x", "The input, a sequence of n tokens.", r"x=(x_1,\dots,x_n)",
         (r"x", r"\mathbf{x}", r"x_1", r"x_2", r"x_n", r"x_i", r"x_j", r"x_t", r"n", r"x_{<t}")),
    Term("y", "y", "The output, a sequence of m tokens.", r"y=(y_1,\dots,y_m)",
         (r"y", r"y_t", r"y_{\lt t}", r"y_1", r"y_m", r"y_{m-1}", r"m")),
    Term("corrupted", "x̃", "The input as noise left it, in denoising (lesson 7).", r"\tilde x", (r"\tilde x",)),
    Term("theta", "θ", "All learned weights; P is how many there are.", r"\theta\in\mathbb R^P", (r"\theta", r"P_\theta"), THETA),
    Term("d", "d", "Width of the model: numbers in each hidden state.", r"d", (r"d", r"d^2"), CONFIG),
    Term("d_k", "d_k, d_v", "Width of a query and key, and of a value, in one head; mostly d/h both.", r"d_k,d_v",
         (r"d_k", r"d_v", r"\sqrt{d_k}"), CONFIG),
    Term("h", "h", "How many attention heads a layer has.", r"h", (r"h",), CONFIG),
    Term("depth", "N_enc, N_dec", "How many blocks the encoder and the decoder have.", r"N_{\text{enc}},N_{\text{dec}}",
         (r"N_{\text{enc}}", r"N_{\text{dec}}"), CONFIG),
    Term("d_ff", "d_ff", "Inner width of the FFN, about 4d.", r"d_{ff}", (r"d_{ff}",), CONFIG),
    Term("vocab", "V", "Size of the vocabulary: shared, of the source, of the target.", r"V,V_x,V_y", (r"V_x", r"V_y", r"V_y-1",
        r"Vd"), CONFIG),
    Term("embeddings", "E, W_U", "The table of token vectors, and the matrix that turns a state into logits; often one is the "
        "other, "
         "turned.", r"E,W_U", (r"E", r"W_U", r"E^\top"), THETA),
    Term("memory", "H_enc", "What the encoder leaves: a vector for each source token, made once, read at every step.",
         r"H_{\text{enc}}\in\mathbb R^{n\times d}", (r"H_{\text{enc}}", r"{\mathbf{h}}^{\text{enc}}_j"), STATE),
    Term("states", "H_dec", "Hidden states of the decoder.", r"H_{\text{dec}}\in\mathbb R^{m\times d}",
         (r"H_{\text{dec}}", r"H", r"H'", r"H^{\text{out}}", r"H_1", r"H_2", r"H_3", r"\mathbf h_t^\top", r"{\mathbf{h}}_i",
          r"{\mathbf{h}}_j", r"{\mathbf{h}}^{\text{dec}}_i"), STATE),
    Term("w", "W_Q, W_K, W_V, W_O", "The matrices of attention; s marks the decoder's self-attention, c cross-attention.",
         r"W_Q,W_K,W_V,W_O", (r"W_Q", r"W_K", r"W_V", r"W_O", r"W_Q^c", r"W_K^c", r"W_V^c"), THETA),
    Term("qkv", "Q, K, V", "Queries, keys, values: what a row asks, what a column offers, what it gives.", r"Q,K,V",
         (r"Q", r"K", r"V", r"q", r"k", r"q_i", r"k_j", r"v_j", r"{v}_j", r"\mathbf v_j", r"\mathbf q_i^\top", r"\mathbf k_j",
          r"K^\top", r"q_c", r"k_c")),
    Term("mask", "M", "The additive mask: 0 where a row may read, −∞ where not; causal, padding, prefix.",
         r"M,M^{\text{causal}},M^{\text{pad}},M^{\text{prefix}}", (r"M", r"M_{ij}", r"M^{\text{causal}}_{ij}", r"M^{\text{pad}}",
                                                                   r"M^{\text{prefix}}_{ij}", r"M^{\text{enc}}_{ij}"), CONFIG),
    Term("attention", "A", "The attention matrix, rows that read and columns that are read; each row adds up to 1.", r"A",
         (r"A", r"A_{ij}", r"A_{tj}", r"A_{t',:}", r"\alpha_{ij}", r"{\alpha }_{ij}"), STATE),
    Term("score", "s_ij", "How well query i fits key j, before the softmax.", r"s_{ij}", (r"s_{ij}", r"s_{ij^{\prime }}")),
    Term("logits", "z_t, p̂_t", "Logits, and the probabilities that softmax makes of them, at output position t.",
         r"\mathbf z_t,\hat{\mathbf p}_t", (r"\mathbf z_t", r"\hat{\mathbf p}_t", r"\hat p_{y_t}", r"\hat{\mathbf p}^{\,s}",
                                            r"\hat{\mathbf p}^{\,t}_T", r"\hat{\mathbf p}^{\,s}_T"), STATE),
    Term("onehot", "y_t", "The true token at position t: 1 for it, 0 for all others.", r"\mathbf y_t", (r"\mathbf y_t",)),
    Term("simplex", "Δ", "All distributions over V tokens: nothing negative, 1 in all.", r"\Delta^{V-1}", (r"\Delta^{V_y-1}",)),
    Term("loss", "L", "The loss: cross-entropy, where nothing else is said.", r"\mathcal L", (r"\mathcal L",
        r"\mathcal L_{\text{cov}}")),
    Term("temperature", "T", "Softmax temperature: above 1 flatter, below 1 sharper; in distillation both sides are softened "
        "by it.", r"T",
         (r"T", r"T^2"), CONFIG),
    Term("beam", "k, α", "Width of the beam; exponent of the length penalty (lesson 9).", r"k,\alpha", (r"\alpha",), CONFIG),
    Term("coverage", "c^t", "Coverage: what each source position has been given before step t (lesson 9).", r"\mathbf c^t",
         (r"\mathbf c^t", r"c^t_j"), STATE),
    Term("p_gen", "p_gen", "The gate: the chance to write from the vocabulary rather than to copy (lesson 9).", r"p_{\text{gen}}",
         (r"p_{\text{gen}}",), CONFIG),
    Term("lambda", "λ", "Share of the teacher in distillation (lesson 10).", r"\lambda", (r"\lambda",), CONFIG),
    Term("sigma", "σ, φ", "Sigmoid; activation of the FFN.", r"\sigma,\phi", (r"\sigma", r"\phi")),
)

GLOSSARY: dict[str, Term] = {term.id if not term.latex else f"${term.id}": term for term in (*_ACRONYMS, *_SYMBOLS)}

# What stands in one formula only, or means something else there: formula -> form -> meaning; "" is any formula.
LOCAL: dict[str, dict[str, str]] = {
    "": {
        "i": "The row: the position that reads.", "j": "The column: the position that is read.",
        "t": "The step: which token is being written.", r"t'": "An earlier step.",
            r"j^{\prime }": "Any column, for the sum over all.",
        r"\mathbf o_i": "What row i of attention gives: values, mixed.", r"{\mathbf{o}}_i": "What row i of attention gives: "
            "values, mixed.",
    },
    "factorization": {r"P_\theta": "Probability under the weights θ."},
    "cross_attention": {r"\mathrm{CrossAttn}": "What cross-attention gives, a row for each output position."},
    "decoder_block": {r"\mathrm{CrossAttn}": "Cross-attention: reads the encoder's memory."},
    "encoder_attention": {"H": "States of the source, one row a token."},
    "encoder_block": {"H": "States as the block gets them.", "H'": "After attention was added.",
        r"H^{\text{out}}": "As the block leaves them."},
    "budget": {"P": "How many weights the model has.", "V": "Size of the vocabulary."},
    "t5_bias": {r"b_{\,\text{bucket}(i-j)}": "A learned number for the distance between the two positions."},
    "beam_score": {r"\mathrm{lp}": "Length penalty: what log P is divided by."},
    "pointer": {r"P_{\text{vocab}}": "The model's own distribution over the vocabulary.",
                "P": "Probability of word w in the mixture.", "w": "A word: of the vocabulary, or of the source."},
    "bleu": {"r": "Words of the reference.", "c": "Words of the output (the candidate).", "n": "Length of the n-grams, 1 to 4.",
             "p_n": "Share of the output's n-grams that stand in the reference.", "w_n": "Weight of each length: a quarter."},
    "rouge": {"P": "Precision: how much of the output is in the common subsequence.",
              "R": "Recall: how much of the reference is in it.", "x": "The output, in words.", "y": "The reference, in words."},
    "distillation": {r"D_{\mathrm{KL}}": "Kullback–Leibler divergence: how far the student is from the teacher.",
                     r"\mathrm{CE}": "Cross-entropy with the true token."},
    "product": {"P": "Probability."},
    "dot": {"c": "Slot of the vector, 1 to d_k."},
}
