"""The mask in use as M_ij in cases, in LaTeX, as on the formula sheet (000, lessons 2, 3, 4, 6). i and j count from 1."""

from core.interventions import ALL, OWN, SIZED, StackMask

LISTED = 6  # positions or cells that a case writes out
_NAMES = {"encoder": "enc", "decoder": "dec", "cross": "cross"}
# preset -> condition of an allowed cell; {p}: its size
_ALLOWED = {
    "causal": r"j\le i", "diagonal": r"j=i", "window": r"|i-j|\le {p}", "bidirectional": "", "padding": "",
}
_FORBIDDEN = {"causal": r"j\gt i", "diagonal": r"j\ne i", "window": r"|i-j|\gt {p}"}


def cases(choice: StackMask, stack: str, padded: bool = False) -> str:
    r"""LaTeX of the mask of `stack`: M^{\text{causal}}_{ij}=\begin{cases}0,& j\le i\\ -\infty,& j\gt i\end{cases}.

    Earlier lines win over later ones. padded: whether there are pad tokens that the padding mask hides.
    """
    rows = [(r"-\infty", r"j\ \text{is padding}")] if padded else []
    rows += [(value, where) for layered in (True, False) for value, where in _cells(choice, layered)]
    if choice.hidden:
        rows.append((r"-\infty", rf"j\in\{{{_listed([str(at + 1) for at in choice.hidden])}\}}\ (\text{{hidden}})"))
    name = choice.preset
    if name == OWN:
        name = "causal" if stack == "decoder" else "bidirectional"
    rows += _preset(name, choice.size, stack)
    label = rf"M^{{\text{{{_NAMES[stack]}, {name}}}}}_{{ij}}"
    if len(rows) == 1 and not rows[0][1]:
        return f"{label}=0"
    if not rows[-1][1]:
        rows[-1] = (rows[-1][0], r"\text{otherwise}")
    lines = r"\\ ".join(f"{value},& {where}" for value, where in rows)
    return rf"{label}=\begin{{cases}}{lines}\end{{cases}}"


def _preset(name: str, size: int, stack: str) -> list[tuple[str, str]]:
    if name == "prefix":  # the three lines of lesson 6
        return [
            ("0", rf"j\le {size}\ (\text{{bidirectional prefix}})"),
            ("0", rf"{size}\lt j\le i\ (\text{{causal suffix, past}})"),
            (r"-\infty", rf"j\gt i,\ j\gt {size}\ (\text{{future suffix}})"),
        ]
    if name == "window" and stack == "decoder":
        return [("0", rf"i-{size}\le j\le i"), (r"-\infty", rf"j\lt i-{size}\ \text{{or}}\ j\gt i")]
    fill = str(size) if name in SIZED else ""
    rows = [("0", _ALLOWED[name].replace("{p}", fill))]
    return rows + ([(r"-\infty", _FORBIDDEN[name].replace("{p}", fill))] if name in _FORBIDDEN else [])


def _cells(choice: StackMask, layered: bool) -> list[tuple[str, str]]:
    """One line for each layer (or for all) and verdict that has cells."""
    groups: dict[tuple[int, bool], list[str]] = {}
    for cell in choice.exceptions:
        if (cell.layer != ALL) is layered:
            groups.setdefault((cell.layer, cell.allowed), []).append(f"({cell.query + 1},{cell.key + 1})")
    rows = []
    for (layer, allowed), places in groups.items():
        where = rf"(i,j)\in\{{{_listed(places)}\}}" + (rf"\ \text{{in layer {layer + 1}}}" if layered else "")
        rows.append(("0" if allowed else r"-\infty", where))
    return rows


def _listed(items: list[str]) -> str:
    return ",".join(items[:LISTED]) + (r",\dots" if len(items) > LISTED else "")
