/* Begin; the hooks that tests use. */

watchTheme(state, () => { for (const card of cards.values()) card.pictures.forEach(paint); if (panel.card) question(); });
const hooks = { state, cards, search, choose, visit, number, move, panel, figureTable };
at.root.twoStacks = hooks;
(window.twoStacks ||= {}).formulaCards = hooks;
receive();
watch("value", receive);
if (!course) trigger("ask", { what: "course" });
