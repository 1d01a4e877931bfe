"""Theme and page css. No font comes from the network."""

import gradio as gr

from app.palette import variables
from app.widgets.scripts import styles

_OWN = """
.gradio-container { width: 100%; max-width: 1500px !important; margin: 0 auto;
  overflow: clip !important; } /* hidden: nothing sticks */
.column:has(> #ts-head) { gap: 10px; }
#ts-head h1 { margin: 0; font-size: 1.9rem; letter-spacing: -.02em; white-space: nowrap; }
#ts-head p { margin: 0; color: var(--body-text-color-subdued); max-width: 62rem; }
#ts-controls, #ts-controls .column { gap: .6rem; }
#ts-go { flex-direction: column; justify-content: flex-end; }
:is(#ts-controls, #ts-which) .block { padding: 0; border: 0; background: none; box-shadow: none; }
:is(#ts-controls, #ts-which) .form { border: 0; background: none; box-shadow: none; gap: .6rem; }
#ts-lines { gap: 2px .9rem; flex-wrap: wrap; align-items: center; }
:is(#ts-knows, #ts-status, #ts-look) { width: auto; flex: 0 1 auto; padding: 0; margin: 0; overflow: visible; }
:is(#ts-knows, #ts-status, #ts-look) .html-container { padding: 0; }
#ts-look { margin-inline-end: auto; }
#ts-status { flex-basis: 232px; } /* whatever it says: what stands behind it stays in its line */
#ts-look .ts-fact { color: var(--body-text-color); font-weight: 600; }
#ts-look:has(.ts-fact:empty) { flex-basis: 0; }
:is(#ts-notice, #ts-unkept):has(.ts-notice:empty) { display: none; }
#ts-chips { gap: .4rem; flex-wrap: wrap; }
#ts-chips button { border-radius: 999px; min-width: 0; flex: 0 1 auto; font-weight: 500; text-align: left;
  white-space: normal; }
.ts-fact { color: var(--body-text-color-subdued); font-size: .88rem; line-height: 21px; overflow-wrap: anywhere; }
.ts-notice:not(:empty) { border-left: 4px solid var(--c-vermilion); padding: .5rem .8rem; border-radius: 4px;
  background: var(--background-fill-secondary); overflow-wrap: anywhere; }
.ts-underlines { position: absolute; z-index: 2; overflow: hidden; pointer-events: none; color: transparent; border-style: solid;
  border-color: transparent; white-space: pre-wrap; overflow-wrap: break-word; }
.ts-underlines .ts-rare { text-decoration: underline dotted var(--c-blue) 2px; text-underline-offset: 4px; }
.ts-underlines .ts-unknown { text-decoration: underline wavy var(--c-vermilion) 2px; text-underline-offset: 4px; }
#ts-spelling { min-height: 0; padding: 0; margin: -.2rem 0; }
#ts-spelling .html-container { padding: 0; }
.ts-spelling:not(:empty) { color: var(--body-text-color-subdued); font-size: .92rem; overflow-wrap: anywhere; }
#ts-lessons { gap: .4rem; flex-wrap: wrap; }
#ts-lessons button { flex: 0 1 auto; }
#ts-noise-about p, #ts-masks-about p, #ts-scores-about p, #ts-sessions-about p,
#ts-search-about p, #ts-train-about p, #ts-formulas-about p { color: var(--body-text-color-subdued);
  max-width: 62rem; margin: 0; }
#ts-noise-controls input[type=number] { width: 58px; padding: 4px; }
#ts-noise-controls .form { display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr));
  background: var(--block-background-fill); }
#ts-noise-controls .form > * { min-width: 0 !important; }
#ts-noise-picker .html-container, #ts-noise-view .html-container, #ts-noise-rebuilding .html-container,
#ts-noise-table .html-container { padding: 0; }
#ts-noise-picker, #ts-noise-view, #ts-noise-rebuilding, #ts-noise-table { padding: 0; overflow: visible; }
#ts-masks-both, #ts-masks-measure { align-self: flex-start; width: auto; }
@media (min-width: 900px) and (min-height: 700px) { /* what a click changed stays in sight while one draws */
  #ts-masks-told { position: sticky; bottom: 8px; z-index: 20; max-height: 42vh; overflow-y: auto !important; border-radius: 10px;
    box-shadow: 0 2px 14px rgba(0, 0, 0, .16); }
}
#ts-scores-row, #ts-search-row, #ts-formulas-row { align-items: end; }
.ts-masks-head { margin-top: .8rem; }
.ts-masks-head h3, .ts-masks-head p { margin: 0; }
.ts-masks-head p { color: var(--body-text-color-subdued); max-width: 62rem; }
.ts-section > .label-wrap { font-weight: 600; font-size: 1.05rem; text-align: start; }
.ts-section .ts-masks-head { margin-top: 0; }
.ts-masks-row { align-items: end; max-width: 46rem; }
#ts-masks-padding-mask { min-width: 180px !important; } /* a check box drops its min_width: on a phone it would be cut */
.ts-bare { padding: 0 !important; overflow: visible !important; }
.ts-bare .html-container { padding: 0; }
/* Gradio mounts one kind of component after the other: nothing is shown until what stands above it is there. Then the rooms of
   what comes a moment after the page, so that nothing below moves when it does. */
.gradio-container:not(:has(#ts-text textarea):has(#ts-chips button):has(#ts-run):has(#ts-status))
  :is(#ts-controls, #ts-chips, #ts-lines, #ts-more, #ts-minutes, #ts-tabs) { visibility: hidden; }
#ts-head { min-height: 48px; }
#ts-controls { min-height: 92px; }
#ts-chips { min-height: 30px; }
#ts-lines { min-height: 21px; }
:is(#ts-look, #ts-knows, #ts-status) { min-height: 21px !important; }
#ts-more { min-height: 21px; padding: 0; border: 0; background: none; box-shadow: none;
  width: auto; flex: 0 1 auto; margin: 0; overflow: visible !important; }
#ts-more:has(> .open) { flex: 1 1 100%; }
#ts-more > .label-wrap { width: auto; gap: .5rem; color: var(--link-text-color); font-size: .88rem; line-height: 21px; }
#ts-more > .open { margin-bottom: .6rem; }
#ts-minutes { min-height: 70px; }
#ts-train-teaching-view { min-height: 720px; }
#ts-beats { position: absolute; }
#ts-tabs { gap: 0; }
#ts-tabs > .tab-wrapper { margin: 0; padding-bottom: 0; height: auto; }
#ts-tabs > [role=tabpanel] { padding: 10px 0 0; border: 0; }
.ts-minutes-off #ts-minutes { display: none; }
#ts-formulas-plot:not(.fc-slot *) { display: none; } /* until a card takes it in */
@media (min-width: 1061px) {
  #ts-head .md { display: flex; align-items: center; gap: 1.4rem; padding-inline-end: 250px; }
}
@media (max-width: 640px) {
  .column:has(> #ts-head) { margin-inline: -20px; }
  #ts-head h1 { font-size: 1.5rem; }
  #ts-which .info-text { display: none; }
  #ts-chips { flex-wrap: nowrap; overflow-x: auto; padding: 2px 2px 6px; scrollbar-width: thin; }
  #ts-chips button { flex: none; white-space: nowrap; }
  #ts-go { flex-flow: row nowrap; }
  #ts-go > #ts-run { flex: 3; }
  #ts-go > #ts-stop { flex: 1; }
  :is(#ts-go, #ts-which) { min-width: 100% !important; }
  #ts-which .row { flex-wrap: nowrap; }
  #ts-which .form > * { min-width: 0 !important; }
  :is(#ts-look, #ts-knows) { flex-basis: 100%; }
  #ts-minutes { min-height: 128px; }
  #ts-tabs > .tab-wrapper button[role=tab], #ts-tabs > .tab-wrapper [aria-hidden] button { padding: 0 .4rem; font-size: .85rem; }
  #ts-noise-controls > *, #ts-noise-controls .form > * { flex: 1 1 100%; min-width: 100% !important; }
  #ts-noise-buttons button, #ts-scores-row button { flex: 1 1 100%; white-space: normal; height: auto; }
}
#ts-tabs > .tab-wrapper button.selected { color: #1d4ed8; }
.dark #ts-tabs > .tab-wrapper button.selected { color: #60a5fa; }
footer { display: none !important; }
[data-testid=status-tracker].hide { display: none !important; } /* else "Error" and a button stay there, unseen */
"""
# several components share each, so it travels once
CSS = variables() + _OWN + styles("noise", "findings", "scores", "sessions", "lecture", "search_sections", "corpus", "aids")


