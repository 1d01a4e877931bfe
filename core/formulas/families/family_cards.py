"""Entries of sheet 004, sections 2 to 9: BERT, GPT, T5, RoBERTa, ELECTRA, DeBERTa, BART, ALBERT."""

from core.formulas.formula import Formula

ENTRIES: tuple[Formula, ...] = (
    Formula(
        "bert_input", 2,
        r"\text{Input} = \text{TokenEmb} + \text{SegmentEmb} + \text{PositionEmb}",
        "Three rows added up: which token, which sentence, which place.",
        "core.formulas.families.positions:bert_input", "transformers: BertEmbeddings",
        {"x": ("source",), "segment": ("source",), "Input": ("source", "width")},
        sheet="004",
        note="BERT applies LayerNorm and dropout to the sum before the first layer; the sheet leaves that out, and so does "
             "the function.",
    ),
    Formula(
        "mlm_loss", 2,
        r"\mathcal{L}_{\text{MLM}} = -\sum_{i \in \mathcal{M}} \log P(x_i | \text{context})",
        "How surprising the hidden tokens are, read from both sides; the others do not count.",
        "core.formulas.families.objectives:masked_loss", "transformers: BertForMaskedLM",
        {"z": ("source", "vocab"), "x": ("source",), "M": ("source",), "L_MLM": ()},
        sheet="004",
        note="A sum here; BERT and transformers take the mean over the masked places.",
    ),
    Formula(
        "nsp_loss", 2,
        r"\mathcal{L}_{\text{NSP}} = -\log P(\text{IsNext} | [\text{CLS}])",
        "Whether sentence B followed A in the text: one question, answered from the [CLS] vector.",
        "core.formulas.families.objectives:pair_loss", "transformers: BertForNextSentencePrediction",
        {"z": ("2",), "L_NSP": ()},
        sheet="004",
        note="The sheet writes the case IsNext alone; for a pair that does not follow it is −log P(NotNext). The code "
             "takes the answer.",
    ),
    Formula(
        "bert_loss", 2,
        r"\mathcal{L}_{\text{BERT}} = \mathcal{L}_{\text{MLM}} + \mathcal{L}_{\text{NSP}}",
        "Both tasks at once, with equal weight.",
        "core.formulas.families.objectives:pretraining_loss", "transformers: BertForPreTraining",
        {"L_MLM": (), "L_NSP": (), "L_BERT": ()},
        sheet="004",
        note="Each part is a mean in BERT. With the sheet's sum, MLM would outweigh NSP by the number of masked tokens.",
    ),
    Formula(
        "gpt_loss", 3,
        r"\mathcal{L}_{\text{GPT}} = -\sum_{t=1}^{T} \log P(x_t | x_1, \ldots, x_{t-1})",
        "How surprising each token is after all before it, added up over the text.",
        "core.formulas.families.objectives:next_token_loss", "transformers: GPT2LMHeadModel",
        {"z": ("source", "vocab"), "x": ("source",), "L_GPT": ()},
        sheet="004",
        note="A sum here, a mean in sheet 003. The first token needs a start mark to be predicted; without one T − 1 terms "
             "are left.",
    ),
    Formula(
        "causal_attention", 3,
        r"\text{Attention}_{\text{causal}}(Q, K, V) = \text{softmax}\left(\frac{QK^T + M}{\sqrt{d_k}}\right)V",
        "Attention whose rows read nothing that comes after them.",
        "core.formulas.families.blocks:causal_attention", "torch: scaled_dot_product_attention with is_causal",
        {"Q": ("target", "d_k"), "K": ("target", "d_k"), "V": ("target", "d_v"), "A": ("target", "target"),
         "Attention": ("target", "d_v")},
        sheet="004",
        note="M is inside the division here; sheets 000 and 003 add it after. −∞/√d_k is −∞, so both agree; a finite fill "
             "would shrink.",
    ),
    Formula(
        "t5_loss", 4,
        r"\mathcal{L}_{\text{T5}} = -\sum_{t=1}^{T} \log P(y_t | y_{<t}, x)",
        "Every task is a text to write: its tokens' surprise, with the input read by the encoder.",
        "core.formulas.families.objectives:target_loss", "transformers: T5ForConditionalGeneration",
        {"z": ("target", "vocab"), "y": ("target",), "L_T5": ()},
        sheet="004",
        note="A sum here; sheet 000 divides by |y|, and T5 takes the mean over the tokens of a batch.",
    ),
    Formula(
        "roberta_loss", 5,
        r"\mathcal{L}_{\text{RoBERTa}} = \mathcal{L}_{\text{MLM}}",
        "MLM alone, without sentence pairs; each epoch masks other places.",
        "core.formulas.families.objectives:roberta_loss", "transformers: RobertaForMaskedLM",
        {"z": ("source", "vocab"), "x": ("source",), "M": ("source",), "L_RoBERTa": ()},
        sheet="004",
    ),
    Formula(
        "generator_loss", 6,
        r"\mathcal{L}_G = \sum_{i \in \mathcal{M}} -\log P_G(x_i | \mathbf{x}_{\backslash \mathcal{M}})",
        "A small MLM model fills the masked places; its guesses are what the other one must find out.",
        "core.formulas.families.objectives:masked_loss", "transformers: ElectraForMaskedLM",
        {"z": ("source", "vocab"), "x": ("source",), "M": ("source",), "L_G": ()},
        sheet="004",
        note="The minus stands inside the sum here and before it in L_MLM: the same number. No gradient of L_D reaches the "
             "generator.",
    ),
    Formula(
        "discriminator_loss", 6,
        r"\mathcal{L}_D = \sum_{i=1}^{n} -\mathbb{1}(x_i^{\text{corrupt}} = x_i) \log D(x_i^{\text{corrupt}}, i) - "
        r"\mathbb{1}(x_i^{\text{corrupt}} \neq x_i) \log(1 - D(x_i^{\text{corrupt}}, i))",
        "For every token: is it the original? A yes-no loss at all places, not only at masked ones.",
        "core.formulas.families.objectives:discriminator_loss", "transformers: ElectraForPreTraining",
        {"z": ("source",), "real": ("source",), "L_D": ()},
        sheet="004",
        note="D is P(real) here. transformers' head gives the logit of “replaced”, its negative, and takes the mean. A "
             "right guess counts as real.",
    ),
    Formula(
        "electra_loss", 6,
        r"\mathcal{L}_{\text{ELECTRA}} = \mathcal{L}_D + \lambda \mathcal{L}_G",
        "Both are trained together; λ says how much the generator counts.",
        "core.formulas.families.objectives:electra_loss", "torch: binary_cross_entropy and cross_entropy",
        {"L_D": (), "L_G": (), "λ": (), "L_ELECTRA": ()},
        sheet="004",
        note="The paper weighs the other way round in letters, L_MLM + λ L_Disc with λ = 50: there λ stands at the "
             "discriminator.",
    ),
    Formula(
        "disentangled", 7,
        r"A_{i,j} = \{Q_i, K_j\} + \{Q_i, \delta_{i,j}^{rel}\} + \{\delta_{i,j}^{rel}, K_j\}",
        "What a token is and how far away it is are two vectors; three of their products make the score.",
        "core.formulas.families.positions:disentangled", "transformers: DebertaV2's DisentangledSelfAttention",
        {"Q": ("query", "d_k"), "K": ("key", "d_k"), "Q_r": ("distances", "d_k"), "K_r": ("distances", "d_k"),
         "content": ("query", "key"), "c→p": ("query", "key"), "p→c": ("query", "key")},
        sheet="004",
        note="{a, b} is a dot product. The δ are two vectors, K^r_δ(i,j) and Q^r_δ; the paper reads δ(j,i) in the last, "
             "code and sheet δ(i,j). DeBERTa divides by √(3 d_k).",
    ),
    Formula(
        "mask_decoder", 7,
        r"P(x_i | \mathbf{x}_{\backslash i}) = \text{softmax}(H_i W + b)",
        "Absolute places come in only at the end, before the tokens are named.",
        "core.formulas.families.objectives:mask_decoder", "torch: linear and softmax",
        {"H": ("source", "width"), "p": ("source", "width"), "W": ("width", "vocab"), "b": ("vocab",),
         "P": ("source", "vocab")},
        sheet="004",
        note="How H_i gets the absolute position is not said: here it is added. The paper's decoder runs layers with it as "
             "the query.",
    ),
    Formula(
        "bart_loss", 8,
        r"\mathcal{L}_{\text{BART}} = -\log P(\mathbf{x} | \text{corrupt}(\mathbf{x}))",
        "Spoil the text, write it back whole: the surprise of every token, also of those left alone.",
        "core.formulas.families.objectives:target_loss", "transformers: BartForConditionalGeneration",
        {"z": ("target", "vocab"), "x": ("target",), "L_BART": ()},
        sheet="004",
        note="BART writes the whole text back; T5 only the hidden spans. A sum over tokens; the model takes the mean.",
    ),
    Formula(
        "factorized_embedding", 9,
        r"E = V \times H \rightarrow E = V \times E + E \times H",
        "A narrow table and one map up to the width: far fewer weights where E is small.",
        "core.formulas.families.sharing:embedding_counts", "transformers: AlbertModel's parameters",
        {"V": (), "H": (), "E": (), "V · H": (), "V · E + E · H": ()},
        sheet="004",
        note="E is the table on the left and the narrow width on the right; V × H is a shape, and the sum counts weights "
             "of two shapes.",
    ),
    Formula(
        "shared_layers", 9,
        r"W_l = W_{\text{shared}} \quad \forall l",
        "All layers are one layer, used again and again: weights of one, work of all.",
        "core.formulas.families.sharing:stack_counts", "transformers: parameters of AlbertModel and BertModel",
        {"layers": (), "width": (), "d_ff": (), "own": (), "shared": ()},
        sheet="004",
    ),
    Formula(
        "sop_loss", 9,
        r"\mathcal{L}_{\text{SOP}} = -\log P(\text{InOrder} | [\text{CLS}])",
        "Two sentences that belong together, in order or swapped: harder than NSP, where the topic gives it away.",
        "core.formulas.families.objectives:pair_loss", "transformers: AlbertForPreTraining",
        {"z": ("2",), "L_SOP": ()},
        sheet="004",
        note="As with NSP only one of two cases is written; for a swapped pair it is −log P(Swapped).",
    ),
)
