/* When the host is gone, or has no place left: a sentence of ours where Gradio would say "Error". Gradio loads the page anew once the
 * host is back; what was typed is then put back. */

const TYPED = "two-stacks-typed", BUSY = /busy|queue/i, STAYS = 12000;   // ms that a word stays which nothing else takes away
const trouble = make("div", "ms-trouble"), toasts = document.querySelector(".toast-wrap"), field = () => document.querySelector("#ts-text textarea");
let clearing = 0;
trouble.setAttribute("role", "alert");
(element.closest(".gradio-container") || document.body).append(trouble);   // in sight even where the strip is not

function complain(text, stays) {
  write(trouble, text);
  clearTimeout(clearing);
  if (!stays) clearing = setTimeout(() => write(trouble, ""), STAYS);
}

const answers = () => fetch(((window.gradio_config || {}).root || "") + "/healthz", { cache: "no-store" }).then((answer) => answer.ok, () => false);

async function translate(text) {
  if (await answers()) return complain(BUSY.test(text) ? word("trouble.busy") : word("trouble.other", { text }));
  if (field()) try { sessionStorage.setItem(TYPED, field().value); } catch { /* it cannot be kept */ }
  complain(word("trouble.gone"), true);
}

function returned() {
  let typed = null, touched = false;
  try { typed = sessionStorage.getItem(TYPED); sessionStorage.removeItem(TYPED); } catch { return; }
  if (typed === null || !field()) return;
  const putBack = (left) => {   // again, where Gradio fills its field only now; never over what a person does meanwhile
    if (touched || !field()) return;
    if (field().value !== typed) {
      field().value = typed;
      field().dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (left) setTimeout(putBack, 200, left - 1);
  };
  for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => { touched = true; }, { once: true, capture: true });
  putBack(25);
  complain(word("trouble.back"));
}

if (toasts) {
  document.body.classList.add("ts-spoken");   // from now on Gradio's own are hidden
  new MutationObserver((found) => {
    const texts = found.flatMap((one) => [...one.addedNodes]).filter((node) => node.querySelector).flatMap((node) => [...node.querySelectorAll("[data-testid=toast-text]")]);
    if (texts.length) translate(texts.at(-1).textContent.trim());
  }).observe(toasts, { childList: true, subtree: true });
}
returned();