def theme() -> gr.Theme:
    """Blue and vermillion of the Okabe-Ito palette, system fonts, type a little larger for projectors."""
    soft = gr.themes.Soft(
        primary_hue=gr.themes.colors.blue, neutral_hue=gr.themes.colors.slate, text_size=gr.themes.sizes.text_md,
        font=["system-ui", "Segoe UI", "Noto Sans", "sans-serif"], font_mono=["ui-monospace", "Noto Sans Mono", "monospace"],
    )
    grey, blue = gr.themes.colors.slate, gr.themes.colors.blue
    return soft.set(  # Soft's greys and blues are too pale to read: each text here has a contrast of 4.5 at least
        body_text_color_subdued=grey.c600, block_info_text_color=grey.c600, block_title_text_color=blue.c700,
        block_label_text_color=blue.c700, block_title_text_color_dark="white", block_label_text_color_dark="white",
        body_text_color_subdued_dark=grey.c300, block_info_text_color_dark=grey.c300,
        button_primary_background_fill=blue.c600, button_primary_background_fill_hover=blue.c700,
        button_primary_background_fill_dark=blue.c600, button_primary_background_fill_hover_dark=blue.c700,
        checkbox_label_background_fill_selected=blue.c600, checkbox_label_background_fill_selected_dark=blue.c600,
        button_secondary_background_fill_hover_dark=grey.c600,
        link_text_color=blue.c700, link_text_color_hover=blue.c800, link_text_color_active=blue.c800,
        link_text_color_visited=blue.c700, link_text_color_dark=blue.c300, link_text_color_hover_dark=blue.c200,
        link_text_color_active_dark=blue.c200, link_text_color_visited_dark=blue.c300,
        input_border_width="1px", input_border_color=grey.c300, input_border_color_dark=grey.c600,  # where one may type is seen
        checkbox_border_width="1px", checkbox_border_color=grey.c500, checkbox_border_color_dark=grey.c400,
        input_placeholder_color=grey.c500, input_placeholder_color_dark=grey.c400,
    )
