"""Entries of sheet 004, sections 1 and 10: what all families share."""

from core.formulas.formula import Formula

ENTRIES: tuple[Formula, ...] = (
    Formula(
        "attention_steps", 1,
        r"\begin{aligned} \text{scores} = \frac{QK^T}{\sqrt{d_k}} \\ \text{weights} = \text{softmax}(\text{scores}) = "
        r"\frac{\exp(\text{scores})}{\sum \exp(\text{scores})} \\ \text{output} = \text{weights} \cdot V \end{aligned}",
        "Scores, shares, and what they blend: the attention formula with its steps in between.",
        "core.formulas.families.blocks:attention_steps", "torch: scaled_dot_product_attention",
        {"Q": ("query", "d_k"), "K": ("key", "d_k"), "V": ("key", "d_v"), "scores": ("query", "key"),
         "weights": ("query", "key"), "output": ("query", "d_v")},
        sheet="004",
        note="The sum below exp(scores) runs over the keys of one row, not over the whole matrix. So does the code.",
    ),
    Formula(
        "general_attention", 1,
        r"\begin{aligned} \text{Attention}(q, K, V) = \sum_{i=1}^{n} \alpha_i v_i \\ \alpha_i = \frac{\exp(f(q, "
        r"k_i))}{\sum_{j=1}^{n} \exp(f(q, k_j))} \end{aligned}",
        "Any function may say how well a query and a key fit; softmax and blend stay the same.",
        "core.formulas.families.blocks:general_attention", "torch: scaled_dot_product_attention, and an additive score by hand",
        {"q": ("d_k",), "K": ("key", "d_k"), "V": ("key", "d_v"), "α": ("key",), "Σ α v": ("d_v",)},
        sheet="004",
    ),
    Formula(
        "residual_sum", 1,
        r"\text{output} = x + \text{Sublayer}(x)",
        "A sublayer adds to what was there; what it does not touch goes through unchanged.",
        "core.formulas.families.blocks:residual", "torch: autograd",
        {"x": ("source", "width"), "output": ("source", "width")},
        sheet="004",
        note="The sheet's block puts LayerNorm around this sum (post-norm); sheet 003 normalizes x before the sublayer "
             "(pre-norm).",
    ),
    Formula(
        "feed_forward", 1,
        r"\begin{aligned} \text{FFN}(x) = \max(0, xW_1 + b_1)W_2 + b_2 \\ \text{FFN}(x) = \text{GELU}(xW_1 + b_1)W_2 + b_2 "
        r"\end{aligned}",
        "Each position alone: up to a wider space, a bend, and back. ReLU in 2017, GELU in BERT and GPT.",
        "core.formulas.families.blocks:feed_forward", "torch: linear with relu and gelu",
        {"x": ("source", "width"), "W_1": ("width", "d_ff"), "b_1": ("d_ff",), "W_2": ("d_ff", "width"), "b_2": ("width",),
         "FFN": ("source", "width")},
        sheet="004",
        note="Here W stands to the right of x (width, d_ff); sheet 003 writes W_1 x, with the transposed shapes. torch "
             "stores the latter.",
    ),
    Formula(
        "gelu", 1,
        r"\text{GELU}(x) = x \cdot \Phi(x) = x \cdot \frac{1}{2}\left[1 + \text{erf}\left(\frac{x}{\sqrt{2}}\right)\right]",
        "x times the chance that a standard normal number lies below x: a soft ReLU.",
        "core.formulas.families.blocks:gelu", "torch: gelu",
        {"x": ("source", "width"), "GELU": ("source", "width")},
        sheet="004",
    ),
    Formula(
        "gelu_tanh", 1,
        r"\text{GELU}(x) \approx 0.5x\left(1 + \tanh\left[\sqrt{\frac{2}{\pi}}\left(x + 0.044715x^3\right)\right]\right)",
        "The same curve by a tanh, which was cheaper; GPT-2 still runs with it.",
        "core.formulas.families.blocks:gelu_tanh", "torch: gelu with approximate=tanh",
        {"x": ("source", "width"), "GELU": ("source", "width")},
        sheet="004",
        note="Not the same function: the two differ by up to 0.0005. A model must run with the one that it was trained with.",
    ),
    Formula(
        "post_norm_block", 1,
        r"\begin{aligned} z_l = \text{LayerNorm}(x_{l-1} + \text{MultiHead}(x_{l-1})) \\ x_l = \text{LayerNorm}(z_l + "
        r"\text{FFN}(z_l)) \end{aligned}",
        "Attention, sum, norm; feed-forward, sum, norm: the block of 2017 and of BERT.",
        "core.formulas.families.blocks:post_norm_block", "transformers: BertLayer",
        {"x": ("source", "width"), "z": ("source", "width"), "x_l": ("source", "width")},
        sheet="004",
        note="Post-norm. Sheets 000 and 003 write pre-norm, H + MHA(Norm(H)), as GPT-2 and T5 run. The sheet uses this one "
             "block for all families.",
    ),
    Formula(
        "attention_score", 10,
        r"e_{i,j} = \frac{(x_i W^Q)(x_j W^K)^T}{\sqrt{d_k}}",
        "Token i asks, token j offers: their product, scaled.",
        "core.formulas.families.blocks:attention_score", "torch: linear and matmul",
        {"x": ("source", "width"), "W_Q": ("width", "d_k"), "W_K": ("width", "d_k"), "e": ("query", "key")},
        sheet="004",
    ),
    Formula(
        "attention_dropout", 10,
        r"\text{Attention}_{\text{dropout}} = \text{Dropout}(\text{softmax}(\text{scores}))V",
        "In training some shares are struck out and the rest grow, so that no key is relied on alone.",
        "core.formulas.families.blocks:attention_dropout", "torch: dropout's mean and values",
        {"scores": ("query", "key"), "V": ("key", "d_v"), "p": (), "A": ("query", "key"), "output": ("query", "d_v")},
        sheet="004",
        note="After it the rows no longer add up to 1, only in the mean; when the model is used it does nothing.",
    ),
    Formula(
        "learned_positions", 10,
        r"\text{PE}_{\text{learned}}(i) = \mathbf{p}_i \quad \text{where } \mathbf{p}_i \in \mathbb{R}^d",
        "A row of a trained table for each place; past its end there is none.",
        "core.formulas.families.positions:learned_positions", "torch: embedding",
        {"i": ("source",), "P": ("positions", "width"), "PE": ("source", "width")},
        sheet="004",
    ),
    Formula(
        "relative_keys", 10,
        r"e_{i,j} = \frac{x_i W^Q (x_j W^K + r_{i-j})^T}{\sqrt{d_k}}",
        "A learned vector for the distance is added to the key: what matters is how far, not where.",
        "core.formulas.families.positions:relative_keys", "transformers: BertSelfAttention's weights read by distance, by einsum",
        {"x": ("source", "width"), "W_Q": ("width", "d_k"), "W_K": ("width", "d_k"), "r": ("distances", "d_k"),
         "e": ("query", "key")},
        sheet="004",
        note="r is read at query − key, i − j; Shaw et al. write a_ij at j − i, and T5 buckets key − query. Only the "
             "table's order differs.",
    ),
)
