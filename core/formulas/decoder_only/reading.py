"""Entries of lessons 1 to 3 of sheet 003: the model as a function, tokens and positions, attention."""

from core.formulas.formula import Formula

READING: tuple[Formula, ...] = (
    Formula(
        "model_map", 1, r"f:\ \mathcal V^{\le n}\times\Theta \to \Delta^{V-1},\qquad \hat{\mathbf p}=f(x;\theta).",
        "Tokens and weights go in, a distribution over the next token comes out; nothing else is a language model.",
        "core.formulas.decoder_only.language:next_token", "transformers: GPT2LMHeadModel with the same weights",
        {"x": ("target",), "θ": ("parameters",), "p̂": ("vocab",)},
        sheet="003",
    ),
    Formula(
        "factorization_lm", 1,
        r"P_\theta(x_1,\dots,x_n)=\prod_{t=1}^{n} P_\theta(x_t\mid x_{\lt t}),\qquad x_{\lt t}:=(x_1,\dots,x_{t-1}).",
        "The chance of a text: the chances of its tokens, each given all before it, multiplied.",
        "core.formulas.decoder_only.language:log_factors", "transformers: GPT2LMHeadModel with the same weights",
        {"z": ("target", "vocab"), "x": ("target",), "log P(x_t)": ("target",), "log P(x)": ()},
        sheet="003", also=("004.3",),
        note="Before x_1 there is nothing to condition on: every model needs a start token there, which the sheet leaves out.",
    ),
    Formula(
        "risk", 1,
        r"\theta^\star=\arg\min_{\theta\in\mathbb R^P}\ \mathcal L(\theta),\qquad \mathcal L(\theta)=\mathbb E_{x\sim\mathcal "
        r"D}\!\left[-\sum_{t} \log P_\theta(x_t\mid x_{\lt t})\right].",
        "The best weights are those that are least surprised, on average over texts.",
        "core.formulas.decoder_only.language:risk", "torch: cross_entropy, summed",
        {"z": ("batch", "target", "vocab"), "x": ("batch", "target"), "L": ()},
        sheet="003",
        note="The loss is a sum over a text's tokens here and in lesson 9, a mean in lesson 5: a sum lets long texts count "
             "more. The code sums here and takes the mean there.",
    ),
    Formula(
        "compute", 1, r"C \approx 6\,P\,D \ \text{FLOPs}.",
        "Training costs six operations for each weight and token: two to go forward, four to go back.",
        "core.formulas.decoder_only.language:training_flops", "torch: FlopCounterMode on a stack of linear layers",
        {"P": (), "D": (), "C": ()},
        sheet="003",
        note="Leaves out attention's QKᵀ and AV, which grow with n², and P counts no embedding rows: a lookup multiplies "
             "nothing.",
    ),
    Formula(
        "embedding", 2, r"E\in\mathbb R^{V\times d},\qquad \mathbf x_i = \mathbf e_i^\top E \in\mathbb R^{d}.",
        "A token's vector is its row of a table; looking it up is a product with a vector of one 1.",
        "core.formulas.decoder_only.language:embedding", "torch: embedding",
        {"x": ("target",), "E": ("vocab", "width"), "x_i": ("target", "width")},
        sheet="003",
    ),
    Formula(
        "embedding_gradient", 2,
        r"\frac{\partial\mathcal L}{\partial E_{j,:}}=\sum_{\text{positions }i\,:\,x_i=j}\frac{\partial\mathcal L}{\partial "
        r"\mathbf x_i}.",
        "Only rows of tokens that appeared are moved; a token that appeared twice gets both gradients.",
        "core.formulas.decoder_only.language:embedding_gradient", "torch: autograd",
        {"x": ("target",), "∂L/∂x": ("target", "width"), "∂L/∂E": ("vocab", "width")},
        sheet="003",
        note="Holds for the lookup alone. With tied weights (W_U = Eᵀ, sheet 000) the output head moves every row at every "
             "step.",
    ),
    Formula(
        "sinusoids", 2,
        r"PE_{(p,2k)}=\sin\!\big(p\,/\,10000^{2k/d}\big),\qquad PE_{(p,2k+1)}=\cos\!\big(p\,/\,10000^{2k/d}\big).",
        "Each position gets its own pattern of waves, from one position to thousands a turn.",
        "core.formulas.decoder_only.language:sinusoids", "transformers: MarianSinusoidalPositionalEmbedding",
        {"PE": ("target", "width")},
        sheet="003", also=("004.1",),
        note="The code puts sine and cosine of one frequency next to each other, as the sheet does; Marian and fairseq put "
             "all sines first. Positions count from 0. Sheet 004 "
             "numbers the pairs of columns by i, which counts tokens elsewhere there.",
    ),
    Formula(
        "rope", 2,
        r"\begin{pmatrix}q'_{2k}\\ q'_{2k+1}\end{pmatrix} =\begin{pmatrix}\cos p\omega_k & -\sin p\omega_k\\ \sin p\omega_k & "
        r"\cos p\omega_k\end{pmatrix} \begin{pmatrix}q_{2k}\\ q_{2k+1}\end{pmatrix}.",
        "A query turns with its position, so a score depends only on how far apart query and key are.",
        "core.formulas.decoder_only.language:rope", "transformers: LlamaRotaryEmbedding and apply_rotary_pos_emb",
        {"q": ("target", "d_k"), "p": ("target",), "q'": ("target", "d_k")},
        sheet="003",
        note="Neighbours 2k and 2k + 1 turn together, as in the sheet; Llama in transformers pairs k with k + d/2. Same "
             "scores, with the columns of W_Q and W_K in another order. ω_k is not defined here: 10000^(−2k/d), as for the "
             "sinusoids.",
    ),
    Formula(
        "projections", 3,
        r"Q=HW_Q\in\mathbb R^{n\times d_k},\quad K=HW_K\in\mathbb R^{n\times d_k},\quad V=HW_V\in\mathbb R^{n\times d_v}.",
        "Three learned matrices read the same states three ways: what is asked, what is offered, what is given.",
        "core.formulas.attention:projections", "torch: linear",
        {"H": ("target", "width"), "Q": ("target", "d_k"), "K": ("target", "d_k"), "V": ("target", "d_v")},
        sheet="003", also=("004.1",),
        note="States are rows here (HW), columns in lessons 2, 4 and 7 (Wx): the same map with W transposed, which is also "
             "how torch stores it.",
    ),
    Formula(
        "attention", 3, r"\mathrm{Attn}(Q,K,V)=\mathrm{softmax}\!\Big(\tfrac{QK^\top}{\sqrt{d_k}}+M\Big)\,V.",
        "Queries are held against keys; the shares that come of it mix the values.",
        "core.formulas.decoder_only.attention:attention", "torch: scaled_dot_product_attention",
        {"Q": ("query", "d_k"), "K": ("key", "d_k"), "V": ("key", "d_v"), "M": ("query", "key"), "Attn": ("query", "d_v")},
        sheet="003", also=("004.1",),
        note="The mask is added after the scaling here; sheet 004 adds it before. With 0 and −∞ both give the same; a finite "
             "penalty would be divided by √d_k there.",
    ),
    Formula(
        "attention_row", 3,
        r"\mathbf o_i=\sum_{j=1}^{n}A_{ij}\,\mathbf v_j,\qquad A_{ij}=\frac{\exp(s_{ij})}{\sum_{m}\exp(s_{im})},\qquad "
        r"s_{ij}=\frac{\mathbf q_i^\top\mathbf k_j}{\sqrt{d_k}}.",
        "One token's output is an average of values, with the softmax of its scores as shares.",
        "core.formulas.decoder_only.attention:attention_row", "torch: scaled_dot_product_attention",
        {"q": ("d_k",), "K": ("key", "d_k"), "V": ("key", "d_v"), "o": ("d_v",), "A": ("key",)},
        sheet="003",
        note="The sums go to n and no mask stands in them: as written every token reads the future. In a decoder they end at "
             "i; the code is given the keys up to there.",
    ),
    Formula(
        "score_variance", 3,
        r"\mathbf q_i^\top\mathbf k_j=\sum_{l=1}^{d_k} q_{il}k_{jl},\qquad \mathbb E[\cdot]=0,\qquad \mathrm{Var}[\cdot]=d_k.",
        "A sum of d_k random products spreads like √d_k; divided by it, scores keep the same spread at any width.",
        "core.formulas.decoder_only.attention:score_variance", "torch: the spread of random products",
        {"q": ("pairs", "d_k"), "k": ("pairs", "d_k"), "q · k": ("pairs",), "Var": ()},
        sheet="003",
        note="True for independent entries of mean 0 and variance 1, which holds at the start of training at most. T5 does "
             "not divide: its first weights are that much smaller.",
    ),
    Formula(
        "softmax_jacobian", 3,
        r"\frac{\partial a_i}{\partial s_j}=a_i(\delta_{ij}-a_j) \;\Longleftrightarrow\; J=\mathrm{diag}(\mathbf a)-\mathbf "
        r"a\mathbf a^\top.",
        "Raising one score raises its own share and lowers all others; a share near 0 or 1 passes no gradient.",
        "core.formulas.decoder_only.attention:softmax_jacobian", "torch: autograd",
        {"s": ("key",), "J": ("key", "key")},
        sheet="003",
    ),
    Formula(
        "multi_head", 3,
        r"\mathrm{MHA}(H)=\big[\,\mathrm{head}_1\,\|\cdots\|\,\mathrm{head}_h\,\big]W_O,\quad "
        r"\mathrm{head}_i=\mathrm{Attn}(HW_Q^{(i)},HW_K^{(i)},HW_V^{(i)}).",
        "Several small attentions side by side, each with its own view, put together by one matrix.",
        "core.formulas.decoder_only.attention:multi_head", "torch: MultiheadAttention",
        {"H": ("target", "width"), "W_Q": ("heads", "width", "d_k"), "W_O": ("heads · d_v", "width"),
         "MHA": ("target", "width")},
        note="Sheet 004 gives three inputs Q, K, V; in self-attention all three are H, as here.",
        sheet="003", also=("004.1", "004.10"),
    ),
)
