/* Light or dark. */

/** `state.dark` says which theme the page has; `draw` is called after each change of it. */
function watchTheme(state, draw) {
  const dark = () => document.body.classList.contains("dark");
  new MutationObserver(() => {
    if (dark() !== state.dark) { state.dark = dark(); draw(); }
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  state.dark = dark();
}
