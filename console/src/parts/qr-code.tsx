import { renderSVG } from 'uqr'

/** `text` as a QR code, rendered here and shown as an image, never as markup. */
export function QrCode({ text, label, size = 200 }: { text: string; label: string; size?: number }) {
  return <SvgImage svg={renderSVG(text, { border: 2 })} label={label} size={size} />
}

/** Any SVG as an image, so that scripts in it do not run. With a white margin, so that cameras can read it. */
export function SvgImage({ svg, label, size = 200 }: { svg: string; label: string; size?: number }) {
  return (
    <img
      src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
      alt={label}
      width={size}
      height={size}
      style={{ background: 'white', borderRadius: 8 }}
    />
  )
}
