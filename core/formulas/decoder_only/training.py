"""Entries of lessons 6 to 8 of sheet 003: the loss, the gradient, the steps."""

from core.formulas.formula import Formula

TRAINING: tuple[Formula, ...] = (
    Formula(
        "entropy_kl", 6,
        r"H(p,\hat p)=-\sum_{w=1}^{V}p_w\log\hat p_w =\underbrace{-\sum_w p_w\log p_w}_{H(p)}\;+\;\underbrace{\sum_w "
        r"p_w\log\frac{p_w}{\hat p_w}}_{D_{\mathrm{KL}}(p\,\|\,\hat p)}.",
        "What must be paid, since the truth is uncertain, and what is paid on top, for believing something else.",
        "core.formulas.decoder_only.losses:entropy_and_kl", "torch: distributions.kl_divergence and entropy",
        {"p": ("vocab",), "p̂": ("vocab",), "H(p, p̂)": (), "H(p)": (), "KL": ()},
        sheet="003",
        note="H is the entropy here and the states of a layer in lessons 3 and 4. A word with p_w > 0 and p̂_w = 0 makes the "
             "KL infinite; one with p_w = 0 adds nothing.",
    ),
    Formula(
        "kl_minimum", 6, r"\min_\theta H(p,\hat p_\theta)\iff \min_\theta D_{\mathrm{KL}}(p\,\|\,\hat p_\theta).",
        "The entropy of the truth does not depend on the weights, so both curves are lowest at the same place.",
        "core.formulas.decoder_only.losses:cross_and_kl", "torch: autograd",
        {"p": ("vocab",), "z": ("vocab",), "H(p, p̂)": (), "KL": ()},
        sheet="003",
    ),
    Formula(
        "one_hot", 6, r"H(\mathbf y,\hat{\mathbf p})=-\log\hat p_{x_t}.",
        "If the truth is one token, the loss is how surprised the model is by it.",
        "core.formulas.decoder_only.losses:one_hot_loss", "torch: nll_loss",
        {"p̂": ("target", "vocab"), "x": ("target",), "H": ("target",)},
        sheet="003",
    ),
    Formula(
        "perplexity", 6,
        r"\mathrm{PPL}=\exp\!\big(\mathcal L\big)=\exp\!\Big(-\tfrac1n\textstyle\sum_t\log\hat p_{t,x_t}\Big).",
        "Among how many equally likely tokens the model is as unsure as it is here.",
        "core.formulas.decoder_only.losses:perplexity", "torch: exp of cross_entropy",
        {"log p̂": ("target",), "PPL": ()},
        sheet="003",
        note="Is e to the loss only where the loss is a mean over tokens, as in lesson 5, and not the sum of lesson 1. "
             "Perplexities of different tokenizers cannot be compared.",
    ),
    Formula(
        "gradient_descent", 7,
        r"\nabla_\theta\mathcal L=\Big(\tfrac{\partial\mathcal L}{\partial\theta_1},\dots,\tfrac{\partial\mathcal "
        r"L}{\partial\theta_P}\Big),\qquad \theta\leftarrow\theta-\eta\,\nabla_\theta\mathcal L.",
        "A step against the slope, as long as η times its steepness.",
        "core.formulas.decoder_only.descent:gradient_descent", "torch: optim.SGD",
        {"θ": ("parameters",), "∇L": ("parameters",), "θ′": ("parameters",)},
        sheet="003",
    ),
    Formula(
        "vjp", 7,
        r"\bar{\mathbf a}^{(\ell-1)}=\Big(\frac{\partial g_\ell}{\partial \mathbf a^{(\ell-1)}}\Big)^{\!\top}\bar{\mathbf "
        r"a}^{(\ell)}, \qquad \bar\theta_\ell=\Big(\frac{\partial g_\ell}{\partial \theta_\ell}\Big)^{\!\top}\bar{\mathbf "
        r"a}^{(\ell)}.",
        "What a layer's output is told goes back through the transposed Jacobian: once to its input, once to its weights.",
        "core.formulas.decoder_only.descent:vjp", "torch: autograd",
        {"a": ("d_in",), "θ": ("parameters",), "ā": ("d_in",), "θ̄": ("parameters",)},
        sheet="003",
        note="The formula makes whole Jacobians; backpropagation computes the product alone and never stores them. The code "
             "here follows the formula, on small layers.",
    ),
    Formula(
        "linear_adjoints", 7, r"\bar W=\bar{\mathbf u}\,\mathbf x^\top,\qquad \bar{\mathbf x}=W^\top\bar{\mathbf u}.",
        "The gradient of a matrix is what it was told times what it read; its input is told through the transpose.",
        "core.formulas.decoder_only.descent:linear_adjoints", "torch: autograd",
        {"W": ("d_out", "d_in"), "x": ("d_in",), "ū": ("d_out",), "W̄": ("d_out", "d_in"), "x̄": ("d_in",)},
        sheet="003",
    ),
    Formula(
        "momentum", 8,
        r"\mathbf m_t=\beta\,\mathbf m_{t-1}+(1-\beta)g_t,\qquad \theta\leftarrow\theta-\eta\,\mathbf m_t.",
        "Steps follow a running mean of slopes: what wobbles cancels out, what stays adds up.",
        "core.formulas.decoder_only.descent:momentum", "torch: optim.SGD with dampening",
        {"θ": ("parameters",), "m": ("parameters",), "g": ("parameters",)},
        sheet="003",
        note="torch's SGD adds g whole, m = βm + g, unless dampening = β: its steps become 1/(1 − β) times as long. The code "
             "is the sheet's mean.",
    ),
    Formula(
        "adam_moments", 8,
        r"\mathbf m_t=\beta_1\mathbf m_{t-1}+(1-\beta_1)g_t,\qquad \mathbf v_t=\beta_2\mathbf v_{t-1}+(1-\beta_2)g_t^{\odot2},",
        "Two running means: of the slope, and of its square.",
        "core.formulas.decoder_only.descent:adam_moments", "torch: optim.Adam",
        {"g": ("parameters",), "m": ("parameters",), "v": ("parameters",)},
        sheet="003",
    ),
    Formula(
        "adam_bias", 8,
        r"\hat{\mathbf m}_t=\frac{\mathbf m_t}{1-\beta_1^{\,t}},\qquad \hat{\mathbf v}_t=\frac{\mathbf v_t}{1-\beta_2^{\,t}}.",
        "Running means start at 0 and are too small at first; dividing takes that out.",
        "core.formulas.decoder_only.descent:adam_bias", "torch: optim.Adam",
        {"m": ("parameters",), "v": ("parameters",), "m̂": ("parameters",), "v̂": ("parameters",)},
        sheet="003",
        note="β₁ᵗ is a power of t, while the t of m_t and v_t is an index. After 1/(1 − β₂) steps, a thousand, little is left "
             "to correct.",
    ),
    Formula(
        "adam_update", 8,
        r"\theta\leftarrow\theta-\eta\,\frac{\hat{\mathbf m}_t}{\sqrt{\hat{\mathbf v}_t}+\epsilon}, \qquad "
        r"\theta\leftarrow\theta-\eta\Big(\frac{\hat{\mathbf m}_t}{\sqrt{\hat{\mathbf v}_t}+\epsilon}+\lambda\theta\Big).",
        "Each weight moves by about η, whatever the size of its slope; AdamW also pulls it towards 0.",
        "core.formulas.decoder_only.descent:adam_step", "torch: optim.AdamW",
        {"θ": ("parameters",), "m̂": ("parameters",), "v̂": ("parameters",), "θ′": ("parameters",)},
        sheet="003",
        note="λ is multiplied by η, as in torch; the paper of AdamW scales λ by the schedule alone. θ on the right is the one "
             "before the step.",
    ),
    Formula(
        "cosine_schedule", 8,
        r"\eta_t=\eta_{\min}+\tfrac12(\eta_{\max}-\eta_{\min})\Big(1+\cos\tfrac{\pi(t-T_w)}{T-T_w}\Big).",
        "Fast in the middle, gentle at both ends: half a cosine from the highest rate to the lowest.",
        "core.formulas.decoder_only.descent:cosine_schedule", "transformers: get_cosine_schedule_with_warmup",
        {"t": (), "T_w": (), "T": (), "η": ()},
        sheet="003",
        note="The formula begins at T_w and does not say what comes before: the code rises from 0 in a straight line, as "
             "transformers does. After T it stays at η_min.",
    ),
    Formula(
        "scaling_law", 8,
        r"\mathcal L(N_{\text{params}},D)\approx \mathcal L_\infty + "
        r"\Big(\tfrac{A}{N_{\text{params}}}\Big)^{\alpha}+\Big(\tfrac{B}{D}\Big)^{\beta}.",
        "Loss falls as a power of size and of data, towards a floor that neither of them lowers.",
        "core.formulas.decoder_only.descent:scaling_law", "by hand: the fit of Hoffmann et al. 2022",
        {"N": (), "D": (), "L": ()},
        sheet="003",
        note="A stands inside the power here; Hoffmann et al. write A/N^α, so their 406.4 is A^α. N counts layers in lesson "
             "5, weights here; P counts weights in lesson 1.",
    ),
)
