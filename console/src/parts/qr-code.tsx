import { renderSVG } from 'uqr'

/** `text` as a QR code: drawn here, and shown as a picture, never as markup. */
export function QrCode({ text, label, size = 200 }: { text: string; label: string; size?: number }) {
  return <SvgImage svg={renderSVG(text, { border: 2 })} label={label} size={size} />
}

/** An SVG from anywhere, as a picture: whatever stands in it runs nowhere. White around it, so that cameras read it. */
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
