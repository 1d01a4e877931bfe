"""Entries of lessons 4 and 5 of sheet 003: the block, the output head, all weights."""

from core.formulas.formula import Formula

LAYERS: tuple[Formula, ...] = (
    Formula(
        "block_prenorm", 4,
        r"\tilde H = H + \mathrm{MHA}\big(\mathrm{Norm}(H)\big),\quad H' = \tilde H + \mathrm{MLP}\big(\mathrm{Norm}(\tilde "
        r"H)\big).",
        "Normalise, work, add; once to mix positions, once to work on each alone.",
        "core.formulas.attention:encoder_block", "transformers: GPT2Block",
        {"H": ("target", "width"), "H̃": ("target", "width"), "H′": ("target", "width")},
        sheet="003",
        note="Pre-norm: the sum itself is never normalised. Sheet 004 writes post-norm, LayerNorm(x + …), as BERT and BART "
             "have it. Pre-norm needs one more norm before the output head, which the sheet leaves out.",
    ),
    Formula(
        "mlp", 4,
        r"\mathrm{MLP}(\mathbf x)=W_2\,\phi\!\big(W_1\mathbf x+\mathbf b_1\big)+\mathbf b_2,\qquad W_1\in\mathbb "
        r"R^{d_{ff}\times d},\ W_2\in\mathbb R^{d\times d_{ff}}.",
        "Each position alone: into a wider space, through a bend, and back.",
        "core.formulas.decoder_only.block:mlp", "torch: Linear, GELU, Linear",
        {"x": ("target", "width"), "W_1": ("d_ff", "width"), "W_2": ("width", "d_ff"), "MLP": ("target", "width")},
        sheet="003",
        note="x is a column here and W multiplies from the left; lesson 3 writes HW, with rows. The code takes rows and "
             "multiplies by Wᵀ.",
    ),
    Formula(
        "residual_jacobian", 4,
        r"\frac{\partial \mathbf y}{\partial \mathbf x}=I+\frac{\partial\mathcal F}{\partial\mathbf x}.",
        "The gradient always has one way through that nothing changes: the identity.",
        "core.formulas.decoder_only.block:residual_jacobian", "torch: autograd",
        {"x": ("width",), "∂y/∂x": ("width", "width")},
        sheet="003",
    ),
    Formula(
        "layernorm", 4,
        r"\mu=\tfrac1d\textstyle\sum_k x_k,\quad \sigma^2=\tfrac1d\sum_k(x_k-\mu)^2,\quad \mathrm{LN}(\mathbf "
        r"x)=\gamma\odot\frac{\mathbf x-\mu}{\sqrt{\sigma^2+\epsilon}}+\beta.",
        "Each token's numbers are shifted to mean 0 and scaled to variance 1, then stretched and moved by what was learned.",
        "core.formulas.decoder_only.block:layernorm", "torch: layer_norm",
        {"x": ("target", "width"), "γ": ("width",), "β": ("width",), "LN": ("target", "width")},
        sheet="003", also=("004.1",),
        note="Sheet 004 divides by σ without ε: a row of equal numbers would be 0/0. The code has ε under the root, as this "
             "sheet and torch do. β is a bias here, momentum and KL weight elsewhere.",
    ),
    Formula(
        "layernorm_backward", 4,
        r"\frac{\partial\mathcal L}{\partial x_i}=\frac{1}{\sqrt{\sigma^2+\epsilon}}\Big(g_i-\tfrac1d\textstyle\sum_k g_k-\hat "
        r"x_i\cdot\tfrac1d\sum_k g_k\hat x_k\Big).",
        "What the gradient loses: its mean, and its part along the normalised vector; neither can change the output.",
        "core.formulas.decoder_only.block:layernorm_gradient", "torch: autograd",
        {"x": ("target", "width"), "∂L/∂LN": ("target", "width"), "γ": ("width",), "∂L/∂x": ("target", "width")},
        sheet="003",
        note="The sheet does not say what g is: ∂L/∂x̂, that is γ ⊙ ∂L/∂LN(x). With γ = 1 it is the gradient that arrives.",
    ),
    Formula(
        "rmsnorm", 4, r"\mathrm{RMS}(\mathbf x)=\frac{\mathbf x}{\sqrt{\tfrac1d\sum_k x_k^2+\epsilon}}\odot\gamma.",
        "Only the length is set: divided by the root mean square, the mean stays.",
        "core.formulas.decoder_only.block:rmsnorm", "transformers: LlamaRMSNorm",
        {"x": ("target", "width"), "γ": ("width",), "RMS": ("target", "width")},
        sheet="003", also=("004.1",),
        note="RMS(x) names the normalised vector here, the root itself in sheet 004, which also leaves out ε. T5 and Llama "
             "have ε under the root, as the code has.",
    ),
    Formula(
        "softmax", 5,
        r"\mathbf z_i=\mathbf h_i^\top W_U\in\mathbb R^V,\qquad \hat p_w=\frac{e^{z_w}}{\sum_{m=1}^{V}e^{z_m}}.",
        "The state against every token's column gives logits; e to the logit, shared out, gives probabilities.",
        "core.formulas.sequence:output_head", "torch: matmul and softmax",
        {"h": ("target", "width"), "W_U": ("width", "vocab"), "z": ("target", "vocab"), "p̂": ("target", "vocab")},
        sheet="003", also=("004.1", "004.10"),
        note="Sheet 000 ties W_U = Eᵀ; this one counts W_U among θ as a matrix of its own. GPT-2 ties them, Llama 3 8B does "
             "not.",
    ),
    Formula(
        "cross_entropy", 5,
        r"\log P_\theta(x_{1:n})=\sum_{t=1}^{n}\log \hat p_{\,t,\,x_t},\qquad \mathcal L(\theta)=-\frac1n\sum_{t=1}^n\log \hat "
        r"p_{\,t,\,x_t}.",
        "Logs turn the product into a sum; its mean with a minus is the loss.",
        "core.formulas.decoder_only.losses:cross_entropy", "torch: cross_entropy",
        {"z": ("target", "vocab"), "x": ("target",), "log P": (), "L": ()},
        sheet="003", also=("004.1", "004.13"),
        note="A mean over n tokens here; a sum in lessons 1 and 9 and in sheet 004. Divided by n, losses of texts of "
             "different lengths can be compared.",
    ),
    Formula(
        "parameters", 5,
        r"\theta=\Big\{E,\ \{W_Q,W_K,W_V,W_O\}_{\ell=1}^N,\ \{W_1,W_2,\mathbf b_1,\mathbf b_2\}_{\ell=1}^N,\ "
        r"\{\gamma,\beta\}_{\ell},\ W_U\Big\}.",
        "All that is learned: the table, four matrices of attention and two of the MLP in each layer, the norms, the head.",
        "core.formulas.decoder_only.weights:parameters", "transformers: num_parameters of a GPT-2 shape",
        {"N": (), "d": (), "d_ff": (), "V": (), "θ": ("parameters",)},
        sheet="003",
        note="The sheet lists γ, β once for a layer; a pre-norm block has two norms, and one stands before W_U. The code "
             "counts 2N + 1 of them.",
    ),
)
