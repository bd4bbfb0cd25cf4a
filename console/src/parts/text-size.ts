const DEFAULT_TEXT_PX = 16

/** How much larger texts are than by default, as the browser's settings ask for. */
export function textScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / DEFAULT_TEXT_PX
}

/** A width in pixels, such as `minmax(120px, 2fr)`, that grows with the texts. */
export function inTextSize(width: string): string {
  return width.replace(/(\d+)px/g, (_, px) => `${Number(px) / DEFAULT_TEXT_PX}rem`)
}
