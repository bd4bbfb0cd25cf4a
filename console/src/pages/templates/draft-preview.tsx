import { useSession } from '../../session/context.tsx'
import { type Draft, hasProviderText } from './draft.ts'
import { Filled } from './filled.tsx'
import { escapeHtml, looksLikeHtml, Mail } from './mail.tsx'
import { Phone } from './phone.tsx'
import { fillPlaceholders } from './placeholders.ts'

const CODE = '123456'

/** The draft as recipients would see it. */
export function DraftPreview({ draft, from }: { draft: Draft; from: string }) {
  const { membership } = useSession()
  const sender = from || (membership?.account.name ?? 'You')
  if (draft.kind === 'email') return <DraftMail draft={draft} from={sender} />
  const { kind, headerType, headerValue, headerPreview, examples } = draft
  const own = hasProviderText(draft)
  const header = !own && kind !== 'sms' && headerType !== '' && (kind === 'official' || headerType === 'text')
  return (
    <Phone
      seen={{
        kind,
        from: sender,
        header: header
          ? {
              type: headerType,
              text: <Filled text={headerValue} values={examples} />,
              previewUrl: headerPreview === '' ? null : headerPreview,
            }
          : null,
        words: own ? (
          <Filled text={codeText(draft)} values={[CODE]} />
        ) : (
          <Filled text={draft.words} values={examples} />
        ),
        footer: kind === 'official' ? (own ? codeFooter(draft) : draft.footer) : null,
        buttons: kind !== 'official' || draft.bound ? [] : own ? codeButtons(draft) : draft.buttons,
      }}
    />
  )
}

function DraftMail({ draft: { emailSubject, words, examples }, from }: { draft: Draft; from: string }) {
  const html = looksLikeHtml(words)
  return (
    <Mail
      from={from}
      subject={fillPlaceholders(emailSubject, examples)}
      words={fillPlaceholders(words, html ? examples.map(escapeHtml) : examples)}
      html={html}
    />
  )
}

/** WhatsApp's own text. */
function codeText({ addSecurityRecommendation }: Draft): string {
  return `{{1}} is your verification code.${addSecurityRecommendation ? ' For your security, do not share this code.' : ''}`
}

function codeFooter({ codeExpirationMinutes: minutes }: Draft): string | null {
  return minutes === '' ? null : `This code expires in ${minutes} minutes.`
}

function codeButtons({ otpType, otpButtonText }: Draft) {
  const usual = otpType === 'copy_code' ? 'Copy code' : 'Autofill'
  return otpType === 'zero_tap' ? [] : [{ type: 'copy_code' as const, text: otpButtonText || usual }]
}
