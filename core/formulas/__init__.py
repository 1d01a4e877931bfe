"""Every formula of the course, as it stands there and as a function; the items of its foundations page; its glossary.

A function is the product's own where there is one (masks, losses, metrics). Nothing here imports torch by itself.
"""

from core.formulas.formula import Formula, Term
from core.formulas.foundations import ITEMS
from core.formulas.glossary import GLOSSARY, LOCAL

__all__ = ["FORMULAS", "GLOSSARY", "ITEMS", "LOCAL", "Formula", "Term"]

_TARGET, _SOURCE = ("target", "width"), ("source", "width")

# In course order: the formula sheet 000, with the output head of lesson 3 and ROUGE of lesson 10.
FORMULAS: dict[str, Formula] = {one.id: one for one in (
    Formula(
        "factorization", 1, r"P_\theta(y\mid x)=\prod_{t=1}^{m} P_\theta\big(y_t\mid y_{\lt t},\,x\big).",
        "The output is written token by token, each on all before it and on the whole input.",
        "core.formulas.sequence:probability", "transformers: exp(−loss · m) of a T5",
        {"log P": ("target",), "P(y | x)": ()},
        also=("003.10",),
        note="Sheet 003 writes it twice: without x for a text (lesson 1), with x as the prompt here (lesson 10). In both "
             "the prompt or source is given, not predicted.",
    ),
    Formula(
        "maps", 1, r"\mathrm{Enc}: x\mapsto H_{\text{enc}}\in\mathbb R^{n\times d},\qquad \mathrm{Dec}: (y_{\lt "
            r"t},H_{\text{enc}})"
        r"\mapsto \hat{\mathbf p}_t\in\Delta^{V_y-1}.",
        "The encoder runs once; the decoder runs for each token and gives a distribution over the vocabulary.",
        "core.formulas.sequence:two_maps", "transformers: one forward of a T5",
        {"x": ("source",), "y": ("target",), "H_enc": _SOURCE, "p̂": ("target", "vocab")},
    ),
    Formula(
        "encoder_attention", 2,
        r"\mathrm{SelfAttn}_{\text{bidir}}(H)=\mathrm{softmax}\!\Big(\tfrac{QK^\top}{\sqrt{d_k}}+M^{\text{pad}}\Big)V, "
        r"\quad Q,K,V=HW_Q,HW_K,HW_V,\quad M^{\text{enc}}_{ij}=0.",
        "Each source token reads every source token, both ways; only padding is hidden.",
        "core.formulas.attention:encoder_attention", "torch: scaled_dot_product_attention",
        {"H": _SOURCE, "W_Q": ("width", "d_k"), "W_K": ("width", "d_k"), "W_V": ("width", "d_v"), "M_pad": ("source",),
         "SelfAttn": ("source", "d_v")},
        note="Says M^enc = 0 beside M^pad: nothing is hidden from a token but padding. The code adds one mask, after the "
             "scaling.",
    ),
    Formula(
        "encoder_block", 2,
        r"H'=H+\mathrm{MHA}_{\text{bidir}}(\mathrm{Norm}(H)),\qquad H^{\text{out}}=H'+\mathrm{FFN}(\mathrm{Norm}(H')).",
        "Two sublayers, each adding to what was there: attention mixes positions, the FFN works on each alone.",
        "core.formulas.attention:encoder_block", "transformers: T5Block",
        {"H": _SOURCE, "H′": _SOURCE, "H_out": _SOURCE},
    ),
    Formula(
        "causal_mask", 3, r"M^{\text{causal}}_{ij}=\begin{cases}0,& j\le i\\ -\infty,& j\gt i\end{cases}",
        "Row i may read column j only up to itself: nothing that is not written yet.",
        "core.masks:causal", "torch: triu", {"M": ("target", "target")},
        also=("003.3", "004.1"),
    ),
    Formula(
        "decoder_block", 3,
        r"\begin{aligned} H_1 &= H + \mathrm{SelfAttn}_{\text{causal}}(\mathrm{Norm}(H))\\ "
        r"H_2 &= H_1 + \mathrm{CrossAttn}(\mathrm{Norm}(H_1),H_{\text{enc}})\\ "
        r"H_3 &= H_2 + \mathrm{FFN}(\mathrm{Norm}(H_2)) \end{aligned}",
        "Three sublayers: read what is written, read the source, work on each position.",
        "core.formulas.attention:decoder_block", "transformers: T5Block as decoder",
        {"H": _TARGET, "H_enc": _SOURCE, "H_1": _TARGET, "H_2": _TARGET, "H_3": _TARGET},
    ),
    Formula(
        "output_head", 3,
        r"\mathbf z_t=\mathbf h_t^\top W_U,\quad \hat{\mathbf p}_t=\mathrm{softmax}(\mathbf z_t),\quad W_U=E^\top",
        "The last state against every token's vector gives logits; softmax makes them probabilities.",
        "core.formulas.sequence:output_head", "torch: matmul and softmax",
        {"h": _TARGET, "W_U": ("width", "vocab"), "z": ("target", "vocab"), "p̂": ("target", "vocab")},
        note="With W_U = Eᵀ, T5 also divides h by √d before it; the sheet leaves that out. Sheet 003 leaves W_U free.",
    ),
    Formula(
        "cross_projections", 4,
        r"Q=H_{\text{dec}}W_Q^c\in\mathbb R^{m\times d_k},\quad K=H_{\text{enc}}W_K^c\in\mathbb R^{n\times d_k},"
        r"\quad V=H_{\text{enc}}W_V^c\in\mathbb R^{n\times d_v}.",
        "Two sources: queries from what the decoder has written, keys and values from the source.",
        "core.formulas.attention:projections", "torch: linear",
        {"H_dec": _TARGET, "H_enc": _SOURCE, "Q": ("target", "d_k"), "K": ("source", "d_k"), "V": ("source", "d_v")},
    ),
    Formula(
        "cross_attention", 4,
        r"A=\mathrm{softmax}\!\Big(\tfrac{QK^\top}{\sqrt{d_k}}+M^{\text{pad}}\Big)\in\mathbb R^{m\times n},"
        r"\qquad \mathrm{CrossAttn}=AV\in\mathbb R^{m\times d_v}.",
        "A rectangle: m rows that write, n columns that are read. Padding is hidden, the future of the source is not.",
        "core.formulas.attention:cross_attention", "torch: scaled_dot_product_attention",
        {"Q": ("target", "d_k"), "K": ("source", "d_k"), "V": ("source", "d_v"), "A": ("target", "source"),
         "CrossAttn": ("target", "d_v")},
        note="Sheet 004 writes it without M^pad, for a source without padding.",
        also=("004.4",),
    ),
    Formula(
        "cross_output", 4,
        r"\mathbf o_i=\sum_{j=1}^{n}A_{ij}\mathbf v_j,\qquad \textstyle\sum_{j=1}^{n}A_{ij}=1\ \ \forall i.",
        "What row i gets: the source's values, mixed by shares that add up to 1.",
        "core.formulas.attention:blend", "torch: bmm",
        {"A": ("target", "source"), "V": ("source", "d_v"), "o": ("target", "d_v")},
    ),
    Formula(
        "bridge", 4,
        r"\frac{\partial\mathcal L}{\partial H_{\text{enc}}}=\frac{\partial\mathcal L}{\partial K}\frac{\partial K}"
        r"{\partial H_{\text{enc}}}+\frac{\partial\mathcal L}{\partial V}\frac{\partial V}{\partial H_{\text{enc}}}.",
        "All that the encoder learns comes over this bridge: through the keys and through the values.",
        "core.train.bridge:bridge", "torch: autograd",
        {"∂L/∂K": ("source", "heads · d_k"), "∂L/∂V": ("source", "heads · d_v"), "∂L/∂H_enc": _SOURCE},
    ),
    Formula(
        "budget", 5,
        r"P\approx 12\,N_{\text{enc}}\,d^2 + 16\,N_{\text{dec}}\,d^2 + Vd, \quad\text{(enc block }12d^2,\ "
        r"\text{dec block }16d^2,\ \text{cross-attn }+4d^2).",
        "How many weights, roughly: a decoder block costs a third more, for its cross-attention.",
        "core.parameters:estimate", "transformers: num_parameters of T5 shapes",
        {"N_enc": (), "N_dec": (), "d": (), "V": (), "P": ()},
        note="16 d² and 12 d² assume d_ff = 4d and heads · d_k = d; biases and norms are left out.",
    ),
    Formula(
        "t5_bias", 5, r"s_{ij}=\frac{\mathbf q_i^\top\mathbf k_j}{\sqrt{d_k}}+b_{\,\text{bucket}(i-j)}.",
        "T5 adds a learned number for the distance between two positions, in place of position vectors.",
        "core.formulas.attention:biased", "transformers: T5Attention.compute_bias",
        {"Q": ("query", "d_k"), "K": ("key", "d_k"), "b": ("buckets",), "s": ("query", "key")},
        note="The sheet writes bucket(i − j), query minus key; T5 looks up key − query, and so does the code. T5 does not "
             "divide by √d_k either: its first weights are that much smaller. The numbers on this card follow the model.",
    ),
    Formula(
        "prefix_mask", 6,
        r"M^{\text{prefix}}_{ij}=\begin{cases} 0,& j\le n\ (\text{bidirectional prefix})\\ 0,& n\lt j\le i\ "
        r"(\text{causal suffix, past})\\ -\infty,& j\gt i,\ j\gt n\ (\text{future suffix}) \end{cases}",
        "Both stacks in one: the source is open to all, the output only to what comes after it.",
        "core.masks:prefix", "torch: tril and a block", {"M": ("query", "key")},
        note="j ≤ n counts from 1. In the code positions count from 0, so the prefix is j < n.",
    ),
    Formula(
        "denoising_loss", 7, r"\mathcal L(\theta)=-\frac{1}{|y|}\sum_{t}\log P_\theta(y_t\mid y_{\lt t},\tilde x).",
        "How surprised the model is by the true output, in nats a token.",
        "core.train.forcing:scored", "torch: cross_entropy",
        {"z": ("batch", "target", "vocab"), "y": ("batch", "target"), "L": ()},
    ),
    Formula(
        "shift", 8,
        r"\text{input}=(\langle\text{bos}\rangle,y_1,\dots,y_{m-1}),\qquad \text{targets}=(y_1,\dots,y_m).",
        "The decoder reads the true output, one place late, and names the next token at each place.",
        "core.train.forcing:shift_right", "transformers: T5 and BART",
        {"targets": ("batch", "target"), "input": ("batch", "target")},
        note="⟨bos⟩ is the padding token in T5 and the end token in BART; the code takes what the model was trained with.",
    ),
    Formula(
        "logit_gradient", 8, r"\frac{\partial\mathcal L}{\partial\mathbf z_t}=\hat{\mathbf p}_t-\mathbf y_t.",
        "What each logit is told: by how much too likely it was. The true token is told the rest to 1.",
        "core.train.criteria:logit_gradient", "torch: autograd",
        {"z": ("target", "vocab"), "y": ("target",), "∂L/∂z": ("target", "vocab")},
        also=("003.5",),
        note="∂L/∂z for the loss of one position. Where L is a mean over n tokens, each position's gradient is divided by "
             "n; the code does so.",
    ),
    Formula(
        "beam_score", 9,
        r"\text{score}(y)=\frac{1}{\mathrm{lp}(m)}\sum_{t=1}^{m}\log\hat p_{y_t},\qquad "
            r"\mathrm{lp}(m)=\frac{(5+m)^\alpha}{6^\alpha}.",
        "log P falls with every token; dividing by lp keeps long outputs in the race.",
        "core.formulas.decoding:beam_score", "torch: by hand, in float64",
        {"log p̂": ("target",), "α": (), "score": ()},
    ),
    Formula(
        "coverage", 9,
        r"\mathbf c^t=\sum_{t'\lt t}A_{t',:},\qquad \mathcal L_{\text{cov}}=\sum_t\sum_j \min(A_{tj},c^t_j).",
        "What each source token was given so far; reading it again costs.",
        "core.metrics.coverage:coverage", "torch: cumsum",
        {"A": ("target", "source"), "c": ("target", "source"), "L_cov": ()},
        note="A sum over steps, as the sheet writes it; See et al. train the mean over steps, so a long output does not "
             "cost more. The code has both.",
    ),
    Formula(
        "pointer", 9,
        r"P(w)=p_{\text{gen}}P_{\text{vocab}}(w)+(1-p_{\text{gen}})\!\!\sum_{j:x_j=w}\!\!A_{tj},\qquad p_{\text{gen}}\in[0,1].",
        "A gate between writing from the vocabulary and copying what is looked at.",
        "core.pointer:mixture", "torch: scatter_add",
        {"P_vocab": ("vocab",), "A_t": ("source",), "P(w)": ("vocab + unknown",)},
    ),
    Formula(
        "bleu", 10,
        r"\text{BLEU}=\min(1,e^{1-r/c})\cdot\exp\!\Big(\textstyle\sum_{n=1}^{4}w_n\log p_n\Big).",
        "How many n-grams of the output stand in the reference; short outputs pay.",
        "core.metrics.bleu:score", "sacrebleu", {"p_n": ("4",), "BLEU": ()},
        note="min(1, e^(1−r/c)) is the brevity penalty. One p_n = 0 makes the product 0: sacrebleu smooths it, as the code "
             "does.",
    ),
    Formula(
        "rouge", 10, r"\text{ROUGE-L}=\frac{2PR}{P+R},\qquad P=\frac{\mathrm{LCS}(x,y)}{|x|},\quad "
            r"R=\frac{\mathrm{LCS}(x,y)}{|y|}.",
        "How much of the reference comes back in order; the longest common subsequence, as an F-score.",
        "core.metrics.rouge:score", "rouge-score", {"P": (), "R": (), "ROUGE-L": ()},
    ),
    Formula(
        "distillation", 10,
        r"\mathcal L_{\text{KD}}=(1-\lambda)\,\mathrm{CE}(y,\hat{\mathbf p}^{\,s})+\lambda T^2 D_{\mathrm{KL}}\!"
        r"\big(\hat{\mathbf p}^{\,t}_T\|\hat{\mathbf p}^{\,s}_T\big).",
        "A student follows the true token and, softened by T, what the teacher thinks of all the others.",
        "core.train.criteria:distillation", "torch: cross_entropy and kl_div",
        {"zˢ": ("target", "vocab"), "zᵗ": ("target", "vocab"), "y": ("target",), "L_KD": ()},
    ),
)}
