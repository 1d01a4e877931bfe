"""The twelve items of the foundations page (002), from a token to cross-attention; each stands on the ones before it."""

from core.formulas.formula import Formula

_HEAD = {"Q": ("query", "d_k"), "K": ("key", "d_k")}

# number of an item -> it; `needs` below says what it stands on
ITEMS: dict[int, Formula] = {number: one for number, one in enumerate((
    Formula("sequence", 0, r"\mathbf{x}=[x_1,x_2,\dots ,x_n]", "A text becomes a row of boxes, one token in each.",
            "core.text:tokenize", "transformers: the tokenizer", {"x": ("source",)}),
    Formula("subscript", 0, r"(i,j)\in\{1,\dots,n\}\times\{1,\dots,n\}",
            "Two fingers: i on the box in hand, j on the one it is compared with; t is the step of writing.",
            "core.formulas.sequence:pairs", "torch: meshgrid", {"(i, j)": ("query", "key", "2")}),
    Formula("embedding", 0, r"x_i\mapsto{\mathbf{h}}_i\in{\mathbb{R}}^d", "Each token becomes d numbers, a row of a table.",
            "core.formulas.sequence:embed", "torch: embedding",
            {"x": ("source",), "E": ("vocab", "width"), "h": ("source", "width")}),
    Formula("dot", 0, r"q\cdot k=\sum_{c=1}^{d_k}q_ck_c", "How alike two lists of numbers are, as one number.",
            "core.formulas.sequence:dot", "torch: dot", {"q": ("d_k",), "k": ("d_k",), "q · k": ()}),
    Formula("roles", 0, r"q_i\cdot k_j", "Each token asks (q), offers (k) and gives (v); asking is held against offering.",
            "core.formulas.sequence:match", "torch: einsum", _HEAD | {"q · k": ("query", "key")}),
    Formula("recipes", 0, r"q_i={\mathbf{h}}_iW_Q,\quad k_j={\mathbf{h}}_jW_K,\quad v_j={\mathbf{h}}_jW_V",
            "Three learned matrices make the three roles; they are what is trained.",
            "core.formulas.attention:projections", "torch: linear",
            {"h": ("source", "width"), "W_Q": ("width", "d_k"), "Q": ("source", "d_k")}),
    Formula("softmax", 0, r"\alpha_{ij}=\frac{e^{s_{ij}}}{{\sum }_{j^{\prime }}{e}^{s_{ij^{\prime }}}}",
            "Scores become shares: positive, and 1 in all.",
            "core.formulas.attention:weights", "torch: softmax", {"s": ("query", "key"), "α": ("query", "key")}),
    Formula("blend", 0, r"{\mathbf{h}}_i={\sum }_{j=1}^n{\alpha }_{ij}{v}_j", "A scoop of everyone's value, as large as the "
        "share.",
            "core.formulas.attention:blend", "torch: bmm",
            {"α": ("query", "key"), "V": ("key", "d_v"), "h": ("query", "d_v")}),
    Formula("scale", 0, r"s_{ij}=\frac{q_i\cdot k_j}{\sqrt{d_k}}",
            "A sum of d_k random products grows like √d_k; dividing takes that away.",
            "core.formulas.attention:scaled", "torch: matmul, and the spread of random products",
            _HEAD | {"s": ("query", "key")}),
    Formula("mask", 0, r"e^{-\infty }=0,\qquad M_{ij}=\begin{cases}0,& i\text{ may read }j\\ -\infty,& "
        r"\text{otherwise}\end{cases}",
            "Who may look at whom: −∞ before the softmax is a share of exactly 0 after it.",
            "core.masks:additive", "torch: softmax after masked_fill", {"may": ("query", "key"), "M": ("query", "key")}),
    Formula("product", 0, r"P(\mathbf{x})=\prod_{t=1}^{n}P(x_t\mid x_{<t})", "The chance of a sentence: the chances of its "
        "tokens, multiplied.",
            "core.formulas.sequence:probability", "transformers: exp(−loss · m) of a T5", {"log P": ("target",), "P": ()}),
    Formula("crossing", 0, r"{\mathbf{o}}_i={\sum }_{j=1}^n{\alpha }_{ij}{v}_j,\quad q_i={\mathbf{h}}^{\text{dec}}_iW_Q,\quad "
            r"k_j,v_j={\mathbf{h}}^{\text{enc}}_jW_K,{\mathbf{h}}^{\text{enc}}_jW_V",
            "The same formula, with the query from one sentence and keys and values from another.",
            "core.formulas.attention:cross_attention", "torch: scaled_dot_product_attention",
            {"Q": ("target", "d_k"), "K": ("source", "d_k"), "V": ("source", "d_v"), "o": ("target", "d_v")}),
))}

# The prerequisite map: item -> the items that it stands on.
NEEDS: dict[int, tuple[int, ...]] = {
    0: (), 1: (0,), 2: (1,), 3: (2,), 4: (3, 5), 5: (2,), 6: (4, 8, 9), 7: (4, 6), 8: (3,), 9: (1,), 10: (1, 6), 11: (7, 9, 10),
}
