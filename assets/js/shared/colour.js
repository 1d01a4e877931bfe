/* Colour. */

const VIRIDIS = PALETTE.sequential.map((colour) => "rgb(" + colour + ")");
const RAMP = new Uint8Array(256 * 3);
for (let i = 0; i < 256; i++) {
  const x = (i / 255) * 9, k = Math.min(8, Math.floor(x)), f = x - k;
  for (let j = 0; j < 3; j++) {
    const a = PALETTE.sequential[k][j], b = PALETTE.sequential[k + 1][j];
    RAMP[3 * i + j] = Math.round(a + f * (b - a));
  }
}
at.ramp.style.background = "linear-gradient(90deg," + VIRIDIS + ")";
const colour = (name) => getComputedStyle(at.root).getPropertyValue(name).trim();

/** Blue below 0, white at 0, vermilion above: x from -1 to 1 -> [r, g, b]. */
function diverging(x) {
  const [r, g, b] = x < 0 ? PALETTE.below : PALETTE.above, f = Math.min(1, Math.abs(x));
  return [255 + f * (r - 255), 255 + f * (g - 255), 255 + f * (b - 255)].map(Math.round);
}

/** The colour of a number on the scale of a picture. */
function colourOf(value, scale, signedOnes) {
  if (signedOnes) return diverging(value / scale);
  const k = 3 * clamp(Math.round((value / scale) * 255), 0, 255);
  return [RAMP[k], RAMP[k + 1], RAMP[k + 2]];
}
