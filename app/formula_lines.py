"""Each formula once more, with places for numbers: `\text{@name}` is filled in the browser, by app/formula_packs.py's values."""

import re

_ROW = r"\mathrm{softmax}\Big(\frac{(@scores)}{@root}+(@added)\Big)=(@weights)"

# id of a formula of the sheet -> LaTeX with places
_LINES: dict[str, str] = {
    "factorization": r"P_\theta(y\mid x)=@factors=@P",
    "maps": r"H_{\text{enc}}\in\mathbb R^{@n\times @d},\qquad \hat{\mathbf p}_{@t}\in\Delta^{@V1},\quad "
        r"\max\hat{\mathbf p}_{@t}=@top",
    "encoder_attention": _ROW,
    "encoder_block": r"H'=@H+(@mha)=@H1,\qquad H^{\text{out}}=@H1+(@ffn)=@H2",
    "causal_mask": r"M^{\text{causal}}_{@i,@below}=0,\qquad M^{\text{causal}}_{@i,@above}=@end",
    "decoder_block": r"\begin{aligned} H_1 &= @H+(@self)=@H1\\ H_2 &= @H1+(@cross)=@H2\\ H_3 &= @H2+(@ffn)=@H3 \end{aligned}",
    "output_head": r"z=@z,\quad \hat p=\frac{e^{@z/@T}}{\sum_w e^{z_w/@T}}=@p",
    "cross_projections": r"Q:\ (@m\times @d)\cdot(@d\times @dk)=@m\times @dk,\qquad K:\ (@n\times @d)\cdot(@d\times "
        r"@dk)=@n\times @dk,"
                         r"\qquad V:\ @n\times @dv",
    "cross_attention": _ROW,
    "cross_output": r"o=@products=@o,\qquad \sum_{j=1}^{@n}A_{@t,j}=@sum",
    "bridge": r"\lVert\text{K}\rVert=@K,\quad \lVert\text{V}\rVert=@V,\qquad"
              r"\max\lvert\text{K}+\text{V}-\text{autograd}\rvert=@off",
    "budget": r"12\cdot @N_enc\cdot @d^2+16\cdot @N_dec\cdot @d^2+@V\cdot @d=@approx,\qquad P=@P\ (@error)",
    "t5_bias": r"s_{@i,@j}=@qk+b_{@bucket}=@qk+(@b)=@s",
    "prefix_mask": r"n=@n:\qquad M_{@i,@j}=@value",
    "denoising_loss": r"\mathcal L=-\frac{1}{@m}(@terms)=@loss\ \text{nats}",
    "shift": r"\begin{aligned} \text{input} &= (@input)\\ \text{targets} &= (@targets) \end{aligned}",
    "logit_gradient": r"(@p)-(@y)=(@g)",
    "beam_score": r"\frac{@sum}{(5+@m)^{@alpha}/6^{@alpha}}=\frac{@sum}{@lp}=@score",
    "coverage": r"\mathcal L_{\text{cov}}=@terms=@loss",
    "pointer": r"P(@w)=@gate\cdot @vocab+@rest\cdot @copy=@P",
    "bleu": r"\min(1,e^{1-@r/@c})\cdot\exp\big(\tfrac14(@logs)\big)=@bleu",
    "rouge": r"\frac{2\cdot @P\cdot @R}{@P+@R}=@F,\qquad P=\frac{@lcs}{@x},\quad R=\frac{@lcs}{@y}",
    "distillation": r"@rest\cdot @ce+@lambda\cdot @T^2\cdot @kl=@loss\ \text{nats}",
}

# number of an item of the foundations page -> LaTeX with places
_ITEM_LINES: dict[int, str] = {
    0: r"\mathbf{x}=[@tokens],\quad n=@n",
    1: r"i=@i\ (@qi),\quad j=@j\ (@kj)",
    2: r"{\mathbf{h}}_{@i}=[@h]\in{\mathbb{R}}^{@d}",
    3: r"q\cdot k=@products=@dot",
    4: r"q_{@i}\cdot k_{@j}=@dot",
    5: r"q_{@i}=[@h]\,W_Q=[@q]",
    6: r"\frac{e^{@s}}{@powers}=@alpha",
    7: r"{\mathbf{h}}_{@i}=@scoops=[@h]",
    8: r"\frac{@dot}{\sqrt{@dk}}=@s",
    9: r"e^{-\infty}=0:\qquad (@weights)",
    10: r"P=@factors=@P",
    11: r"{\mathbf{o}}_{@t}=@scoops=[@o]",
}


def _placed(latex: str) -> str:
    return re.sub(r"@(\w+)", r"\\text{@\1}", latex)


LINES = {id: _placed(latex) for id, latex in _LINES.items()}
ITEM_LINES = {number: _placed(latex) for number, latex in _ITEM_LINES.items()}
