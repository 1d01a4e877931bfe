"""Entries of sheet 004, sections 11 to 18: SBERT."""

from core.formulas.formula import Formula

ENTRIES: tuple[Formula, ...] = (
    Formula(
        "sentence_embedding", 11,
        r"\begin{aligned} \mathbf{u} = \text{BERT}(\text{sentence}) \\ \mathbf{s} = \text{POOL}(\mathbf{u}) \end{aligned}",
        "BERT gives a vector for each token; pooling makes one of them all.",
        "core.formulas.families.sentences:sentence_embedding", "transformers: BertModel and a mean",
        {"sentence": ("source",), "u": ("source", "width"), "s": ("width",)},
        sheet="004",
    ),
    Formula(
        "cls_pooling", 12,
        r"\mathbf{s} = \mathbf{u}_{\text{[CLS]}}",
        "The vector of the first token stands for all.",
        "core.formulas.families.sentences:cls_pooling", "transformers: BertModel's first state",
        {"u": ("source", "width"), "s": ("width",)},
        sheet="004",
    ),
    Formula(
        "mean_pooling", 12,
        r"\mathbf{s} = \frac{1}{n} \sum_{i=1}^{n} \mathbf{u}_i",
        "The mean of the token vectors: SBERT's own choice.",
        "core.formulas.families.sentences:mean_pooling", "torch: mean over what is no padding",
        {"u": ("source", "width"), "real": ("source",), "s": ("width",)},
        sheet="004",
        note="n counts the tokens without padding; in a batch padded rows must not enter the mean.",
    ),
    Formula(
        "max_pooling", 12,
        r"\mathbf{s} = \max_{i=1,\ldots,n} \mathbf{u}_i",
        "In each column the largest number, whichever token it comes from.",
        "core.formulas.families.sentences:max_pooling", "torch: adaptive_max_pool1d",
        {"u": ("source", "width"), "real": ("source",), "s": ("width",)},
        sheet="004",
        note="The maximum is taken column by column, not of whole vectors.",
    ),
    Formula(
        "attention_pooling", 12,
        r"\begin{aligned} \alpha_i = \frac{\exp(\mathbf{u}_i^T \mathbf{w})}{\sum_{j=1}^{n} \exp(\mathbf{u}_j^T \mathbf{w})} "
        r"\\ \mathbf{s} = \sum_{i=1}^{n} \alpha_i \mathbf{u}_i \end{aligned}",
        "A learned vector asks each token how much it counts.",
        "core.formulas.families.sentences:attention_pooling", "torch: scaled_dot_product_attention with scale 1",
        {"u": ("source", "width"), "w": ("width",), "α": ("source",), "s": ("width",)},
        sheet="004",
    ),
    Formula(
        "sbert_classifier", 13,
        r"o = \text{softmax}(W_t [\mathbf{u}; \mathbf{v}; \vert\mathbf{u} - \mathbf{v}\vert])",
        "Both vectors and where they differ, in a row; one map and softmax name the relation.",
        "core.formulas.families.sentences:classifier", "torch: linear and softmax",
        {"u": ("width",), "v": ("width",), "W_t": ("classes", "3 · width"), "o": ("classes",)},
        sheet="004",
        note="W_t stands left of a column here; the SBERT paper writes W_t in R^(3n×k). Swapping u and v changes the answer.",
    ),
    Formula(
        "cosine", 13,
        r"\text{similarity} = \cos(\mathbf{u}, \mathbf{v}) = \frac{\mathbf{u} \cdot \mathbf{v}}{|\mathbf{u}| |\mathbf{v}|}",
        "The angle between two vectors as a number from −1 to 1; lengths do not count.",
        "core.formulas.families.sentences:cosine", "torch: cosine_similarity",
        {"u": ("width",), "v": ("width",), "sim": ()},
        sheet="004", also=("004.17",),
        note="The bars mean the length |·|_2 of a vector here, and element-wise absolute values in the classifier.",
    ),
    Formula(
        "regression_loss", 13,
        r"\mathcal{L}_{\text{reg}} = (\text{similarity} - \text{label})^2",
        "The squared gap between the cosine and what people said.",
        "core.formulas.families.sentences:regression_loss", "torch: mse_loss",
        {"similarity": (), "label": (), "L_reg": ()},
        sheet="004",
        note="Labels from 0 to 5 must be brought onto the scale of a cosine first. For one pair; the training takes the "
             "mean.",
    ),
    Formula(
        "siamese", 14,
        r"\begin{aligned} \mathbf{u} = f_{\theta}(\text{sentence}_A) \\ \mathbf{v} = f_{\theta}(\text{sentence}_B) "
        r"\end{aligned}",
        "One encoder reads both sentences, each alone; its weights learn from both.",
        "core.formulas.families.sentences:siamese", "torch: autograd through a BertModel",
        {"A": ("source",), "B": ("source",), "u": ("width",), "v": ("width",)},
        sheet="004",
        note="f_θ gives the pooled vector here; in section 11 BERT(sentence) gives the tokens' vectors, with the same "
             "letter u.",
    ),
    Formula(
        "triplet_loss", 15,
        r"\mathcal{L}_{\text{triplet}} = \max(|\mathbf{a} - \mathbf{p}|^2 - |\mathbf{a} - \mathbf{n}|^2 + \epsilon, 0)",
        "The positive must be nearer than the negative, by a margin; then there is nothing to learn.",
        "core.formulas.families.sentences:triplet_loss", "torch: pairwise_distance, squared, and autograd",
        {"a": ("width",), "p": ("width",), "n": ("width",), "ε": (), "L_triplet": ()},
        sheet="004",
        note="Distances are squared here, as in FaceNet; SBERT and torch's triplet_margin_loss take them unsquared. ε is "
             "the margin, no small number.",
    ),
    Formula(
        "negatives_loss", 16,
        r"\mathcal{L}_{\text{MNR}} = -\log \frac{\exp(\text{sim}(\mathbf{a}, \mathbf{p}))}{\sum_{i=1}^{N} "
        r"\exp(\text{sim}(\mathbf{a}, \mathbf{n}_i))}",
        "The positive against all others of the batch: a softmax over similarities.",
        "core.formulas.families.sentences:negatives_loss", "torch: cross_entropy",
        {"sim(a, p)": (), "sim(a, n)": ("negatives",), "L_MNR": ()},
        sheet="004",
        note="Misprint: below the line stand the negatives only, so the loss can fall below 0. The code counts the "
             "positive too, unless told not to, and can scale.",
    ),
    Formula(
        "euclidean", 17,
        r"\begin{aligned} \text{dist}(\mathbf{u}, \mathbf{v}) = |\mathbf{u} - \mathbf{v}|_2 \\ d(u, v) = "
        r"\sqrt{\sum_{i=1}^{n} (u_i - v_i)^2} \\ d(\mathbf{u}, \mathbf{v}) = \|\mathbf{u} - \mathbf{v}\|_2 = \sqrt{(u_1 - "
        r"v_1)^2 + (u_2 - v_2)^2 + \cdots + (u_n - v_n)^2} \end{aligned}",
        "The straight way between two vectors.",
        "core.formulas.families.sentences:euclidean", "torch: cdist with p=2",
        {"u": ("width",), "v": ("width",), "dist": ()},
        sheet="004",
    ),
    Formula(
        "manhattan", 17,
        r"\begin{aligned} \text{dist}(\mathbf{u}, \mathbf{v}) = |\mathbf{u} - \mathbf{v}|_1 \\ d_{manhattan}(u, v) = "
        r"\sum_{i=1}^{n} |u_i - v_i| \end{aligned}",
        "The way along the axes, block by block.",
        "core.formulas.families.sentences:manhattan", "torch: cdist with p=1",
        {"u": ("width",), "v": ("width",), "dist": ()},
        sheet="004",
    ),
    Formula(
        "pair_logits", 18,
        r"\text{logits} = W[\mathbf{u}; \mathbf{v}; \mathbf{u} \odot \mathbf{v}; |\mathbf{u} - \mathbf{v}|] + b",
        "Both vectors, their product and their gap in a row: what a fine-tuned head reads.",
        "core.formulas.families.sentences:pair_logits", "torch: linear",
        {"u": ("width",), "v": ("width",), "W": ("classes", "4 · width"), "b": ("classes",), "logits": ("classes",)},
        sheet="004",
    ),
)
