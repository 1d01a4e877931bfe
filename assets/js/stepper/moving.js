/* Moving. */

function show(step, byHand) {
  if (!run || !run.rows.length) return;
  if (byHand) pause();
  view.step = clamp(Math.round(step), 1, run.rows.length);
  hideTip();
  paint("", performance.now());
}

function pause() {
  clearTimeout(view.timer);
  view.playing = false;
  paint();
}

function play(fromStart) {
  if (!run || !run.rows.length) return;
  clearTimeout(view.timer);
  view.playing = true;
  if (fromStart || view.step >= run.rows.length) show(1, false);
  const tick = () => {
    if (view.step >= run.rows.length) return pause();
    show(view.step + 1, false);
    view.timer = setTimeout(tick, 1000 / at.speed.value);
  };
  view.timer = setTimeout(tick, 1000 / at.speed.value);
  paint();
}

const toggle = () => (view.playing ? pause() : play(false));
