"""Entries of lessons 9 and 10 of sheet 003: fine-tuning, and writing text."""

from core.formulas.formula import Formula

USING: tuple[Formula, ...] = (
    Formula(
        "sft_loss", 9,
        r"\mathcal L_{\text{SFT}}(\theta)=-\sum_{t}\,\mathbb 1[t\in\text{response}]\;\log P_\theta\big(y_t\mid x,\,y_{\lt "
        r"t}\big).",
        "The prompt is read but not learned: only tokens of the answer count.",
        "core.formulas.decoder_only.losses:sft_loss", "torch: cross_entropy with ignore_index",
        {"z": ("target", "vocab"), "y": ("target",), "response": ("target",), "L": ()},
        sheet="003",
        note="A sum here; trainers take the mean over response tokens. The code sums, as the sheet does.",
    ),
    Formula(
        "lora", 9,
        r"W=W_0+\Delta W,\qquad \Delta W=\frac{\alpha}{r}\,BA,\quad A\in\mathbb R^{r\times k},\ B\in\mathbb R^{d\times r}.",
        "The weights stay; beside them two thin matrices learn a change of rank r.",
        "core.formulas.decoder_only.descent:lora", "peft: LoraConfig on a Linear",
        {"W_0": ("d_out", "d_in"), "A": ("rank", "d_in"), "B": ("d_out", "rank"), "W": ("d_out", "d_in")},
        sheet="003",
        note="k is the width of the input here, the index of a coordinate in lesson 4. B starts at 0 (Hu et al. 2021), so "
             "training starts from W_0; the sheet does not say so.",
    ),
    Formula(
        "bradley_terry", 9,
        r"\mathcal L_{\text{RM}}(\phi)=-\,\mathbb E_{(x,y_w,y_l)}\Big[\log\sigma\big(r_\phi(x,y_w)-r_\phi(x,y_l)\big)\Big].",
        "The better answer should have the higher reward; only the difference counts.",
        "core.formulas.decoder_only.losses:bradley_terry", "torch: binary_cross_entropy_with_logits",
        {"r_w": ("pairs",), "r_l": ("pairs",), "L": ()},
        sheet="003",
        note="σ is the logistic function here, a standard deviation in lesson 4.",
    ),
    Formula(
        "kl_anchored", 9,
        r"\max_\theta\ \mathbb E_{x\sim\mathcal D,\,y\sim\pi_\theta(\cdot\mid "
        r"x)}\Big[\,r_\phi(x,y)\;-\;\beta\,\log\frac{\pi_\theta(y\mid x)}{\pi_{\text{ref}}(y\mid x)}\Big],",
        "Reward is wanted, and every step away from the reference model costs.",
        "core.formulas.decoder_only.losses:anchored", "torch: distributions.kl_divergence",
        {"r": ("samples",), "log π": ("samples",), "log π_ref": ("samples",), "J": ()},
        sheet="003",
        note="The mean of log π/π_ref over samples of π is the KL(π ‖ π_ref). To be made large, unlike every loss before it.",
    ),
    Formula(
        "ppo_clip", 9,
        r"\mathcal L^{\text{CLIP}}(\theta)=\mathbb E_t\Big[\min\big(\rho_t\hat A_t,\ "
        r"\mathrm{clip}(\rho_t,1-\epsilon,1+\epsilon)\,\hat A_t\big)\Big].",
        "A good action is made likelier, but what lies beyond 1 ± ε gains nothing more.",
        "core.formulas.decoder_only.losses:ppo_clip", "by hand: the four cases of Schulman et al. 2017",
        {"ρ": ("target",), "Â": ("target",), "L": ()},
        sheet="003",
        note="Called ℒ like the losses, but it is to be made large. ε is the clip range here and a small number in a "
             "denominator in lessons 4 and 8.",
    ),
    Formula(
        "dpo", 9,
        r"\mathcal L_{\text{DPO}}(\theta)=-\,\mathbb E_{(x,y_w,y_l)}\Big[\log\sigma\Big(\beta\log\tfrac{\pi_\theta(y_w\mid "
        r"x)}{\pi_{\text{ref}}(y_w\mid x)}-\beta\log\tfrac{\pi_\theta(y_l\mid x)}{\pi_{\text{ref}}(y_l\mid x)}\Big)\Big].",
        "The same as a reward model, whose reward is how much likelier an answer became.",
        "core.formulas.decoder_only.losses:dpo", "by hand: log 2 at the start, and Bradley-Terry",
        {"log π_w": ("pairs",), "log π_l": ("pairs",), "L": ()},
        sheet="003",
    ),
    Formula(
        "temperature", 10, r"\hat p_w(T)=\frac{e^{z_w/T}}{\sum_m e^{z_m/T}}.",
        "Below 1 the best tokens gain, above 1 all come nearer to each other.",
        "core.formulas.decoder_only.inference:temperature", "transformers: TemperatureLogitsWarper",
        {"z": ("vocab",), "T": (), "p̂": ("vocab",)},
        sheet="003",
        note="At T = 0 the formula divides by 0; it stands for taking the best token. The code refuses 0.",
    ),
    Formula(
        "top_p", 10, r"S=\arg\min\big\{|S|:\textstyle\sum_{w\in S}\hat p_w\ge p\big\}.",
        "Of the likeliest tokens as few as make up p together; the rest is cut off.",
        "core.formulas.decoder_only.inference:nucleus", "transformers: TopPLogitsWarper",
        {"z": ("vocab",), "p": (), "S": ("vocab",), "p̂": ("vocab",)},
        sheet="003",
        note="As written, several sets of the same size can reach p: the one of the likeliest tokens is meant. What is kept "
             "is then divided by its mass, which the sheet does not write.",
    ),
    Formula(
        "kv_bytes", 10, r"\text{bytes}=2\times n\times N_{\text{layers}}\times d\times (\text{bytes/elem}).",
        "Keys and values of every token read so far, in every layer.",
        "core.budget:kv_bytes", "transformers: DynamicCache of a Llama shape",
        {"n": (), "N_layers": (), "d": (), "bytes": ()},
        sheet="003",
        note="d is heads · d_k. With grouped queries (GQA) only the key/value heads count, so Llama 3 8B needs a quarter. For "
             "one text; a batch multiplies it.",
    ),
)
