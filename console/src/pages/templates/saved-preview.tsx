import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { TemplateView } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { useSession } from '../../session/context.tsx'
import { kindOf } from './kinds.ts'
import { Mail } from './mail.tsx'
import { ownPath } from './own-path.ts'
import { Phone } from './phone.tsx'

/** A template as the server would render it, with its examples. */
export function SavedPreview({ template }: { template: TemplateView }) {
  const api = useApi()
  const { membership } = useSession()
  const { id } = template
  const preview = useQuery({
    queryKey: ['/api/v2/templates/preview', id],
    queryFn: ({ signal }) => api.post('/api/v2/templates/{id}/preview', { path: { id }, body: {}, signal }),
  })
  if (preview.error) return <ReadFault error={preview.error} retry={preview.refetch} />
  if (!preview.data) return <Skeleton h={460} maw={330} mx="auto" radius={34} />
  const { text, subject, html, header, footer, buttons, sms } = preview.data.data
  const from = template.officialSender?.displayName ?? membership?.account.name ?? ''
  const kind = kindOf(template)
  if (kind === 'email') return <Mail from={from} subject={subject ?? ''} words={text} html={html} />
  return (
    <>
      <Phone
        seen={{
          kind,
          from,
          header: header && {
            ...header,
            previewUrl: header.previewUrl === null ? null : ownPath(header.previewUrl),
          },
          words: text,
          footer,
          buttons,
        }}
      />
      {sms && (
        <Text size="xs" c="dimmed" ta="center" mt="sm" className="ph-num">
          {sms.characters} characters of {sms.encoding} · {sms.parts} {sms.parts === 1 ? 'part' : 'parts'}
        </Text>
      )}
    </>
  )
}
