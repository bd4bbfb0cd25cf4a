import { Copy, ExternalLink, FileText, Film, ImageIcon, Phone as PhoneIcon, Reply } from 'lucide-react'
import type { ReactNode } from 'react'
import type { HeaderType, TemplateButton } from '../../../../sdk/index.ts'
import type { Kind } from './kinds.ts'
import classes from './phone.module.css'

/** The parts of a template that recipients see. */
export type PhoneMessage = {
  kind: Exclude<Kind, 'email'>
  from: string
  header: { type: HeaderType; text: ReactNode; previewUrl: string | null } | null
  words: ReactNode
  footer: string | null
  buttons: readonly { type: TemplateButton['type']; text: string }[]
}

/** A phone with one message on its screen. */
export function Phone({ seen }: { seen: PhoneMessage }) {
  const { kind, from, header, words, footer, buttons } = seen
  return (
    <figure className={classes.phone} data-kind={kind} aria-label="How it looks on a phone">
      <div className={classes.top}>
        <span className={classes.face} aria-hidden>
          {from.charAt(0).toUpperCase()}
        </span>
        <bdi className="ph-truncate">{from}</bdi>
      </div>
      {/* It scrolls, so it must be focusable by keyboard. */}
      <div className={classes.screen} role="region" tabIndex={0} aria-label="The message">
        <div className={classes.bubble}>
          {header && <Header {...header} />}
          <div className={`ph-words ${classes.words}`} dir="auto">
            {words}
          </div>
          {footer !== null && footer !== '' && <div className={`ph-words ${classes.footer}`}>{footer}</div>}
        </div>
        {buttons.length > 0 && (
          <div className={classes.buttons}>
            {buttons.map(({ type, text }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two may say the same
              <span key={at} className={classes.button}>
                <ButtonIcon type={type} />
                <bdi>{text === '' ? '…' : text}</bdi>
              </span>
            ))}
          </div>
        )}
      </div>
    </figure>
  )
}

function Header({ type, text, previewUrl }: NonNullable<PhoneMessage['header']>) {
  if (type === 'text') return <div className={`ph-words ${classes.headline}`}>{text}</div>
  if (type === 'image' && previewUrl !== null)
    return <img className={classes.media} src={previewUrl} alt="The header" />
  if (type === 'video' && previewUrl !== null) {
    // biome-ignore lint/a11y/useMediaCaption: it is somebody's own file, which has none
    return <video className={classes.media} src={previewUrl} controls preload="metadata" />
  }
  const Icon = { image: ImageIcon, video: Film, document: FileText }[type]
  return (
    <div className={classes.nothing}>
      <Icon size={26} strokeWidth={1.5} aria-hidden />
      <span>{previewUrl === null ? `No ${type} yet` : 'A document'}</span>
    </div>
  )
}

function ButtonIcon({ type }: { type: TemplateButton['type'] }) {
  const Icon = { url: ExternalLink, phone: PhoneIcon, quick_reply: Reply, copy_code: Copy }[type]
  return <Icon size={14} aria-hidden />
}
